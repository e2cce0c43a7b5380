"""The certificates are fresh and promise enough. `make certify` writes them."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from typing import Any

import pytest

from grader import certify
from grader.exercise import Exercise, Part, SlipValue, Tolerance
from grader.families import family, slugs
from grader.posing import Rejected
from tests.problems.seeds import DEEP, DRAWN, NUMERIC, PRESETS, numeric_family

pytestmark = pytest.mark.law


def read(slug: str) -> dict[str, Any]:
    return tomllib.loads((certify.FOLDER / f"{slug}.toml").read_text(encoding="utf-8"))


def test_every_family_has_one_and_nothing_else_does() -> None:
    assert sorted(path.stem for path in certify.FOLDER.glob("*.toml")) == slugs()


@pytest.mark.parametrize("slug", DRAWN)
def test_it_is_of_this_revision_and_grid(slug: str) -> None:
    found, grid = read(slug), family(slug).grid
    assert (found["family"], found["revision"], found.get("grid")) == (slug, family(slug).revision, grid)
    counted = found["with_an_answer"] + found["without_an_answer"] + sum(found["rejected"].values())
    assert found["tried"] == counted >= (certify.CASES if grid is None else min(grid, certify.SAMPLE))


@pytest.mark.parametrize("slug", DRAWN)
def test_its_slice_is_computed_again(slug: str) -> None:
    assert read(slug)["slice"] == {"points": certify.SLICE, "digest": certify.digest(slug, family(slug))}, (
        f"the certificate of {slug} is out of date: run `make certify`"
    )


@pytest.mark.parametrize("slug", PRESETS)
def test_that_of_a_preset_is_computed_again(slug: str) -> None:
    assert (certify.FOLDER / f"{slug}.toml").read_text(encoding="utf-8") == certify.preset_text(
        slug, numeric_family(slug)
    )


@pytest.mark.slow
@pytest.mark.skipif(not DEEP, reason="minutes; runs under make deep")
@pytest.mark.parametrize("slug", DRAWN)
def test_all_of_it_is_computed_again(slug: str) -> None:
    text = (certify.FOLDER / f"{slug}.toml").read_text(encoding="utf-8")
    assert text == certify.certificate(slug, family(slug)).text()


@pytest.mark.parametrize("slug", NUMERIC)
def test_it_promises_enough(slug: str) -> None:
    found = read(slug)
    assert found["slips"]["min"] >= 4
    assert Fraction(found["closest"].get("relative", "2")) >= 2
    assert Fraction(found["closest"].get("absolute", "1")) >= 1
    assert found["seeds"]["points_per_seed_max"] < 200
    assert found["grid"] >= 2000
    share = Fraction(found["seeds"]["without_an_answer"], found["seeds"]["tried"])
    if numeric_family(slug).infeasible:
        assert Fraction(15, 100) <= share <= Fraction(20, 100)
        assert found["without_an_answer"] > 0
    else:
        assert share == found["without_an_answer"] == 0


def exercise(key: str | None, *slips: str | None, tolerance: str = "") -> Exercise:
    part = Part(
        part="a",
        asks="context",
        question="?",
        kind="quantity" if tolerance else "count",
        key=key,
        tolerance=Tolerance("relative", tolerance) if tolerance else Tolerance("exact", "0"),
        slips=tuple(SlipValue(f"slip-{i}", "", value) for i, value in enumerate(slips)),
    )
    return Exercise("f", 1, 0, "", (), (part,))


def test_a_tally_counts_what_it_is_given() -> None:
    tally = certify.Tally()
    tally.count(exercise("100", "103", "90", "90"), ["slip-0", "slip-1", "slip-2", "slip-3"])
    tally.count(exercise("100", "104", None, tolerance="0.01"), ["slip-0", "slip-1"])
    tally.count(exercise(None, "7"), ["slip-0"])
    tally.count(Rejected("too dull"), [])
    assert (tally.feasible, tally.infeasible, tally.rejected) == (2, 1, {"too dull": 1})
    assert tally.slips == [2, 2]
    assert tally.same == {"slip-3": 1}
    assert (tally.absolute, tally.relative) == (3, 4)


@pytest.mark.parametrize("grid", [1, 2, 7, 360, 14976])
def test_the_order_goes_through_the_whole_grid(grid: int) -> None:
    assert sorted(certify.order(grid)) == list(range(grid))


@pytest.mark.parametrize("radix", [2, 3, 5, 12])
def test_the_order_spreads_over_every_dimension(radix: int) -> None:
    first = [point % radix for point, _ in zip(certify.order(radix * 5000), range(10 * radix), strict=False)]
    assert {first.count(i) for i in range(radix)} == {10}
