"""Whatever is pasted, `grade diagnose` answers with a verdict or with one sentence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.calc.givens import Unusable
from grader.diagnosing import Published, read_published
from grader.diagnosing.question import Question, asked, question
from grader.diagnosing.synonyms import BITS, MIXED, QUANTITIES, spelled
from spec import catalog
from spec.quantities import quantities

pytestmark = pytest.mark.fuzz

WORDS = st.sampled_from(
    [*"0123456789.,~=-/%()eExX ", "GB", "KB", "Mb", "tok/s", "ms", "per token", "about ", "7B", "FLOPS"]
)
PASTED = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=12).map("".join))
NAMES = st.sampled_from([*quantities(), *QUANTITIES, "dtype", "kv_dtype", "blocks", "efficiency", "achieved", "rate"])
VALUES = st.one_of(PASTED, st.sampled_from([*BITS, *MIXED, "4K", "128k", "1m", "14GB", "10%", "yes"]))


@given(st.sampled_from(sorted(quantities())), PASTED)
@settings(deadline=None)
def test_a_pasted_number_is_read_or_refused_in_one_sentence(name: str, text: str) -> None:
    try:
        readings = read_published(quantities()[name], text)
    except Unusable:
        return
    assert readings
    assert all(isinstance(reading, Published) and reading.half >= 0 and reading.loose >= 0 for reading in readings)


@given(st.sampled_from(sorted(quantities())), st.lists(st.tuples(NAMES, VALUES), max_size=3))
@settings(deadline=None)
def test_givens_are_read_or_refused_in_one_sentence(name: str, values: list[tuple[str, str]]) -> None:
    typed = [f"{left}={right}" for left, right in values]
    try:
        found = question(asked(name, "1 GB", typed), typed)
    except Unusable:
        return
    assert isinstance(found, Question)
    assert all(value in quantities()[given].domain for given, value in found.given.items() if given in quantities())


def test_every_word_for_a_quantity_means_one_and_hides_none() -> None:
    assert set(QUANTITIES.values()) <= quantities().keys()
    assert quantities().keys().isdisjoint(QUANTITIES)


@pytest.mark.parametrize("row", [*catalog.models().values(), *catalog.gpus().values()], ids=lambda row: row.name)
def test_every_row_is_found_as_it_is_spelled_elsewhere(row: catalog.Model | catalog.GPU) -> None:
    table = catalog.models() if isinstance(row, catalog.Model) else catalog.gpus()
    for spelling in (row.name.upper(), row.name.replace("-", " "), f"NVIDIA {row.name}", f"some/{row.name}"):
        assert spelled(spelling, table) in {spelling, *row.names}  # type: ignore[arg-type]
        assert table.taken(spelled(spelling, table)) is row  # type: ignore[attr-defined]
