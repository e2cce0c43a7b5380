"""Prints the page of the folder; `make pages` writes it to README.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from spec.conformance import deviations, report
from spec.conformance.candidate import load
from spec.conformance.declared import ROUNDING, WORDS, known
from spec.conformance.managing import OPERATIONS, SENTENCES
from spec.conformance.padding import SAYS
from spec.conformance.suite import check
from spec.index import laws
from spec.invariants.reference import questions

EXAMPLE = "spec.conformance.example"
LAWS = ("kv_bytes_per_token", "kv_budget", "fits", "padding-of-lengths")
COMMAND = " ".join(["grade check", EXAMPLE, *(f"--law {law}" for law in LAWS)])


def page() -> str:
    """Return the page."""
    text = Path(__file__).with_name("README.template.md").read_text(encoding="utf-8")
    parts = {
        "source": Path(__file__).with_name("example.py").read_text(encoding="utf-8").strip(),
        "command": COMMAND,
        "output": output(),
        "words": ", ".join(f"`{word}` (what is counted in {unit})" for word, unit in WORDS.items()),
        "rounding": f"10^-{len(str(ROUNDING.denominator)) - 1}",
        "padding": SAYS,
        "operations": ", ".join(f"`{name}`" for name in OPERATIONS),
        "sentences": "\n".join(f"- `{name}`: {says}" for name, says in SENTENCES.items()),
        "functions": "\n".join(functions()),
        "quantities": "\n".join(quantities()),
    }
    for name, value in parts.items():
        text = text.replace(f"[[{name}]]", value)
    return text


def output() -> str:
    """Return what the command of the example prints."""
    candidate = load(EXAMPLE)
    found = check(candidate, laws=LAWS)
    return report.text(found, deviations.sorted_out(found, {}), candidate.declared)


def functions() -> Iterator[str]:
    """Give the rows of the table of functions: what each law gives directly, and the extremes of the bounds."""
    for law in laws().values():
        for (name, given), answering in questions().items():
            if answering is law and (not law.is_identity or name == law.left.name):
                gives = known()[name].unit.name if name in known() else "True or False"
                keywords = ", ".join(f"`{keyword}`" for keyword in sorted(given))
                yield f"| `{name}` | {keywords} | {gives} | {law.name} |"


def quantities() -> Iterator[str]:
    """Give the rows of the table of quantities."""
    for quantity in known().values():
        yield f"| `{quantity.name}` | {quantity.unit.name} | {quantity.says} | {quantity.domain} |"


if __name__ == "__main__":
    sys.stdout.write(page())
