"""Families about batches, caches and queues: the examples of the chapter, and keys computed again in another way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from grader.case import CaseAsk
from grader.executing.batching_makespans import makespans
from grader.executing.eviction_misses import misses
from grader.judging import judge
from problems import batching_counterexample as batching
from problems import eviction_counterexample as eviction
from problems import lru_trace as lru
from problems import memory_alert as alert
from problems import padding_waste as padding
from problems import smallest_failing_batch as failing
from tests.problems.seeds import exercises

pytestmark = pytest.mark.law


# Examples that are executed


@pytest.mark.parametrize("slug", ["batching-counterexample", "eviction-counterexample"])
def test_the_example_of_each_record_works(slug: str) -> None:
    for exercise in exercises(slug):
        (part,) = exercise.parts
        assert judge(part, part.key or "none").verdict == "correct", exercise.id
        assert judge(part, "none").verdict == ("incorrect" if part.key else "correct"), exercise.id
        assert part.run is not None
        assert len((part.key or "").split(",")) <= int(part.run.setting["most"]), exercise.id


def circumstances(slots: int) -> Iterator[batching.Circumstances]:
    """Give every rule, with limits that leave room for all that is tried."""
    for rule in sorted(set(batching.RULES)):
        base, each = (0, 2) if rule == batching.FLAT else (10, 3 * (rule in {batching.PADDED, batching.SHARES}))
        for least in range(2 * slots + 3) if rule == batching.FLAT else (0,):
            prefills = (1, 5, 10, 30) if rule == batching.PREFILL else (0,)
            for prefill in prefills:
                yield batching.Circumstances(rule, slots, slots + 2, 3, least, base, each, prefill)


@pytest.mark.parametrize("slots", [2, 3])
def test_no_list_does_it_where_none_is_said_to(slots: int) -> None:
    ask = batching.family.ways[0][0]
    for case in circumstances(slots):
        never = ask.key(case) is None
        for size in range(1, slots + (3 if never else 2)):
            for jobs in product(range(1, 4 if size < 5 else 3), repeat=size):
                ours, theirs = makespans(jobs, case.setting)
                assert ours <= theirs, (case, jobs)


def traces(names: str, longest: int) -> Iterator[str]:
    """Give every sequence in which entries come first in the order of their names: all others are these renamed."""
    if longest == 0:
        yield ""
        return
    for start in traces(names, longest - 1):
        known = len(set(start))
        yield from (start + name for name in names[: known + 1])


@pytest.mark.parametrize("blocks", [2, 3])
def test_lru_and_fifo_miss_alike_in_shorter_traces(blocks: int) -> None:
    for first, second in (("lru", "fifo"), ("fifo", "lru")):
        case = eviction.Circumstances(
            eviction.ORDERS, f"{first} {blocks}", f"{second} {blocks}", (1,) * 5, blocks + eviction.SPARE - 1
        )
        assert eviction.family.ways[0][0].key(case) is None
        for trace in traces("abcde", case.most):
            ours, theirs = misses(trace, case.setting)
            assert ours <= theirs, trace


def test_no_shorter_trace_shows_the_anomaly_of_fifo() -> None:
    """Every trace of 11 accesses to seven entries, depth first, with the two queues kept along the way."""
    found = []

    def follow(trace: str, small: str, large: str, ahead: int) -> None:
        if ahead > 0:
            found.append(trace)
        if len(trace) == len(eviction.ANOMALY) - 1:
            return
        for name in "abcdefg"[: len(set(trace)) + 1]:
            missed = (name not in large) - (name not in small)
            then = small if name in small else (small + name)[-3:], large if name in large else (large + name)[-4:]
            follow(trace + name, *then, ahead + missed)

    follow("", "", "", 0)
    assert not found


def value(ask: CaseAsk[Any], case: object, slug: str) -> object:
    """Give what one misconception makes of a case."""
    (found,) = [slip for slip in ask.slips if slip.slug == slug]
    return found.value(case)


# Padding


def test_the_batch_of_the_chapter_is_mostly_padding() -> None:
    """F25: 100, 300, 400 and 1,200 tokens."""
    case = padding.Batch(((1, 100), (1, 300), (1, 400), (1, 1200)), Fraction(1, 2), Fraction(1, 2))
    ask = padding.WASTE
    assert ask.key(case) == Fraction(7, 12)
    wrong = {
        "padding-to-useful": Fraction(7, 5),
        "useful-for-waste": Fraction(5, 12),
        "shortest-for-mean": Fraction(11, 12),
        "median-for-mean": Fraction(17, 24),
        "one-sequence-less": Fraction(4, 9),
    }
    assert {slug: value(ask, case, slug) for slug in wrong} == wrong


def test_the_shares_that_are_given_are_those_of_the_batch_with_the_new_sequence() -> None:
    """Every length up to far above the longest is tried."""
    for exercise in exercises("padding-waste"):
        (part,) = exercise.parts
        groups = re.findall(r"(\d+) sequences? of ([\d,]+) tokens", exercise.statement)
        lengths = [int(length.replace(",", "")) for count, length in groups for _ in range(int(count))]
        if part.asks == "padding_waste":
            assert Fraction(part.key or 0) == 1 - Fraction(sum(lengths), len(lengths) * max(lengths)), exercise.id
            continue
        number = re.search(r"and (\S+)( %)? of all", part.question)
        assert number
        share = Fraction(number[1]) / (100 if number[2] else 1)
        tried = range(1, max(lengths)) if part.asks == "length" else range(max(lengths) + 1, 10_000)
        size, total = len(lengths) + 1, sum(lengths)
        useful, of = (1 - share).as_integer_ratio()
        longest = max(lengths)
        fit = [n for n in tried if size * max(longest, n) * useful == (total + n) * of]
        assert [str(n) for n in fit] == ([part.key] if part.key else []), exercise.id


def test_a_sequence_as_long_as_the_longest_is_not_longer() -> None:
    """100 and 200 tokens: with 200 more, one in six tokens is padding; with 300, a third is."""
    as_long, longer = (padding.Batch(((1, 100), (1, 200)), share, share) for share in (Fraction(1, 6), Fraction(1, 3)))
    assert (padding.LONGER.key(as_long), padding.LONGER.key(longer)) == (None, 300)
    assert padding.SHORTER.key(as_long) is None


# A trace on an LRU cache


def test_the_trace_of_the_chapter_on_ten_blocks() -> None:
    """F29: a4 b3 c2 a4 d3 e2. What evicts the largest, or the entry used last, ends like first in, first out."""
    used = (("a", 4), ("b", 3), ("c", 2), ("a", 4), ("d", 3), ("e", 2))
    case = lru.Accesses(used, 10, 5)
    assert lru.RESIDENT.key(case) == ("a", "d", "e")
    assert lru.EVICTED.key(case) == ("b", "c")
    wrong = {
        "first-in-first-out": tuple("bcde"),
        "most-recent-first": tuple("bcde"),
        "largest-first": tuple("bcde"),
        "last-in-first-out": tuple("abe"),
        "nothing-evicted": tuple("abcde"),
    }
    assert {slug: value(lru.RESIDENT, case, slug) for slug in wrong} == wrong


def test_evicting_one_entry_only_is_told_apart_where_two_must_go() -> None:
    case = lru.Accesses((("a", 2), ("b", 2), ("c", 2), ("a", 2), ("d", 4)), 6, 4)
    assert (lru.EVICTED.key(case), value(lru.EVICTED, case, "one-eviction-each")) == (("b", "c"), ("b",))


def test_a_pinned_entry_stays_and_the_next_in_line_goes() -> None:
    """The trace of the chapter with b pinned: c goes for d, then a for e, and nothing else fits beside b."""
    used = (("a", 4), ("b", 3), ("c", 2), ("a", 4), ("d", 3), ("e", 2))
    case = lru.Accesses(used, 10, 5, ("b",))
    assert (lru.EVICTED.key(case), lru.RESIDENT.key(case)) == (("c", "a"), ("b", "d", "e"))
    assert value(lru.EVICTED, case, "pin-ignored") == ("b", "c")
    assert value(lru.RESIDENT, case, "pin-ignored") == ("a", "d", "e")
    tight = lru.Accesses((*used, ("f", 8)), 10, 5, ("b",))
    assert (lru.EVICTED.key(tight), lru.RATE.key(tight)) == (("c", "a"), Fraction(1, 7))
    assert value(lru.RATE, tight, "refused-left-out") == Fraction(1, 6)


def test_the_smallest_cache_refuses_nothing() -> None:
    """With 4 blocks b would not fit beside the pinned a; 5 hold both, and 6 the c between two uses of b, too."""
    used = (("a", 3), ("b", 2), ("c", 1), ("b", 2))
    case = lru.Accesses(used, 4, 3, ("a",))
    assert lru.SMALLEST.key(case) == 6
    assert lru.SMALLEST.key(lru.Accesses(used, 4, 4, ("a",))) == 5
    assert value(lru.SMALLEST, case, "largest-entry") == 5
    assert value(lru.SMALLEST, case, "pin-ignored") == 3
    assert lru.SMALLEST.key(lru.Accesses(used, 4, 2, ("a",))) is None


def recency(
    trace: Sequence[tuple[str, int]], capacity: int, pinned: Sequence[str] = ()
) -> tuple[list[str], list[str], int, int]:
    """Evict by the time of the last use, from a table of who is there; return how many are refused, too."""
    held: dict[str, tuple[int, int]] = {}
    evicted, hits, refused = [], 0, 0
    for now, (name, blocks) in enumerate(trace):
        hits += name in held
        if blocks + sum(held[other][1] for other in pinned if other in held and other != name) > capacity:
            refused += 1
            continue
        while blocks + sum(size for other, (_, size) in held.items() if other != name) > capacity:
            idle = [other for other in held if other != name and other not in pinned]
            oldest = min(idle, key=lambda other: held[other][0])
            evicted.append(oldest)
            del held[oldest]
        held[name] = (now, blocks)
    return evicted, sorted(held), hits, refused


def test_traces_end_as_those_that_are_followed_by_hand() -> None:
    for exercise in exercises("lru-trace"):
        used = re.search(r"takes: ([a-f0-9:, ]+)\.", exercise.statement)
        assert used
        trace = [(name, int(blocks)) for name, _, blocks in (pair.partition(":") for pair in used[1].split(", "))]
        stays = re.search(r"Entr(?:y|ies) ([a-f](?: and [a-f])?) (?:is|are) pinned", exercise.statement)
        pinned = stays[1].split(" and ") if stays else []
        assert bool(pinned) == ("pin" in exercise.statement), exercise.id
        numbers = [int(number) for number in re.findall(r"\d+", exercise.parts[0].question)]
        keys = [part.key for part in exercise.parts]
        if len(keys) == 1:
            tried = {capacity: recency(trace, capacity, pinned) for capacity in range(1, 100)}
            enough = [n for n, (*_, hits, refused) in tried.items() if not refused and len(trace) - hits <= numbers[0]]
            assert keys == [str(enough[0]) if enough else None], exercise.id
            continue
        evicted, left, hits, _ = recency(trace, numbers[0], pinned)
        assert keys[:2] == [",".join(evicted), ",".join(left)], exercise.id
        assert Fraction(keys[2] or 0) == Fraction(hits, len(trace)), exercise.id


# The alert


def test_the_alert_of_the_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """F28: 14 GB of weights leave 54 GB, and 90 % of that raises the alert; 108,000 tokens come of mixed sizes."""
    monkeypatch.setattr(alert, "_weights", lambda _: 1400)
    case = alert.Server("llama-2-7b", "a100-80gb", 8, 4, 90, ())
    assert (case.budget, alert.THRESHOLD.key(case)) == (5400, Fraction("48.6"))
    wrong = {
        "share-of-the-gpu": "72",
        "share-of-what-weights-leave": "59.4",
        "other-share": "43.2",
        "late-share": "51.3",
    }
    assert {slug: value(alert.THRESHOLD, case, slug) for slug in wrong} == {
        slug: Fraction(found) for slug, found in wrong.items()
    }
    assert alert.TOKENS.key(case) == 92_698
    assert value(alert.TOKENS, case, "conventions-mixed") == 97_200


def test_most_series_of_readings_reach_the_threshold_and_the_minute_is_taken_with_its_unit() -> None:
    parts = [part for exercise in exercises("memory-alert") for part in exercise.parts if part.asks == "alert_minute"]
    assert 10 * sum(part.key is None for part in parts) <= 4 * len(parts)
    for part in parts:
        for typed in ("{}", "{} min", "{} minutes") if part.key else ("none",):
            assert judge(part, typed.format(part.key)).verdict == "correct", part.question


def test_no_better_answer_is_promised_where_there_is_none() -> None:
    parts = [part for slug in ("memory-alert", "lru-trace") for exercise in exercises(slug) for part in exercise.parts]
    for part in parts:
        said = {slip.slip: slip.value for slip in part.slips}
        assert part.key or not said.keys() & {"highest-reading", "for-good", "all-entries"}, part.question
        assert said.get("for-good", "") is not None, part.question


# The batch that fails


def test_the_documents_of_the_chapter() -> None:
    """F40: 102,996 tokens, documents of up to 8,000; the usual 5,000 and the mean 5,200 lead to 21 and 20."""
    case = failing.Documents(102_996, 5000, 5200, 8000, 0, 16, 4, (100,) * 4)
    assert failing.SMALLEST.key(case) == 13
    assert value(failing.SMALLEST, case, "largest-that-fits") == 12
    assert value(failing.SMALLEST, case, "full-batch") == 16
    more = failing.Documents(102_996, 5000, 5200, 8000, 0, 32, 4, (100,) * 4)
    assert [value(failing.SMALLEST, more, slug) for slug in ("typical-length", "padding-ignored")] == [21, 20]


def test_batches_fail_where_padding_and_outputs_take_them_over_the_budget() -> None:
    for exercise in exercises("smallest-failing-batch"):
        (part,) = exercise.parts
        text, question = exercise.statement.replace(",", ""), part.question
        found = re.search(r"budget of (\d+) tokens.* up to (\d+) output", text)
        assert found
        budget, output = int(found[1]), int(found[2])
        if part.asks == "batch":
            numbers = [int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", question)]
            longest, most = numbers[2], numbers[3]
            failing_sizes = [n for n in range(1, most + 1) if sum([longest + output] * n) > budget]
            assert part.key == (str(failing_sizes[0]) if failing_sizes else None), exercise.id
        elif part.asks == "length":
            size = int(re.findall(r"\d+", question)[0])
            assert size * (int(part.key or 0) + output) <= budget < size * (int(part.key or 0) + 1 + output)
        else:
            listed = re.search(r"Documents of ([\d, ]+) tokens are cut into batches of (\d+)", question)
            assert listed
            lengths, size = [int(n.replace(",", "")) for n in listed[1].split(", ")], int(listed[2])
            cut = [lengths[start : start + size] for start in range(0, len(lengths), size)]
            failed = [n for n, batch in enumerate(cut, 1) if sum(max(batch) + output for _ in batch) > budget]
            assert part.key == (str(failed[0]) if failed else None), exercise.id
