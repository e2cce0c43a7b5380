"""What a static batch pays for its longest sequence: every other one is padded to it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from spec.solving import Exact, whole


def padded_tokens(lengths: Sequence[int]) -> int:
    """Return the tokens of a batch when every sequence is padded to the longest.

    Raises:
        ValueError: there is no sequence, or one of less than one token.
    """
    if not lengths or min(lengths) < 1:
        raise ValueError("a batch has at least one sequence, and a sequence at least one token")
    return len(lengths) * max(lengths)


def padding_waste(lengths: Sequence[int]) -> Exact:
    """Return the share of a padded batch that is padding, exactly: 0 where all sequences are equally long.

    Raises:
        ValueError: there is no sequence, or one of less than one token.
    """
    return whole(1 - Fraction(sum(lengths), padded_tokens(lengths)))
