"""Reading and judging a formula, in process, beside Math-Verify."""

from __future__ import annotations

import logging

from bench.timing import microseconds, quantile, table
from grader.exercise import Part, SlipValue
from grader.families import pose
from grader.judging import judge

SEEDS = range(40)


def run() -> str:
    """Judge the key and every slip of posed formula exercises."""
    from math_verify import parse, verify

    logging.disable(logging.CRITICAL)
    parts: list[Part] = [pose("parameter-formula", seed).parts[0] for seed in SEEDS]
    rows = []
    for name in ("servespec", "Math-Verify"):
        for right in (True, False):
            times, agreed, total = [], 0, 0
            for part in parts:
                typed = (
                    [part.key or ""]
                    if right
                    else [slip.value or "" for slip in part.slips if isinstance(slip, SlipValue)]
                )
                gold = parse(f"${_tex(part.key or '')}$")
                for text in typed:
                    if name == "servespec":
                        judged = lambda part=part, text=text: judge(part, text).verdict == "correct"  # noqa: E731
                    else:
                        judged = lambda gold=gold, text=text: bool(verify(gold, parse(f"${_tex(text)}$")))  # noqa: E731
                    agreed += judged() == right
                    total += 1
                    times.append(microseconds(judged))
            rows.append(
                (
                    name,
                    "right" if right else "wrong",
                    f"{quantile(times, 0.5):.1f}",
                    f"{quantile(times, 0.99):.1f}",
                    f"{agreed}/{total}",
                )
            )
    return table(
        "One formula, read and judged (goal: 100 us, p99 500 us)",
        ("judge", "formulas", "median us", "p99 us", "right verdicts"),
        rows,
    )


def _tex(text: str) -> str:
    return text.replace("*", " ")
