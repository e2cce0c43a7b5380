"""The interview questions whose answers are executed: frozen runs are run again, and policies followed by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import pytest

from grader.exercise import Exercise, Part
from grader.judging import judge
from problems import interview_5, interview_7
from spec import catalog
from spec.serving.measured import Measured, measured
from spec.serving.remedies import REMEDIES, SMALLER, UNCHANGED, Deployment
from tests.problems.measured import first_tokens, tokens_per_second
from tests.problems.seeds import exercises

pytestmark = pytest.mark.law


# Question 4 and 7: servers


@pytest.mark.reality
@pytest.mark.parametrize("place", [0, 7, 19])
def test_what_is_frozen_is_what_a_run_gives(place: int) -> None:
    found = measured()[place]
    remedies = found.deployment.remedies
    for each in {remedies[place % len(remedies)], UNCHANGED} | ({"smaller-model"} & set(remedies)):
        assert list(found.p99[each]) == first_tokens(found.deployment, found.rate, each)
        assert found.tokens[each] == tokens_per_second(found.deployment, each)


def test_everything_is_measured_of_each_server() -> None:
    for found in measured():
        assert tuple(found.p99) == tuple(found.tokens) == found.deployment.remedies
        assert min(map(min, found.p99.values())) > 0


def test_fewer_sequences_never_shorten_the_wait_of_a_busy_server() -> None:
    for found in measured():
        if min(found.p99[UNCHANGED]) > 2000:
            assert min(found.p99["half-slots"]) > max(found.p99[UNCHANGED]), found.deployment


def test_more_places_change_nothing_where_the_room_runs_out() -> None:
    for found in measured():
        if found.deployment.slots >= found.deployment.held:
            assert found.p99["double-slots"] == found.p99[UNCHANGED], found.deployment


def test_a_remedy_changes_what_it_says_and_nothing_else() -> None:
    server = Deployment("llama-2-13b", "a100-80gb", 12, 256, 3840, (256, 256), 256)
    assert server.held == 12
    assert server.remedies == tuple(REMEDIES)
    for remedy in REMEDIES:
        changed = server.changed(remedy)
        fields = [name for name in Deployment.__slots__ if getattr(server, name) != getattr(changed, name)]
        assert len(fields) == (remedy not in {UNCHANGED, "tight-limit"}), remedy
        assert server.means(remedy).startswith(REMEDIES[remedy])
    for unknown in (server.changed, server.means):
        with pytest.raises(ValueError, match="there is no remedy 'prayer' here"):
            unknown("prayer")


def test_an_exchange_changes_the_model_alone_and_tells_its_sizes() -> None:
    server = Deployment("llama-2-13b", "a100-80gb", 12, 256, 3840, (256, 256), 256)
    assert server.changed("smaller-model") == replace(server, model="llama-2-7b")
    assert server.changed("smaller-model").held == 25
    assert server.means("smaller-model") == (
        "the model is exchanged for a smaller one, llama-2-7b, whose 16-bit weights take 13.5 GB and whose cache takes "
        "524,288 B/token, and requests keep their lengths in tokens"
    )


@pytest.mark.parametrize("name", SMALLER)
def test_a_smaller_model_has_fewer_weights_and_keeps_each_token_in_each_layer(name: str) -> None:
    large, small = catalog.model(name), catalog.model(SMALLER[name])
    assert small.parameters < large.parameters
    assert small.sliding_window is small.active_parameters is None


def test_where_no_smaller_model_takes_the_requests_none_is_offered() -> None:
    longest = Deployment("llama-3-8b", "a100-80gb", 12, 8, 3840, (256, 256), 256)
    too_long, none_smaller = replace(longest, limit=257), replace(longest, model="llama-2-7b")
    assert longest.smaller == "llama-2-7b"
    for server in (too_long, none_smaller):
        assert server.remedies == tuple(remedy for remedy in REMEDIES if remedy != "smaller-model")
        with pytest.raises(ValueError, match="there is no remedy 'smaller-model' here"):
            server.changed("smaller-model")


def test_a_smaller_model_makes_more_tokens_exactly_where_its_cache_is_smaller_too() -> None:
    for found in exchanged():
        ours, theirs = found.deployment, found.deployment.changed("smaller-model")
        more = found.tokens["smaller-model"] > found.tokens[UNCHANGED]
        assert more == (theirs.kv_bytes_per_token < ours.kv_bytes_per_token), ours


def exchanged() -> list[Measured]:
    return [each for each in measured() if each.deployment.smaller is not None]


def test_the_ranking_keeps_what_every_run_says() -> None:
    for exercise in exercises("interview-4"):
        (part,) = exercise.parts
        found = frozen(exercise)
        levels = [level.split(" = ") for level in (part.key or "").split(" > ")]
        for better, worse in combinations(levels, 2):
            for less, more in product(better, worse):
                assert all(a < b for a, b in zip(found.p99[less], found.p99[more], strict=True)), exercise.id
                assert 1.3 * sum(found.p99[less]) <= sum(found.p99[more]) * 1.001, exercise.id
        for level in levels:
            means = [sum(found.p99[action]) for action in level]
            assert max(means) <= 1.16 * min(means), exercise.id


def frozen(exercise: Exercise) -> Measured:
    (found,) = [each for each in measured() if told(exercise, each)]
    return found


def told(exercise: Exercise, each: Measured) -> bool:
    said = exercise.statement.startswith(each.deployment.says)
    return said and (exercise.family != "interview-4" or f", {each.rate} a minute " in exercise.statement)


def test_ties_may_be_given_in_any_order_and_wrong_ones_earn_less() -> None:
    exercise = next(e for e in exercises("interview-4") if "=" in (e.parts[0].key or ""))
    (part,) = exercise.parts
    assert part.key is not None
    assert judge(part, part.key.replace("=", ">")).verdict == "correct"
    wrong = " > ".join(reversed(part.key.split(" > ")))
    assert judge(part, wrong).verdict == "incorrect"
    assert [diagnosis.slip for diagnosis in judge(part, wrong).diagnoses] == ["reversed"]


def test_the_actions_that_help_are_those_that_were_measured_to() -> None:
    for exercise in exercises("interview-7"):
        helping, best = exercise.parts
        tokens = {action: found for each in measured() if told(exercise, each) for action, found in each.tokens.items()}
        right = [action for action in helping.options if 10 * tokens[action] >= 11 * tokens[UNCHANGED]]
        assert (helping.key or "").split(",") == right, exercise.id
        assert best.key == max(helping.options, key=lambda action: tokens[action]), exercise.id


def test_all_actions_help_somewhere_but_those_that_never_can() -> None:
    helping = {label for e in exercises("interview-7") for label in (e.parts[0].key or "").split(",")}
    assert helping == set(interview_7.ACTIONS) - {"half-slots", "static-batches"}


def test_a_smaller_model_helps_in_some_questions_and_in_others_not() -> None:
    seen = {True: 0, False: 0}
    for exercise in exercises("interview-7"):
        part = exercise.part("a")
        right = (part.key or "").split(",")
        if "smaller-model" not in part.options:
            continue
        helps = "smaller-model" in right
        seen[helps] += 1
        wrong = [each for each in part.options if (each in right) != (each == "smaller-model")]
        judged = judge(part, ", ".join(wrong))
        assert judged.verdict != "correct", exercise.id
        said = "smaller-model-does-not-matter" if helps else "smaller-model-always"
        assert not wrong or said in {diagnosis.slip for diagnosis in judged.diagnoses}, exercise.id
    assert min(seen.values()) > sum(seen.values()) / 4


def test_a_padded_batch_is_said_to_work_on_only_where_some_outputs_end_before_others() -> None:
    seen = set()
    for exercise in exercises("interview-7"):
        alike = "all lengths equally likely" not in exercise.statement
        for slip in (slip for part in exercise.parts for slip in part.slips if slip.slip == "static-batches"):
            seen.add(alike)
            assert ("have ended" in slip.sentence) != alike, exercise.id
    assert seen == {True, False}


def printed_rate(exercise: Exercise, *, smaller: bool) -> float:
    """The tokens a second of a full batch in the middle of its outputs, from what is printed alone."""
    told = exercise.statement

    def number(pattern: str, text: str = told) -> float:
        found = re.search(pattern, text)
        assert found is not None, pattern
        return float(found[1].replace(",", ""))

    of_model = exercise.part("a").question if smaller else told
    weights = 1e9 * number(r"16-bit weights take ([\d.]+) GB", of_model)
    kv = number(r"cache takes ([\d,]+) B/token", of_model)
    room = 1e9 * (number(r"with (\d+) GB of memory") - number(r"and (\d+) GB are reserved")) - weights
    prompt, limit = number(r"prompt of ([\d,]+)"), number(r"prompt and ([\d,]+) tokens of output")
    low = number(r"an output of (\d+)")
    output = (low + number(r" to (\d+) tokens, all lengths")) / 2 if "all lengths equally likely" in told else low
    batch = min(number(r"At most (\d+) sequences"), room // (kv * (prompt + limit)))
    reads = weights + batch * kv * (prompt + output / 2)
    step = reads / (0.8e9 * number(r"([\d.,]+) GB/s"))
    prefill = weights * prompt / (0.5e12 * number(r"([\d.,]+) TFLOP/s"))  # 2 operations a weight of 2 bytes
    return batch / (step + batch * prefill / output)


@pytest.mark.differential
def test_whether_a_smaller_model_helps_follows_from_what_is_printed() -> None:
    for exercise in exercises("interview-7"):
        if "smaller-model" in exercise.part("a").options:
            gain = printed_rate(exercise, smaller=True) / printed_rate(exercise, smaller=False)
            assert (gain > 1.1) == ("smaller-model" in (exercise.part("a").key or "")), exercise.id


# Question 5: two policies, followed step by step


def continuous(jobs: Sequence[int], slots: int) -> tuple[int, int]:
    """Count decode steps and prefill passes."""
    waiting, steps, passes = list(jobs), 0, 0
    running: list[int] = []
    while waiting or running:
        if waiting and len(running) < slots:
            passes += 1
            joining = slots - len(running)
            running, waiting = running + waiting[:joining], waiting[joining:]
        steps += min(running)
        running = [left - min(running) for left in running if left > min(running)]
    return steps, passes


def static(jobs: Sequence[int], slots: int) -> tuple[int, int]:
    batches = [jobs[start : start + slots] for start in range(0, len(jobs), slots)]
    return sum(map(max, batches)), len(batches)


def numbers(pattern: str, text: str) -> list[int]:
    found = re.search(pattern, text)
    assert found is not None
    return [int(number) for number in found[1].split(", ")]


@pytest.mark.differential
def test_each_policy_takes_what_following_it_by_hand_gives() -> None:
    for exercise in exercises("interview-5"):
        (slots,) = numbers(r"at most (\d+) jobs at once", exercise.statement)
        (step,) = numbers(r"a step takes (\d+) ms", exercise.statement)
        (prefill,) = numbers(r"together takes (\d+) ms", exercise.statement)
        for part, name in zip(exercise.parts, "ABC", strict=False):
            jobs = numbers(rf"list {name} has the jobs ([\d, ]+)", exercise.statement)
            ours, theirs = (
                steps * step + passes * prefill for steps, passes in (continuous(jobs, slots), static(jobs, slots))
            )
            assert part.key == interview_5.better(ours, theirs), exercise.id
            if name == "A":
                assert Fraction(exercise.part("d").key or 0) == ours, exercise.id


def test_the_example_of_each_record_loses() -> None:
    for exercise in exercises("interview-5"):
        part: Part = exercise.part("e")
        assert judge(part, part.key or "none").verdict == "correct", exercise.id
        assert judge(part, "none").verdict == "incorrect", exercise.id
        assert judge(part, "2, 2").verdict == "incorrect", exercise.id


@pytest.mark.parametrize("part", "abc")
def test_every_policy_is_right_somewhere(part: str) -> None:
    keys = [exercise.part(part).key for exercise in exercises("interview-5")]
    assert all(keys.count(label) > len(keys) / 8 for label in interview_5.LABELS)
