"""The points at which a candidate is tried: small numbers that show what large ones do, and numbers of real servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from spec import catalog
from spec.conformance.asking import Asked
from spec.conformance.declared import Declared, known
from spec.invariants.draws import SPECIAL, Among, Draw, Draws, Values, draw_of, sample
from spec.quantities import Quantity
from spec.solving import Exact, whole

TRIES = 12  # draws for each point that is wanted: joint conditions leave some out
GB, GIB = 10**9, 2**30

# By unit: numbers as they are met, small ones first, odd ones among them.
USUAL: dict[str, tuple[Exact, ...]] = {
    "B": (GB, 3 * GB, 8 * GB, 14 * GB, 16 * GIB, 24 * GB, 53_900_000_000, 54 * GB, 80 * GB, 85_899_345_920, 141 * GB),
    "B/token": (2048, 49_152, 131_072, 163_840, 327_680, 524_288),
    "s": (Fraction(1, 1000), Fraction(1, 50), Fraction(1, 5), 1, Fraction(51, 5), 60, 90),
    "token": (1, 100, 127, 1000, 2048, 4096, 4097, 8192, 32_768, 131_072),
    "token/s": (10, Fraction(63, 2), 50, 1000, 1777, 8000),
    "request/s": (Fraction(1, 10), Fraction(5, 3), 5, 10, 100),
    "sequence": (1, 2, 7, 8, 25, 32, 100, 256),
    "sequence/GPU": (1, 2, 7, 8, 25, 32, 100),
    "GPU": (1, 2, 4, 8),
    "B/s": (50 * GB, 450 * GB),
    "FLOP/token": (14 * GB, 140 * GB),
    "FLOP": (10**12, 14 * 10**12, 57 * 10**12),
    "FLOP/B": (1, Fraction(3, 2), 156, 300),
    "$/h/GPU": (Fraction(1, 2), 2, Fraction(49, 20), 4),
    "s/token": (Fraction(1, 1000), Fraction(1, 50), Fraction(1, 30)),
    "block": (1, 7, 256, 257),
    "score": (1, 10_000, 16_777_216),
}  # fmt: skip
SHARES = tuple(Fraction(n, 100) for n in (5, 10, 30, 40, 50, 90, 95))
BY_NAME: dict[str, tuple[Exact, ...]] = {
    "kv_width": (Fraction(1, 2), 1, 2, 4),
    "activation_width": (1, 2, 4),
    "logit_width": (2, 4),
    "weight_bits": (4, Fraction(9, 2), 8, 16, 32),
    "block_size": (1, 16, 32, 256),
    "sliding_layers": (0, 1, 7, 16, 24),
    "sliding_window": (128, 1024, 4096),
    "dense_layers": (0, 1, 3),
    "scale_width": (0, 2, 4),
    # Most of these partitions leave something to the cache.
    "gpu_memory": (16 * GIB, 24 * GB, 40 * GB, 80 * GB, 85_899_345_920, 141 * GB),
    "gpu_memory_reported": (16 * GIB, 24 * GB, 40 * GB, 80 * GB, 85_899_345_920, 141 * GB),
    "weights": (GB, 3 * GB, 8 * GB, 14 * GB, 16 * GIB, 26 * GB, 140 * GB),
    "activations": (0, GB, 2 * GIB, 8 * GB),
    "safety_margin": (0, GB, 4 * GB, 4 * GIB),
    "runtime_memory": (0, GB, 2 * GIB),
}
WIDTHS = frozenset({"kv_width", "activation_width", "logit_width", "weight_bits"})
ODD_WIDTH = 3
ROWS = {"compute": "gpus", "bandwidth": "gpus"}


@cache
def real(quantity: Quantity) -> Draw:
    """Return values of a quantity as real models, GPUs and loads have them; the small draw where none are known."""
    found = [whole(Fraction(value)) for value in _met(quantity) if value in quantity.domain]
    return Among(tuple(dict.fromkeys(found))) if found and quantity.name not in _KEPT else draw_of(quantity)


_KEPT = SPECIAL.keys() - {"kv_budget", "ttft_target", "gpu_memory_reported"}  # Erlang's formulas grow out of hand


def _met(quantity: Quantity) -> tuple[Exact, ...]:
    name = quantity.name
    if name in BY_NAME:
        return BY_NAME[name]
    if name in ROWS:
        return _of_rows(catalog.gpus(), name, quantity.unit.factor)
    of_models = _of_rows(catalog.models(), name, Fraction(1))
    if of_models:
        return of_models
    if quantity.unit.name == "1" and quantity.domain.high == 1:
        return (0, 1) if quantity.domain.integer else SHARES
    return USUAL.get(quantity.unit.name, ())


def _of_rows(rows: Mapping[str, Any], name: str, unit: Fraction) -> tuple[Exact, ...]:
    values: set[Any] = {getattr(row, name, None) for row in rows.values()} - {None, ""}
    return tuple(sorted(int(v) if isinstance(v, int) else Fraction(v.base) / unit for v in values))


def points(asked: Asked, count: int, declared: Declared) -> Iterator[tuple[Draws, Values]]:
    """Give points of the function's domain, each with the draws it comes from; half small, half real.

    Small numbers are small in the unit that the candidate states. The same for ever, since they are read from a hash
    of the names.
    """
    small = {name: _stated(_small(known()[name]), declared.scale(name)) for name in asked.given}
    of_servers = {name: real(known()[name]) for name in asked.given}
    for draws, salt in ((fixing(small, declared.assumes), "small"), (fixing(of_servers, declared.assumes), "real")):
        left = (count + 1) // 2
        for draw, values in _solvable(asked, sample(draws, TRIES * count, f"{asked.call}/{salt}"), draws, declared):
            if left and asked.valid(values):
                left -= 1
                yield draw, values
            elif not left:
                break


def _solvable(
    asked: Asked, sampled: Iterator[Values], draws: Draws, declared: Declared
) -> Iterator[tuple[Draws, Values]]:
    """Where an equation is solved for another quantity, give points that have a solution in turn with others."""
    told, unknown = asked.inverse, known()[asked.name] if asked.steps else None
    for turn, values in enumerate(sampled):
        if told and unknown is not None and turn % 2 and told not in declared.assumes:
            own = _small(unknown) if turn % 4 == 1 else real(unknown)
            tried = {**values, asked.name: own.value(turn // 2 % own.count)}
            try:
                result = whole(asked.law.bodies[1](**tried))
            except ZeroDivisionError:
                continue
            yield {**draws, told: Among((result,))}, {**values, told: result}
        else:
            yield draws, values


def _small(quantity: Quantity) -> Draw:
    """Return small values of a quantity; of a width those that formats have, for most calculators know no others."""
    return Among((*BY_NAME[quantity.name], ODD_WIDTH)) if quantity.name in WIDTHS else draw_of(quantity)


def _stated(draw: Draw, scale: Fraction) -> Draw:
    """Return small numbers of a larger unit."""
    if scale <= 1:
        return draw
    return Among(tuple(whole(draw.value(i) * scale) for i in range(draw.count)))


def fixing(draws: Draws, fixed: Mapping[str, Exact]) -> Draws:
    """Return draws in which the quantities that a candidate assumes have only that value."""
    return {name: Among((fixed[name],)) if name in fixed else draw for name, draw in draws.items()}
