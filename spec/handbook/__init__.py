"""The page of all laws, made from the laws: `make pages` writes it to `spec/README.md`."""

from __future__ import annotations

import importlib

from spec import printing
from spec.index import by_module, laws
from spec.invariants import Invariant, true
from spec.laws import Law

OPENING = """# The laws

Made from the laws by `make pages`; a test keeps it fresh.

Numbers are exact, in the units shown. A law is solved for any of its symbols: `memory.fits.solve("context", ...)` in
Python, `grade calc context ...` on the command line. A capacity floors and a need ceils. A *slip* is a wrong formula
that people use instead. *Held by* names the sentences of `python -m spec.invariants` that speak of the law; every
mutant of the law breaks one of them, or one that is derived from its shape.
"""

ADDING = """## Adding a law

A law is added in one place: the module of this folder where it belongs, or a new one. This file, put into this folder
as `in_service.py`, is all it takes:

```python
\"\"\"How much cache the sequences in service hold.\"\"\"

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

with author_order():
    cached_tokens_in_service = Identity(
        q.cached_tokens,
        q.mean_concurrency * q.context,
        name="cached_tokens_in_service",  # several laws give this quantity
        constant="1/sequence",  # the unit that the formula leaves out: one context per sequence
        says="On average, the sequences in service hold one context each.",
        section="sizing",
        slips=[Slip("one-sequence", "The context of one sequence was given.", q.context)],
    )
```

From then on `grade calc cached_tokens mean_concurrency=17 context=2500` follows it, this page lists it, and the tests
ask for its units, its sense in each symbol, its solutions and its round trips. They also ask for sentences in
`invariants/` that no mutant of it survives, for one worked number with its source in `invariants/worked.py`, and for
how it prints, read over by a person, in `tests/data/printed_laws.toml`. A new symbol is one line in `quantities.py`.
`make pages` writes this page and the tables of `conformance/` again.
"""


def page() -> str:
    """Return the page: every law by module, then how to add one."""
    parts = [OPENING]
    for module, found in by_module().items():
        says = (importlib.import_module(f"spec.{module}").__doc__ or "").partition("\n")[0]
        parts += [f"## `{module}`: {says}\n", *map(_entry, found)]
    return "\n".join([*parts, ADDING])


def _entry(law: Law) -> str:
    lines = [f"### {law.name}", "", f"$${printing.law_latex(law)}$$", "", f"{law.says} ({_origin(law)})", ""]
    lines += ["| symbol | name | meaning | unit | domain |", "|---|---|---|---|---|"]
    lines += [
        f"| ${symbol.tex}$ | `{name}` | {symbol.says} | {symbol.unit.name} | {symbol.domain} |"
        for name, symbol in law.symbols.items()
    ]
    refused = {name: law.method(name) for name in law.symbols}
    lines += [""] + [
        f"Not solved for `{name}`: {method.partition(': ')[2]}."
        for name, method in refused.items()
        if method.startswith("not invertible")
    ]
    if law.where:
        lines += [f"Where {' and '.join(f'${printing.latex(condition)}$' for condition in law.where)}.", ""]
    if law.slips:
        lines += ["Slips:", "", *(f"- `{slip.slug}`: {slip.sentence}" for slip in law.slips), ""]
    held = [invariant.id for invariant in true() if ": " not in invariant.id and _speaks_of(invariant, law)]
    if held:
        lines += [f"Held by {', '.join(held)}.", ""]
    return "\n".join(lines)


def _origin(law: Law) -> str:
    return f"section {law.section}" + (f"; {law.source}" if law.source else "")


def _speaks_of(invariant: Invariant, law: Law) -> bool:
    """Sentences name functions: that of a law itself, or of what it gives. A bound gives what no equation gives."""
    if law.is_identity:
        gives = {law.left.name}
    else:
        gives = law.symbols.keys() - {other.left.name for other in laws().values() if other.is_identity}
    return law.name in invariant.about or bool(gives & set(invariant.about))
