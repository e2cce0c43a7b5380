"""Hold every package against the laws, confirm the known faults again, and write RESULTS.md.

Run from the root of the repository, in an environment that has the packages: `make peers`.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fault import Fault

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
EXAMPLES, TIME_LIMIT, LONGEST = 25, 10, 300  # points of a check, seconds of a call, seconds of a package
CHECK = "import sys; from grader.cli import main; sys.argv[0] = 'grade'; main()"
SIGNS = {"obeyed": "yes", "broken": "**no**"}

# The packages, and the objects beside the module by which one is also asked.
PACKAGES: dict[str, tuple[str, ...]] = {
    "accelerate": ("",),
    "fitcheck-llm": ("",),
    "genz-llm": ("",),
    "hf-mem": ("",),
    "hf-vram-calc": ("",),
    "kvfit": ("",),
    "llm-analysis": ("",),
    "llm-cal": ("",),
    "llm-d-planner": ("", ":Group"),
    "llm-flops": ("",),
    "llm-mem-planner": ("",),
    "llm-sizer": ("",),
    "llm-x-py": ("",),
    "mlsysim": ("",),
    "modelinfo-cli": ("",),
    "ridgepoint": ("",),
    "sched-sim": ("", ":Pool"),
    "servcalc": ("",),
    "vidur": ("",),
    "vllm-sr-sim": ("",),
    "vllm-wizard": ("",),
    "vramscout": ("",),
}
FILES = {"fitcheck-llm": "fitcheck", "genz-llm": "genz", "llm-x-py": "llm_x", "modelinfo-cli": "modelinfo"}


@dataclass
class Outcome:
    """What came out of the suite for one package.

    Attributes:
        laws: `obeyed`, `broken` or `not-implemented` by law.
        faults: a law, the place and the words of each fault.
        seconds: how long it took.
        trouble: why there is no result.
    """

    laws: dict[str, str] = field(default_factory=dict)
    faults: list[tuple[str, str]] = field(default_factory=list)
    calls: int = 0
    seconds: float = 0
    trouble: str = ""


def module_of(package: str) -> str:
    """Return the file of a package's adapter."""
    return f"adapt_{FILES.get(package, package.replace('-', '_'))}.py"


def checked(package: str) -> Outcome:
    """Run `grade check` on every object of a package."""
    outcome = Outcome()
    for thing in PACKAGES[package]:
        start = time.perf_counter()
        options = ["--json", "--examples", str(EXAMPLES), "--time-limit", str(TIME_LIMIT)]
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            CHECK,
            "check",
            f"{HERE / module_of(package)}{thing}",
            *options,
        ]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LONGEST, env=environment, cwd=ROOT, check=False
            )
        except subprocess.TimeoutExpired:
            outcome.trouble = f"no result within {LONGEST} s"
            continue
        outcome.seconds += time.perf_counter() - start
        _take(outcome, done.stdout, done.stderr)
    return outcome


def _take(outcome: Outcome, printed: str, complaint: str) -> None:
    lines = [line for line in printed.splitlines() if line.startswith('{"')]
    said: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    if "laws" not in said:
        outcome.trouble = str(said.get("error") or (complaint.strip().splitlines() or ["no answer"])[-1])
        return
    for law, result in said["laws"].items():
        if outcome.laws.get(law) != "broken" and result != "not-implemented":
            outcome.laws[law] = result
    outcome.calls += said["calls"]
    told: set[str] = set()
    for fault in said["faults"]:
        law = next(iter(fault["laws"]), "")
        if law and law not in told:  # the others follow from it
            told.add(law)
            outcome.faults.append((law, fault["message"]))


def versions() -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    found = {}
    for package in [*PACKAGES, "llmfit", "vramcalc"]:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def report(outcomes: dict[str, Outcome]) -> Iterator[str]:
    """Write the page, paragraph by paragraph."""
    from faults_of_calculators import FAULTS as OF_CALCULATORS
    from faults_of_planners import FAULTS as OF_PLANNERS
    from places import PLACES

    faults = sorted([*OF_CALCULATORS, *OF_PLANNERS], key=lambda fault: fault.package)

    known = versions()
    yield "# Public packages held against the laws\n"
    day = datetime.now(UTC).date().isoformat()
    yield (
        f"Written by `make peers` on {day}. Each package of the registry is asked through its adapter in this folder, "
        f"at {EXAMPLES} points of every check; `grade check examples/candidates/adapt_NAME.py` repeats one. "
        "An adapter declares what its package declares (units, fixed quantities, number formats) and no more. "
        "The table asks about shapes that the package has inputs for, whose heads share the hidden size out; "
        "what it makes of a config.json beyond these stands among the faults confirmed by hand. "
        "Where neither names a fault, the package was right in all that it was asked.\n"
    )
    yield "## Packages\n"
    yield "| package | version | laws obeyed | laws broken | questions | seconds |\n|---|---|---|---|---|---|"
    for package, outcome in outcomes.items():
        results = list(outcome.laws.values())
        counts = f"{results.count('obeyed')} | {results.count('broken')}"
        if outcome.trouble:
            counts = f"{outcome.trouble} | "
        yield f"| {package} | {known.get(package, '-')} | {counts} | {outcome.calls} | {outcome.seconds:.0f} |"
    yield "\n## Laws\n"
    yield "`yes` obeyed, **no** broken, empty: the package does not answer it.\n"
    yield from _matrix(outcomes)
    yield "\n## What the suite found\n"
    for package, outcome in outcomes.items():
        for law, message in outcome.faults:
            place = PLACES.get((package, law)) or next(
                (fault.where for fault in faults if (fault.package, fault.law) == (package, law)), ""
            )
            yield f"### {package} {known.get(package, '')}: {law}\n\n{message}\n" + (f"\n{place}\n" if place else "")
    yield "## Faults confirmed by hand\n"
    yield "Each is computed again on every run: the package's value and the right one stand as they came out.\n"
    yield from _confirmed(known, faults)
    yield "## Side by side\n"
    from bench import peers

    yield f"```\n{peers.run().strip()}\n```"


def _matrix(outcomes: dict[str, Outcome]) -> Iterator[str]:
    every = sorted({law for outcome in outcomes.values() for law in outcome.laws})
    yield f"| law | {' | '.join(outcomes)} |\n|---|{'---|' * len(outcomes)}"
    for law in every:
        cells = [SIGNS.get(outcome.laws.get(law, ""), "") for outcome in outcomes.values()]
        yield f"| {law} | {' | '.join(cells)} |"


def _confirmed(known: dict[str, str], faults: Sequence[Fault]) -> Iterator[str]:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    number = 0
    for fault in faults:
        try:
            got, right = fault.got(), fault.right()
        except Exception as error:  # noqa: BLE001  the code of others
            yield f"* {fault.package}: {fault.case} could not be asked ({type(error).__name__}).\n"
            continue
        if abs(float(got) - float(right)) <= 1e-6 * abs(float(right)):
            yield f"* {fault.package} {known.get(fault.package, '')}: {fault.case} is right now.\n"
            continue
        number += 1
        yield (
            f"{number}. **{fault.package} {known.get(fault.package, '')}, {fault.law}.** {fault.says}\n"
            f"   Case: {fault.case}. It says {_plain(got)}, right is {_plain(right)} ({fault.unit})"
            f"{_ratio(got, right)}.\n"
            f"   Why: {fault.source}.\n   Where: {fault.where}.\n"
        )


def _plain(value: Any) -> str:
    number = float(value)
    return f"{number:,.0f}" if number == int(number) else f"{number:,.6g}"


def _ratio(got: Any, right: Any) -> str:
    return f": {float(got) / float(right):.3g} times" if float(right) and float(got) > 0 else ""


def main() -> int:
    """Check all packages, or those named, and write the page where all were."""
    sys.path[:0] = [str(ROOT), str(HERE)]
    chosen = sys.argv[1:] or list(PACKAGES)
    outcomes = {}
    for package in chosen:
        outcomes[package] = checked(package)
        broken = [law for law, result in outcomes[package].laws.items() if result == "broken"]
        print(f"{package}: {outcomes[package].trouble or ', '.join(broken) or 'obeys what it answers'}", flush=True)
    page = "\n".join(report(outcomes)) + "\n"
    if chosen == list(PACKAGES):
        (HERE / "RESULTS.md").write_text(page, encoding="utf-8")
    else:
        print(page)
    return 0


if __name__ == "__main__":
    sys.stdout.flush()
    status = main()
    sys.stdout.flush()
    os._exit(status)  # some packages leave threads that never end
