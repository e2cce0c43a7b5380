"""Examples that are executed: whatever works is right, nothing else is, and what is no example costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.exercise import Part, Run
from grader.feedback import message
from grader.judging import judge
from grader.reading.integers import read_integers

pytestmark = pytest.mark.law

PLAIN = {"slots": "2", "most": "6", "longest": "4", "least": "0", "base": "10", "each": "0", "prefill": "0"}
SORTED = PLAIN | {"order": "longest-first", "padded": "yes"}
CACHES = {"first": "lru 3", "second": "fifo 3", "sizes": "a:1,b:1,c:1,d:1", "most": "8"}


def batches(setting: dict[str, str], key: str | None = "1,2,1,2") -> Part:
    return Part("a", "jobs", "?", "counterexample", key, reason="It is so.", run=Run("batching-makespans", setting))


def accesses(setting: dict[str, str], key: str | None = "a,b,c,a,d,b") -> Part:
    names = tuple(pair[0] for pair in setting["sizes"].split(","))
    run = Run("eviction-misses", setting)
    return Part("a", "accesses", "?", "counterexample", key, options=names, reason="It is so.", run=run)


def continuous(jobs: Sequence[int], slots: int, step: Callable[[int], int], prefill: int) -> int:
    """Take the jobs step by step, in lists and with nothing of the simulator."""
    waiting, now = list(jobs), 0
    running: list[int] = []
    while waiting or running:
        joining = waiting[: slots - len(running)]
        waiting = waiting[len(joining) :]
        running += joining
        now += (prefill if joining else 0) + step(len(running))
        running = [left - 1 for left in running if left > 1]
    return now


def static(jobs: Sequence[int], slots: int, step: Callable[[int], int], prefill: int, *, padded: bool) -> int:
    now = 0
    for start in range(0, len(jobs), slots):
        batch = jobs[start : start + slots]
        now += prefill
        now += sum(step(len(batch) if padded else sum(job > done for job in batch)) for done in range(max(batch)))
    return now


SETTINGS = st.fixed_dictionaries(
    {
        "slots": st.integers(1, 4), "most": st.just(9), "longest": st.just(6), "least": st.integers(0, 12),
        "base": st.integers(1, 9), "each": st.integers(0, 4), "prefill": st.integers(0, 9),
        "order": st.sampled_from(["given", "longest-first"]), "padded": st.sampled_from(["yes", "no"]),
    }
)  # fmt: skip


@given(SETTINGS, st.lists(st.integers(1, 6), min_size=1, max_size=9))
def test_both_batchings_are_run_as_the_statement_says(setting: dict[str, object], jobs: list[int]) -> None:
    numbers = {name: int(value) for name, value in setting.items() if isinstance(value, int)}
    step = lambda size: max(numbers["least"], numbers["base"] + numbers["each"] * size)  # noqa: E731
    ordered = sorted(jobs, reverse=True) if setting["order"] == "longest-first" else jobs
    ours = continuous(jobs, numbers["slots"], step, numbers["prefill"])
    theirs = static(ordered, numbers["slots"], step, numbers["prefill"], padded=setting["padded"] == "yes")
    part = batches({name: str(value) for name, value in setting.items()})
    found = judge(part, ", ".join(map(str, jobs)))
    assert found.verdict == ("correct" if ours > theirs else "incorrect")
    assert (found.findings[0].about["ours"], found.findings[0].about["theirs"]) == (f"{ours} ms", f"{theirs} ms")
    assert judge(part, found.reading).findings == found.findings


def missed(trace: Sequence[str], blocks: int, sizes: dict[str, int], *, refreshed: bool) -> int:
    """Keep a plain list, the next to go first."""
    held: list[str] = []
    misses = 0
    for name in trace:
        if name in held:
            if refreshed:
                held.remove(name)
                held.append(name)
            continue
        misses += 1
        if sizes[name] <= blocks:
            while sum(sizes[other] for other in held) + sizes[name] > blocks:
                held.pop(0)
            held.append(name)
    return misses


@given(
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=12), st.lists(st.integers(1, 4), min_size=5, max_size=5),
    st.tuples(st.integers(1, 5), st.booleans()), st.tuples(st.integers(1, 5), st.booleans()),
)  # fmt: skip
def test_both_caches_are_run_as_the_statement_says(
    trace: list[str], blocks: list[int], one: tuple[int, bool], other: tuple[int, bool]
) -> None:
    sizes = dict(zip("abcde", blocks, strict=True))
    setting = {
        "first": f"{'lru' if one[1] else 'fifo'} {one[0]}", "second": f"{'lru' if other[1] else 'fifo'} {other[0]}",
        "sizes": ",".join(f"{name}:{size}" for name, size in sizes.items()), "most": "12",
    }  # fmt: skip
    ours, theirs = (missed(trace, size, sizes, refreshed=refreshed) for size, refreshed in (one, other))
    found = judge(accesses(setting), "".join(trace))
    assert found.verdict == ("correct" if ours > theirs else "incorrect")
    assert (found.findings[0].about["ours"], found.findings[0].about["theirs"]) == (str(ours), str(theirs))


@pytest.mark.parametrize("typed", ["1, 2, 1, 2", "[1,2,1,2]", "(1; 2; 1; 2)", "1 2 1 2", "1\n2\n1\n2", "{1,2,1,2}"])
def test_a_list_of_numbers_has_many_spellings(typed: str) -> None:
    assert read_integers(typed) == (1, 2, 1, 2)
    assert judge(batches(SORTED), typed).verdict == "correct"


@given(st.lists(st.integers(0, 10**9 - 1), min_size=1, max_size=30))
def test_a_list_that_is_written_is_read_back(numbers: list[int]) -> None:
    assert read_integers(", ".join(map(str, numbers))) == tuple(numbers)


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("1, 2, 1, two", "no-list"), ("1, -2", "no-list"), ("1, 2.5", "no-list"), ("1, , 2", "list-gap"),
        ("1,2,", "list-gap"), ("()", "list-gap"), ("10**99999", "no-list"), ("9" * 300, "no-list"), ("", "blank"),
        ("1," * 300, "too-long"), ("1,2,1,2,1,2,1", "list-length"), ("1, 5", "list-range"), ("0, 1", "list-range"),
        ("\u0661, 2", "no-list"),
    ],
)  # fmt: skip
def test_what_is_no_list_within_the_limits_costs_nothing(typed: str, code: str) -> None:
    found = judge(batches(SORTED), typed)
    assert (found.verdict, found.findings[0].code) == ("invalid", code)
    assert "{" not in message(found, batches(SORTED)).replace(typed, "")


@pytest.mark.parametrize(
    ("typed", "code"),
    [("a, b, f", "unknown-label"), ("", "blank"), ("abcd" * 3, "list-length"), ("a" * 500, "too-long")],
)
def test_accesses_that_are_none_cost_nothing(typed: str, code: str) -> None:
    found = judge(accesses(CACHES), typed)
    assert (found.verdict, found.findings[0].code) == ("invalid", code)


def test_close_is_not_enough_and_both_measures_are_told() -> None:
    found = judge(batches(SORTED), "2, 2, 1, 1")
    assert found.verdict == "incorrect"
    assert found.score == 0
    assert message(found, batches(SORTED)).endswith(
        "Executed, continuous batching takes 30 ms and static batching 30 ms."
    )
    told = message(judge(accesses(CACHES), "abcad"), accesses(CACHES))
    assert told.endswith("Executed, LRU with 3 blocks misses 4 of 5 times and FIFO with 3 blocks 4.")


def test_none_is_an_answer() -> None:
    for part, example in ((batches(SORTED), "1,2,1,2"), (accesses(CACHES), "a,b,c,a,d,b")):
        assert judge(part, "none").verdict == "incorrect"
        assert judge(part, example).verdict == "correct"
    never = PLAIN | {"order": "given", "padded": "yes"}
    assert judge(batches(never, None), "none").verdict == "correct"
    assert judge(accesses(CACHES, None), "impossible").verdict == "correct"
    assert message(judge(batches(never, None), "1,2,1,2"), batches(never, None)).endswith("None does. It is so.")


def test_a_list_that_works_is_right_whatever_the_record_says() -> None:
    assert judge(batches(SORTED, None), "1,2,1,2").verdict == "correct"


@pytest.mark.fuzz
@given(st.text(st.sampled_from("0123456789,;[](){} \nabcd-none"), max_size=60))
def test_no_text_makes_it_raise(typed: str) -> None:
    for part in (batches(SORTED), accesses(CACHES)):
        assert judge(part, typed).score in {0, 1}


def test_the_shortest_known_cases() -> None:
    """For two slots nothing shorter than four jobs does it (I50)."""
    tried = [jobs for size in range(1, 5) for jobs in product((1, 2), repeat=size)]
    found = [jobs for jobs in tried if judge(batches(SORTED), ",".join(map(str, jobs))).verdict == "correct"]
    assert found == [(1, 2, 1, 2), (2, 1, 1, 2)]
