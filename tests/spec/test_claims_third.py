"""The chapter's statements C113 to C170 and the conflicts: what running them says, and that it depends on the laws."""

import pytest

from spec import claims as claims_package
from spec.claims import (
    ASSUMES,
    FALSE,
    HOLDS,
    NOT_CHECKABLE,
    PENDING,
    Claim,
    Conflict,
    answers,
    answers_throughput,
    claims,
    code,
    conflicts,
    conflicts_of,
    contradictions,
    exercises,
    lab,
    tradeoffs,
)
from spec.index import laws
from spec.invariants.reference import Reference

pytestmark = pytest.mark.law

MODULES = (tradeoffs, code, lab, answers, answers_throughput, exercises)
CLAIMS: dict[str, Claim] = {claim.id: claim for module in MODULES for claim in module.CLAIMS}
IMPL = Reference()

VERDICTS = {
    HOLDS: "C113 C114 C116 C117 C118 C119 C126 C127 C128 C129 C130 C131 C132 C135 C137 C138 C140 C143 C155 C156 C158 "
    "C159 C161 C162 C163 C165 C169",
    ASSUMES: "C115 C120 C122 C124 C133 C134 C136 C142 C146 C147 C148 C150 C152 C160 C164",
    FALSE: "C121 C123 C125 C141 C144 C149 C151 C153 C154 C157 C166 C167 C168 C170",
    NOT_CHECKABLE: "C139 C145",
}
EXPECTED = {name: verdict for verdict, names in VERDICTS.items() for name in names.split()}

NUMBERS = {
    "C113": ("25 of 4,096", "12 of 8,192"),
    "C114": ("131 to 760 tok/s",),
    "C115": ("1.69 times",),
    "C117": ("3.86x", "6 to 25"),
    "C118": ("2.84x",),
    "C119": ("138 GB", "4 cards hold it"),
    "C121": ("131,072", "524,288", "120 instead of 30"),
    "C122": ("58 GB and 27", "54 GB and 25"),
    "C123": ("-7 sequences (-50",),
    "C124": ("50", "200,000", "102,996"),
    "C125": ("77 to 153", "39.6 %"),
    "C126": ("6.962 ms", "158.9x", "6.833 ms", "156.0x"),
    "C128": ("scores 4x", "cache 2x"),
    "C130": ("4,096 of 8,192", "50 %"),
    "C131": ("91.4 %", "4,480"),
    "C132": ("0.1560", "0.0065"),
    "C133": ("158.9x", "99.3x"),
    "C134": ("2.020x", "2.148x", "154"),
    "C135": ("1.269x", "0.257 us"),
    "C136": ("4.57x at 3,072", "9.3x"),
    "C137": ("1.75x", "product 8x", "135.8 to 620.4"),
    "C138": ("22.23 ms + 1718.93 ms of 255 steps = 1741.16 ms",),
    "C140": ("3 at 256, 8 at 1,024, 26 at 4,096",),
    "C141": ("16,777,216", "536,870,912", "32 times"),
    "C142": ("1.07 GB", "4.3 GB"),
    "C143": ("7.41 %", "13.8 %", "39 %"),
    "C144": ("cache 2.00x", "prefill time 2.15x", "decode step 1.14x", "0.97x with each batch full", "25 to 12"),
    "C146": ("25", "6 of 16,384"),
    "C147": ("4.00x", "4.89x"),
    "C148": ("1.07x alone", "1.53x by 8", "2.00x by 16"),
    "C149": ("1.07x", "1.57x", "2.09x", "2.62x", "1.24x"),
    "C151": ("3.79 %", "62 at 1, 88 at 128, 155 at 256"),
    "C153": (
        "6.14 s with nothing",
        "18 s with 12",
        "50.6 s with 6",
        "1.24 s with twice the memory",
        "0.44 s with twice",
    ),
    "C154": ("25 to 12 and 27 to 13",),
    "C155": ("17.2 GB", "4.62 s"),
    "C157": ("25 sequences to 50",),
    "C158": ("25 to 30", "9 to 14", "3 to 7", "126 to 361"),
    "C160": ("753", "126", "369 by 12", "49 %"),
    "C161": ("1.86x", "1.56x", "1.82x", "2.04x"),
    "C162": ("3,814", "0 sequences"),
    "C163": ("24.1 %", "42.5 %", "48 %"),
    "C164": ("2,807", "3,014", "2,563", "4,386"),
    "C165": ("40 ms and 200 ms", "5.75x"),
    "C166": ("215 %", "3.12 billion"),
    "C167": ("2000 ms", "200 tok/s", "151"),
    "C168": ("17.0 in service", "41 held", "33.3 %", "40.6", "1 GPU by memory", "2 by time"),
    "C170": ("17,600", "turn 27", "12 full windows"),
}

CONFLICT_NUMBERS = {
    "K1": ("108,000", "102,996 tokens, 25 and 12", "110,592 tokens, 27 and 13", "112,508 tokens, 27 and 13"),
    "K2": ("6.64x", "10.2x", "154"),
    "K3": ("2.00x", "2.15x", "25 to 12, 27 to 13"),
    "K4": ("1.07x at batch 1", "2.09x at batch 16", "2.62x at batch 25"),
    "K5": ("158.9x", "99.3x", "6.6 ms"),
    "K6": ("50,000 tok/s = MFU 2.15", "10,000 tok/s"),
    "K7": ("2000 ms", "151"),
    "K8": ("17.0", "41", "40.6"),
    "K10": ("26,702",),
    "K11": ("48,000 tokens: overflows 40 GB, fits 80 GB",),
    "K12": ("39.6 %",),
    "K13": ("120", "30"),
    "K14": ("58 GB and 27", "-7", "-50"),
    "K15": ("402", "1,609"),
    "K17": ("10.5 %", "64"),
    "K18": ("13 %", "21.7 %"),
    "K19": ("42.0 GB to 56.43 GB", "80,108 to 107,631", "19 to 26"),
    "K20": ("16,777,216", "536,870,912"),
    "K22": ("51,152",),
}

WRONG_LAWS = [
    ("C122", "kv_budget", "margin-forgotten", HOLDS),
    ("C128", "attention_scores_per_head", "linear", FALSE),
    ("C134", "prefill_time", "compute-only", HOLDS),
    ("C135", "decode_bytes", "cache-unread", FALSE),
    ("C138", "total_time", "first-token-decoded", FALSE),
    ("C141", "attention_scores_per_layer", "heads-forgotten", HOLDS),
    ("C148", "decode_bytes", "cache-unread", HOLDS),
    ("C149", "decode_bytes", "cache-unread", HOLDS),
    ("C165", "ttft", "ratio-inverted", FALSE),
]


def test_every_statement_of_these_sections_is_there() -> None:
    assert sorted(CLAIMS, key=lambda name: int(name[1:])) == [f"C{i}" for i in range(113, 171)]
    assert CLAIMS.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", CLAIMS)
def test_running_a_statement_gives_its_verdict_and_its_numbers(name: str) -> None:
    claim = CLAIMS[name]
    assert claim.verdict(IMPL) == EXPECTED[name]
    outcome = claim.outcome(IMPL)
    shown = "" if outcome is None else outcome.computed
    assert [number for number in NUMBERS.get(name, ()) if number not in shown] == []


@pytest.mark.parametrize("name", CLAIMS)
def test_what_only_assumes_something_names_it(name: str) -> None:
    claim = CLAIMS[name]
    outcome = claim.outcome(IMPL)
    assert bool(claim.assumption) == (outcome is not None and outcome.assuming is not None)
    assert bool(claim.unchecked) == (claim.check is None)


@pytest.mark.parametrize(("name", "law", "slip", "verdict"), WRONG_LAWS)
def test_a_wrong_law_turns_the_verdict(name: str, law: str, slip: str, verdict: str) -> None:
    right = laws()[law]
    wrong = next(s for s in right.slips if s.slug == slip)
    assert CLAIMS[name].verdict(Reference({law: right.with_slip(wrong)})) == verdict != EXPECTED[name]


@pytest.mark.parametrize("found", conflicts().values(), ids=conflicts())
def test_a_conflict_computes_its_numbers_and_names_its_statements(found: Conflict) -> None:
    shown = found.computed(IMPL)
    assert [number for number in CONFLICT_NUMBERS.get(found.id, ()) if number not in shown] == []
    assert shown
    assert all(found.id in conflicts_of(claims()[name]) for name in found.claims)
    assert len(set(found.claims)) == len(found.claims) > 1


def test_every_conflict_and_every_statement_is_there() -> None:
    assert list(conflicts()) == [f"K{i}" for i in range(1, 23)]
    assert list(claims()) == [f"C{i}" for i in range(1, 178)]


def test_no_statement_waits_to_be_checked() -> None:
    assert [claim.id for claim in claims().values() if claim.verdict(IMPL) == PENDING] == []


@pytest.mark.parametrize("name", claims())
def test_contradicting_is_mutual_and_names_statements_that_are_there(name: str) -> None:
    others = contradictions(claims()[name])
    assert set(others) <= claims().keys() - {name}
    assert all(name in contradictions(claims()[other]) for other in others)


def test_no_module_hides_what_the_package_offers() -> None:
    assert callable(claims_package.claims)
    assert callable(claims_package.conflicts)
