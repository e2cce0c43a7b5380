"""The points of a run: its curves at their ends and between them, what tricks cost, and what is foretold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.executing.session_policy.graded import Graded, Ran, Timeline
from grader.executing.session_policy.predictions import FORETOLD, Prediction, compared, earned
from grader.executing.session_policy.report import report
from grader.executing.session_policy.scoring import (
    COMPONENTS,
    PARTS,
    SAFETY,
    Component,
    Curve,
    Measures,
    losses,
    mean,
    score,
)
from grader.executing.session_policy.words import WORDS, Line

pytestmark = pytest.mark.law

BEST = Measures(0, False, 1, Fraction(1, 2), 0, 1, 1, 0, 0)  # noqa: FBT003  a row of what is measured
SHARES = st.fractions(0, 1, max_denominator=1000)
TIMES = st.one_of(st.none(), st.fractions(0, 5000, max_denominator=1000))
RUNS = st.builds(
    Measures, st.integers(0, 3), st.booleans(), TIMES, TIMES, SHARES, SHARES, SHARES, SHARES, st.integers(0, 40),
    st.none() | SHARES,
)  # fmt: skip
EACH = pytest.mark.parametrize("part", COMPONENTS, ids=lambda part: part.name)


def toward_zero(curve: Curve, step: Fraction) -> Fraction:
    """Give the value that lies a step of the way from full to zero."""
    return curve.full + step * (curve.zero - curve.full)


def with_value(part: Component, value: Fraction | None) -> Measures:
    return replace(BEST, **{part.name: value})


def test_the_points_add_up_to_a_hundred() -> None:
    assert SAFETY + sum(part.points for part in COMPONENTS) == 100
    assert score(BEST).total == 100


@EACH
def test_a_curve_is_full_at_its_one_end_and_beyond_and_nothing_at_the_other(part: Component) -> None:
    curve, step = part.curve, Fraction(1, 200)
    for at in (-step, Fraction(0)):
        assert curve.share(toward_zero(curve, at)) == 1
    for at in (Fraction(1), 1 + step):
        assert curve.share(toward_zero(curve, at)) == 0
    assert 0 < curve.share(toward_zero(curve, 1 - step)) < Fraction(2, 100)
    assert Fraction(95, 100) < curve.share(toward_zero(curve, step)) < 1


@EACH
@given(data=st.data())
def test_a_curve_never_rises_away_from_its_full_end(part: Component, data: st.DataObject) -> None:
    near, far = sorted(data.draw(st.tuples(SHARES, SHARES)))
    assert part.curve.share(toward_zero(part.curve, near)) >= part.curve.share(toward_zero(part.curve, far))


def test_half_the_points_stand_in_the_middle_of_a_line_and_at_the_geometric_mean_of_a_logarithm() -> None:
    assert Curve(Fraction(0), Fraction(4)).share(2) == Fraction(1, 2)
    assert Curve(Fraction(1), Fraction(1, 5)).share(Fraction(3, 5)) == Fraction(1, 2)
    assert Curve(Fraction(1), Fraction(16), logarithmic=True).share(4) == Fraction(1, 2)
    assert Curve(Fraction(1), Fraction(16), logarithmic=True).share(2) == Fraction(3, 4)


@given(value=st.fractions(2, 60, max_denominator=1000))
def test_a_logarithmic_curve_agrees_with_floats(value: Fraction) -> None:
    from math import log

    curve = Curve(Fraction(2), Fraction(60), logarithmic=True)
    wanted = log(60 / float(value)) / log(30)
    assert abs(float(curve.share(value)) - wanted) <= 1.001 / PARTS + 1e-6


@EACH
def test_what_nobody_could_measure_earns_nothing(part: Component) -> None:
    if part.unit == "s":
        assert score(with_value(part, None)).total == 100 - part.points


@EACH
def test_a_component_costs_its_points_and_no_others(part: Component) -> None:
    if part.name != "retention":  # which is a factor as well
        worst = score(with_value(part, part.curve.zero))
        assert worst.total == 100 - part.points
        assert [(loss.what, loss.points) for loss in losses([worst])] == [(part.name, part.points)]


@given(RUNS)
def test_a_score_lies_between_nothing_and_all(run: Measures) -> None:
    assert 0 <= score(run).total <= 100


@given(RUNS)
def test_every_point_is_accounted_for(run: Measures) -> None:
    assert score(run).total + sum(loss.points for loss in losses([score(run)])) == 100


@given(st.lists(RUNS, min_size=1, max_size=4))
def test_losses_of_some_runs_are_the_mean_of_their_losses(runs: list[Measures]) -> None:
    scored = [score(run) for run in runs]
    assert mean(scored) + sum(loss.points for loss in losses(scored)) == 100
    ranked = [loss.points for loss in losses(scored)]
    assert ranked == sorted(ranked, reverse=True)


@given(RUNS, SHARES)
def test_ending_more_sessions_badly_never_helps(run: Measures, more: Fraction) -> None:
    assert score(replace(run, bad=max(run.bad, more))).total <= score(run).total


@given(RUNS, SHARES)
def test_forgetting_more_never_helps(run: Measures, less: Fraction) -> None:
    assert score(replace(run, retention=min(run.retention, less))).total <= score(run).total


@given(RUNS, SHARES)
def test_cutting_deeper_never_helps(run: Measures, less: Fraction) -> None:
    if run.spared is not None:
        assert score(replace(run, spared=min(run.spared, less))).total <= score(run).total


@given(RUNS)
def test_the_caps_hold(run: Measures) -> None:
    total = score(run).total
    assert total <= 20 or not run.ooms
    assert total <= 40 * (1 - run.bad) or run.bad <= Fraction(1, 4)
    assert total <= 40 or run.spared is None or run.spared >= Fraction(1, 4)
    assert total <= 30 or run.queued <= 20


def test_each_cap_is_named_where_it_binds() -> None:
    for change, cap, total in (
        ({"ooms": 1}, "crashed", 20),
        ({"bad": Fraction(1, 2)}, "broken", 20),
        ({"queued": 21}, "left", 30),
        ({"spared": Fraction(24, 100)}, "wiped", 40),
        ({"spared": Fraction(1, 4)}, "", 100),
        ({"queued": 20, "bad": Fraction(1, 4)}, "", 75),
    ):
        found = score(replace(BEST, **change))  # type: ignore[arg-type]
        assert (found.cap, found.total) == (cap, total)
        if cap:
            assert cap in {loss.what for loss in losses([found])}


def test_the_lowest_cap_counts() -> None:
    assert score(replace(BEST, ooms=1, bad=Fraction(3, 4), queued=99)).total == 10


# Means over five runs of a prototype; the third column is the score that it gave the policy.
PROTOTYPE = {
    "S2": (Measures(0, False, Fraction("0.122"), Fraction("0.172"), 0, Fraction("0.856"), 1, Fraction("0.502"), 0), 19.9),  # noqa: E501, FBT003
    "S3": (Measures(0, False, 3148, Fraction("0.748"), Fraction("0.021"), Fraction("0.463"), Fraction("0.747"), 0, 99), 30),  # noqa: E501, FBT003
    "S6": (Measures(0, False, Fraction("0.308"), Fraction("0.66"), Fraction("0.025"), Fraction("0.958"), Fraction("0.698"), 0, 0), 95.1),  # noqa: E501, FBT003
    "S5": (Measures(0, False, Fraction("0.842"), Fraction("1.222"), Fraction("0.166"), Fraction("0.895"), Fraction("0.605"), 0, 0), 84.6),  # noqa: E501, FBT003
    "X4": (Measures(0, False, Fraction("0.128"), Fraction("0.202"), Fraction("0.005"), Fraction("0.999"), Fraction("0.172"), 0, 0), 31.0),  # noqa: E501, FBT003
    "X6": (Measures(0, False, Fraction("0.422"), Fraction("9.27"), Fraction("0.046"), Fraction("0.954"), Fraction("0.688"), 0, 0), 84.2),  # noqa: E501, FBT003
    "X10": (Measures(0, False, Fraction("0.592"), Fraction("1.576"), Fraction("0.09"), Fraction("0.91"), Fraction("0.756"), 0, 0), 90.3),  # noqa: E501, FBT003
}  # fmt: skip


@pytest.mark.differential
@pytest.mark.parametrize("name", PROTOTYPE)
def test_a_prototype_gave_the_same_points_for_the_same_measures(name: str) -> None:
    run, wanted = PROTOTYPE[name]
    assert float(score(run).total) == pytest.approx(wanted, abs=0.8)  # a mean of scores is not the score of means


def foretold(said: float | None, measured: float | None) -> Fraction:
    exact = [None if number is None else Fraction(number) for number in (said, measured)]
    return Prediction(FORETOLD[0], *exact).earned


@pytest.mark.parametrize(
    ("said", "share"), [(100, 1), (90, 1), (110, 1), (89, 0.5), (111, 0.5), (50, 0.5), (200, 0.5), (49, 0), (201, 0)]
)
def test_a_prediction_earns_by_its_distance(said: float, share: float) -> None:
    assert foretold(said, 100) == Fraction(share)


def test_what_is_not_foretold_or_not_measured_earns_nothing() -> None:
    assert foretold(None, 5) == foretold(5, None) == 0
    assert earned(compared({}, {each.name: 1 for each in FORETOLD})) == 0
    assert earned(compared({FORETOLD[0].name: Fraction(1)}, {each.name: 1 for each in FORETOLD})) == Fraction(1, 3)


# The words of a report

TIMELINE = Timeline(600, ("under 5 min", "5 min and over"), ((0, 5, 9), (0, 0, 4)), 16)


def lines(*runs: Measures, unseen: bool = True) -> list[Line]:
    ran = tuple(Ran(run, score(run), TIMELINE, {"done": 1}) for run in runs)
    return list(report(Graded("{}", ran, compared({}, {}), unseen)))


@given(st.lists(RUNS, min_size=1, max_size=3), st.booleans())
def test_every_report_has_its_words(runs: list[Measures], unseen: bool) -> None:  # noqa: FBT001  drawn
    said = [str(line) for line in lines(*runs, unseen=unseen)]
    assert all(text and text.isprintable() for text in said)
    assert sum(text.startswith(("What cost most", "Nothing cost")) for text in said) == 1
    assert sum(" of 15 " in text for text in said) == 3


@pytest.mark.meta
def test_all_words_are_said_somewhere() -> None:
    worst = [
        ({}, {"nothing-lost", "score", "safety", "component", "predictions", "prediction", "in-all"}),
        ({}, {"timeline", "row"}),
        ({"new_wait": 60}, {"weakest"}),
        ({"overfull": True}, {"most-safety"}),
        ({"bad": Fraction(1, 5)}, {"bad", "most-bad"}),
        ({"retention": Fraction(1, 5)}, {"forgotten", "most-forgotten"}),
        ({"ooms": 1}, {"crashed", "most-crashed"}),
        ({"bad": Fraction(26, 100)}, {"broken", "most-broken"}),
        ({"spared": 0}, {"wiped", "most-wiped"}),
        ({"queued": 99}, {"left", "most-left"}),
    ]
    said = {"practice"}
    for change, codes in worst:
        found = {line.code for line in lines(replace(BEST, **change))}  # type: ignore[arg-type]
        assert codes <= found, change
        said |= found
    assert said == set(WORDS)
    assert lines(BEST, unseen=False)[0].code == "practice"
