"""The ledger for commands that read what is there: none is made where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from grader.cli.output import Refused

if TYPE_CHECKING:
    from grader.ledger import Ledger


@contextmanager
def records(ledger: str | None) -> Iterator[Ledger | None]:
    """Open the ledger that is meant; None where there is none.

    Raises:
        Refused: it cannot be used.
    """
    from grader.ledger import Ledger, LedgerError, ledger_path

    try:
        path = ledger_path(ledger, os.environ)
        if not os.path.exists(path):  # noqa: PTH110  as in grader.ledger
            yield None
            return
        with Ledger.open(path) as opened:
            yield opened
    except LedgerError as error:
        raise Refused(str(error)) from error
