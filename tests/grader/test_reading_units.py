"""Units: the closed table in any spelling, products of powers, and names that must not be taken for one another."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grader.exercise import Part
from grader.judging import judge
from grader.reading import unit_names
from grader.reading.text import Unreadable
from grader.reading.unit_reader import ReadUnit, asked_unit, read_unit
from spec.units import BASES, NO_DIMENSION, TABLE, Dimension, unit

NAMES = sorted(set(unit_names.symbols()) - {"1"})
POWERS = st.lists(st.tuples(st.sampled_from(sorted(TABLE)), st.integers(-3, 3).filter(bool)), min_size=1, max_size=4)


def _read(text: str, asked: Dimension = NO_DIMENSION) -> ReadUnit:
    return read_unit(text, "si", asked, 0)


def _same(one: ReadUnit, other: ReadUnit) -> bool:
    return (one.factor, one.dimension, one.foreign) == (other.factor, other.dimension, other.foreign)


@pytest.mark.law
@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_unit_of_the_specification_is_read(name: str) -> None:
    assert _same(_read(name), ReadUnit(unit(name).factor, unit(name).dimension))


@pytest.mark.roundtrip
@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_printed_as_one_that_reads_back(name: str) -> None:
    read = _read(name, unit_names.symbols()[name].dimension)
    assert _same(_read(read.name(), read.dimension), read)
    assert _same(_read(read.name(plural=True), read.dimension), read)


@pytest.mark.law
def test_no_name_has_two_meanings() -> None:
    known = unit_names.symbols()
    assert not set(known) & unit_names.FOREIGN
    assert not set(unit_names.words()) & {word.casefold() for word in unit_names.FOREIGN_WORDS}
    assert not set(known) & unit_names.LONE_PREFIXES
    assert not set(known) & set(unit_names.MEANT)
    for word, of in unit_names.words().items():
        assert known.get(word, of) == of


@pytest.mark.law
def test_words_are_read_in_any_case_and_symbols_are_not() -> None:
    assert _same(_read("TOKENS/SECOND"), _read("token/s"))
    assert not _same(_read("Mb"), _read("MB"))
    with pytest.raises(Unreadable):
        _read("gb")


@pytest.mark.roundtrip
@given(POWERS)
def test_a_product_of_powers_is_printed_so_that_it_reads_back(powers: list[tuple[str, int]]) -> None:
    expected, dimension = Fraction(1), NO_DIMENSION
    for name, power in powers:
        expected *= TABLE[name].factor ** power
        dimension = tuple(a + power * b for a, b in zip(dimension, TABLE[name].dimension, strict=True))
    text = "*".join(f"{name}^{power}" for name, power in powers)
    try:
        read = _read(text)
    except Unreadable as complaint:
        assume(complaint.why != "unit-power")  # one name to a power beyond any use
        raise
    assert (read.factor, read.dimension) == (expected, dimension)
    assert read.name() == "" or _same(_read(read.name()), read)


@pytest.mark.differential
@given(st.lists(st.sampled_from(["GB", "s", "token", "GPU", "$"]), min_size=1, max_size=4, unique=True))
def test_the_spelling_of_the_specification_and_the_reader_agree_on_quotients(names: list[str]) -> None:
    text = "/".join(names)
    assert _same(asked_unit(text), _read(text))


@pytest.mark.law
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("TB/s/GPU", "TB/(s*GPU)"),
        ("TB/s/GPU", "TB s^-1 GPU^-1"),
        ("TB/s/GPU", "TB per second per GPU"),
        ("$/GPU/h", "$/GPU-hour"),
        ("$/GPU/h", "$ per GPU hour"),
        ("$/Mtoken", "$ per million tokens"),
        ("$/Mtoken", "$/1M tokens"),
        ("$/ktoken", "$ per 1000 tokens"),
        ("1/s", "/s"),
        ("1/s", "Hz"),
        ("bit/s", "bps"),
        ("GB/s", "GBps"),
        ("token/s", "tps"),
        ("request/min", "RPM"),
        ("FLOP/s", "FLOPS"),
        ("FLOP/s", "FLOPs/s"),
        ("KiB/token", "KiB*token^(-1)"),
    ],
)
def test_spellings_of_one_unit(one: str, other: str) -> None:
    assert _same(_read(one), _read(other))


@pytest.mark.law
@pytest.mark.parametrize(
    ("text", "asked", "why"),
    [
        ("G", "B", "lone-prefix"),
        ("K", "B", "lone-prefix"),
        ("m", "s", "ambiguous-unit"),
        ("TFLOPs", "FLOP/s", "ambiguous-unit"),
        ("TB/s GPU", "TB/s/GPU", "ambiguous-unit-product"),
        ("gb", "B", "unknown-unit"),
        ("bananas", "B", "unknown-unit"),
        ("GB or MB", "B", "two-answers"),
        ("e", "1", "incomplete-exponent"),
        ("GB/", "B", "dangling-unit"),
        ("GB//s", "B/s", "dangling-unit"),
        ("(GB", "B", "missing-bracket"),
        ("s-1", "1/s", "unit-power"),
        ("s2", "s", "unit-power"),
        ("GB^", "B", "unit-power"),
        ("GB^0", "B", "unit-power"),
        ("(GB)^2", "B", "unit-power"),
        ("tokens/(2 s)", "token/s", "number-in-unit"),
        ("min 20 s", "s", "two-numbers"),
        ("GB + GB", "B", "sum"),
        ("GB = 3", "B", "equation"),
        ("\u0412", "B", "character"),
        ("((((((((GB))))))))", "B", "too-deep"),
    ],
)
def test_what_is_asked_back(text: str, asked: str, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        _read(text, asked_unit(asked).dimension)
    assert caught.value.why == why


@pytest.mark.law
def test_the_sloppy_kilobyte_is_what_the_exercise_declares() -> None:
    assert read_unit("KB", "si", NO_DIMENSION, 0).factor == 1000
    assert read_unit("KB/token", "binary", NO_DIMENSION, 0).factor == 1024
    assert read_unit("kB", "binary", NO_DIMENSION, 0).factor == 1000
    with pytest.raises(Unreadable) as caught:
        read_unit("KB", "", NO_DIMENSION, 0)
    assert caught.value.why == "kilobyte"


@pytest.mark.law
@pytest.mark.parametrize("name", ["rad", "Hz rad", "kg", "furlongs", "V", "GJ", "mol", "°C", "€"])
def test_units_of_other_fields_are_known_as_such(name: str) -> None:
    assert _read(name).foreign


@pytest.mark.law
@pytest.mark.parametrize(
    ("word", "asked", "meant"),
    [
        ("gb", "B", {"GB", "Gbit"}),
        ("kib", "B", {"KiB", "Kibit"}),
        ("S", "s", {"s"}),
        ("Go", "B", {"GB"}),
        ("G", "B", {"GB", "Gbit"}),
        ("K", "B", {"kB", "KiB"}),
        ("secnds", "s", {"seconds"}),
        ("gflops", "FLOP/s", {"GFLOPS"}),
        ("t", "token", {"token"}),
    ],
)
def test_near_misses_are_suggested(word: str, asked: str, meant: set[str]) -> None:
    assert meant <= set(unit_names.nearest(word, asked_unit(asked).dimension))


def test_the_echo_counts_in_plurals() -> None:
    assert _read("tok/s").name(plural=True) == "tokens/s"
    assert _read("GB").name(plural=True) == "GB"
    assert len(BASES) == len(NO_DIMENSION)


@pytest.mark.parametrize("prefix", ["", "k", "M", "G", "T", "P"])
def test_hertz_is_a_rate_of_nothing_counted_at_every_prefix(prefix: str) -> None:
    part = Part("a", "x", "", "quantity", "10", "GB/s")
    assert judge(part, f"80 {prefix}Hz").verdict == "incorrect"
