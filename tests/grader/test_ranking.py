"""Rankings: however they are typed one reading, and a score that counts pairs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.exercise import Part, SlipValue
from grader.feedback import message
from grader.judging import judge
from grader.judging.ranking import tau
from grader.reading.ranking import Ranking, ranking_of, read_ranking, written

pytestmark = pytest.mark.law

LABELS = tuple("abcde")


@st.composite
def rankings(draw: st.DrawFn) -> Ranking:
    """Draw weak orders of five labels."""
    order = draw(st.permutations(LABELS))
    cuts = sorted(draw(st.sets(st.integers(1, len(order) - 1))))
    return tuple(tuple(order[a:b]) for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True))


def part(key: str | None, **more: object) -> Part:
    return Part("a", "actions", "Rank them.", "ranking", key, options=LABELS, **more)  # type: ignore[arg-type]


@given(rankings())
def test_what_is_written_is_read_back(ranking: Ranking) -> None:
    assert ranking_of(written(ranking)) == ranking == read_ranking(written(ranking), LABELS)


@given(rankings())
def test_the_reading_of_an_answer_is_judged_alike(ranking: Ranking) -> None:
    first = judge(part("c = d = e > a > b"), written(ranking))
    again = judge(part("c = d = e > a > b"), first.reading)
    assert (again.verdict, again.score, again.reading) == (first.verdict, first.score, first.reading)


@given(rankings(), rankings())
def test_the_score_counts_pairs(key: Ranking, ranking: Ranking) -> None:
    def above(order: Ranking, one: str, other: str) -> int:
        place = {label: n for n, level in enumerate(order) for label in level}
        return (place[one] < place[other]) - (place[one] > place[other])

    signs = [above(key, *pair) * above(ranking, *pair) for pair in combinations(LABELS, 2)]
    told_apart = sum(above(key, *pair) != 0 for pair in combinations(LABELS, 2))
    found = tau(key, ranking)
    assert found == (Fraction(sum(signs), told_apart) if told_apart else 1)
    judgement = judge(part(written(key)), written(ranking))
    assert judgement.score == max(0, found)
    assert judgement.verdict == ("correct" if found == 1 else "partial" if found > 0 else "incorrect")


@given(rankings())
def test_the_key_is_right_and_its_reverse_is_worth_nothing(key: Ranking) -> None:
    assert tau(key, key) == 1
    assert tau(key, key[::-1]) == (-1 if len(key) > 1 else 1)


@given(rankings(), st.randoms())
def test_what_the_key_calls_equal_may_come_in_any_order(key: Ranking, random: object) -> None:
    levels = [sorted(level, key=lambda _: random.random()) for level in key]  # type: ignore[attr-defined]
    assert tau(key, tuple((label,) for level in levels for label in level)) == 1


@pytest.mark.parametrize(
    "typed",
    [
        *("c = d = e > a > b", "c=d=e>a>b", "C=D=E > A > B", "c == d == e -> a => b", "c ~ d ~ e → a → b"),
        *("c ≈ d ≈ e then a then b", "e = d = c ≻ a ≻ b", "c=d=e ⇒ a ⇒ b", "c=d=e>>a>b"),
        "c\uff1dd\uff1de\uff1ea\uff1eb",
    ],
)
def test_one_ranking_has_many_spellings(typed: str) -> None:
    assert [set(level) for level in read_ranking(typed, LABELS)] == [set("cde"), {"a"}, {"b"}]


@pytest.mark.parametrize(
    "typed",
    ["c, d, e, a, b", "(c; d; e; a; b)", "c d e a b", "cdeab", "c\nd\ne\na\nb", "c > d > e > a > b", "c then d>e>a>b"],
)
def test_a_plain_list_is_a_strict_order(typed: str) -> None:
    assert written(read_ranking(typed, LABELS)) == "c > d > e > a > b"


@pytest.mark.parametrize(
    ("typed", "code", "named"),
    [
        ("c = d > a > b", "ranking-missing", "e"),
        ("c, d", "ranking-missing", "a, b, e"),
        ("c = c > d > e > a > b", "ranking-repeated", "c"),
        ("b < a < c < d < e", "ranking-reversed", "<"),
        ("a >= b > c > d > e", "ranking-unclear", ">="),
        ("a ≥ b > c > d > e", "ranking-unclear", ">="),
        ("a, b > c > d > e", "ranking-unclear", ","),
        ("a b > c > d > e", "ranking-unclear", " "),
        ("a or b > c > d > e", "alternatives", "or"),
        ("a > b > c > d > f", "unknown-label", "f"),
        ("a > b > c > d > e >", "ranking-dangling", ""),
        ("", "blank", ""),
        ("a" * 500, "too-long", "400"),
    ],
)
def test_what_is_no_ranking_is_complained_about_and_costs_nothing(typed: str, code: str, named: str) -> None:
    judgement = judge(part("c = d = e > a > b"), typed)
    assert (judgement.verdict, judgement.findings[0].code) == ("invalid", code)
    assert named in judgement.findings[0].about.values() or not named
    assert "{" not in message(judgement, part("a"))


def test_the_pair_farthest_apart_is_named() -> None:
    judgement = judge(part("a > b > c > d > e"), "e > b > c > d > a")
    assert judgement.findings[-1].about == {"first": "a", "second": "e"}
    assert "a and e are the wrong way round." in message(judgement, part("a"))
    level = judge(part("a > b > c > d > e"), "a > b > c > d = e")
    assert level.score == Fraction(9, 10)
    assert "d and e are not equal." in message(level, part("a"))


def test_a_slip_is_named_in_whatever_order_its_equals_come() -> None:
    slips = (SlipValue("more-slots", "More slots do not help.", "b > a = c > d = e"),)
    found = judge(part("c = d = e > a > b", slips=slips), "b > c = a > e = d")
    assert [d.slip for d in found.diagnoses] == ["more-slots"]
    assert not judge(part("c = d = e > a > b", slips=slips), "b > c > a > e = d").diagnoses


def test_none_is_an_answer() -> None:
    assert judge(part(None, reason="All are equal."), "none").verdict == "correct"
    assert judge(part(None, reason="All are equal."), "a > b > c > d > e").verdict == "incorrect"
    assert judge(part("c = d = e > a > b"), "none").verdict == "incorrect"


@pytest.mark.fuzz
@given(st.text(st.sampled_from("abcde>=<,;~ -→thenor\n(){}[]0"), max_size=60))
def test_no_text_makes_it_raise(typed: str) -> None:
    found = judge(part("c = d = e > a > b"), typed)
    assert 0 <= found.score <= 1
    assert (found.verdict == "correct") == (found.score == 1)
