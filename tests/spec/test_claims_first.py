"""The chapter's statements C1 to C57: what running them says, and that it depends on the laws."""

from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from operator import le

import pytest

from spec.catalog import models
from spec.claims import (
    ASSUMES,
    FALSE,
    HOLDS,
    NOT_CHECKABLE,
    Claim,
    architecture,
    architecture_phases,
    concepts,
    story,
    why,
)
from spec.claims.definite import NoValueError
from spec.claims.settings import Serving, first, kv_budget, parameters, rounds_to, text, within
from spec.index import laws
from spec.invariants.reference import Reference
from spec.mutants import mutants

pytestmark = pytest.mark.law

CLAIMS = {
    claim.id: claim for module in (story, why, concepts, architecture, architecture_phases) for claim in module.CLAIMS
}
IMPL = Reference()

VERDICTS = {
    HOLDS: "C3 C6 C7 C11 C13 C15 C17 C18 C19 C23 C25 C26 C27 C30 C34 C35 C36 C41 C42 C44 C45 C46 C50 C51 C52 C55 C57",
    ASSUMES: "C1 C2 C4 C5 C8 C10 C12 C20 C21 C22 C24 C28 C29 C32 C33 C37 C38 C39 C40 C43 C48 C54 C56",
    FALSE: "C9 C16 C31 C47 C49 C53",
    NOT_CHECKABLE: "C14",
}
EXPECTED = {claim: verdict for verdict, ids in VERDICTS.items() for claim in ids.split()}

NUMBERS = {
    "C1": ("0.32 %", "3.2 %", "15 %", "28 %", "52 %"),
    "C2": ("3,814", "34,332"),
    "C3": ("76 GB of 80 GB", "95 %"),
    "C4": ("26,702", "from 5 at once"),
    "C5": ("3.86", "20,600", "13 documents of 8,000", "21 of 5,000"),
    "C6": ("102,996", "96,000", "80,000", "128,000", "83,000"),
    "C7": ("102,996", "192,000", "1,377"),
    "C8": ("8 never start", "75 s"),
    "C9": ("30 times in static", "18 times in continuous", "0 and 0 times"),
    "C10": ("admit 4", "26,702", "admits 3"),
    "C11": ("200 of 200 documents", "0 times"),
    "C12": ("2.04 at 1,000", "2.15 at 4,096", "2.28 at 8,192", "2.49 at 16,384", "51,152"),
    "C13": ("0.2 %",),
    "C16": ("8,390,656 of 16,777,216",),
    "C18": ("744",),
    "C19": ("63 + 194 against 256",),
    "C20": ("26,703", "122,533"),
    "C21": ("v100 140", "a100-80gb 154", "a100-40gb 202", "t4 204", "h200 207", "h100 297", "l4 407", "l40s 423"),
    "C24": ("7.24", "169 tokens", "823"),
    "C25": ("158.9", "14.8"),
    "C26": ("3.5 %", "97 %"),
    "C27": ("v100 139", "a100-80gb 153", "a100-40gb 201", "t4 203", "h200 206", "h100 295", "l4 403", "l40s 419"),
    "C28": ("981", "10 at 10"),
    "C31": ("6.58 ms",),
    "C32": ("403", "257"),
    "C33": ("llama-2-7b -0.502 %", "opt-6.7b 2.94 %", "falcon-7b 23.1 %", "qwen2.5-7b -29 %", "mixtral-8x7b -85.6 %"),
    "C34": ("4 + 8 = 12", "12.0625"),
    "C35": ("14 GB = 13.04 GiB", "13.41 GB = 12.49 GiB", "13.48 GB = 12.55 GiB"),
    "C37": ("llama-3-8b 4", "llama-2-70b 8", "qwen2.5-7b 7", "falcon-7b 71", "gemma-7b 0.75"),
    "C38": ("524,288 bytes = 512 KiB",),
    "C40": ("20 GiB = 21.47 GB in total",),
    "C43": ("25 to 12 with GB", "27 to 13 with GiB"),
    "C44": ("33.6 MB", "134 MB", "524 MB", "1,074 MB"),
    "C45": ("0.819 MB", "3.2 MB"),
    "C46": ("8 GB to 16 GB of 80 GB", "10 %"),
    "C48": ("1,024",),
    "C49": ("a100-80gb 6.64", "a100-40gb 5.06", "h100 3.44", "10.2", "149 ms", "67.8 ms"),
    "C50": ("16.147 GB", "7.92 ms = 126", "10.4 ms = 96.3"),
    "C51": ("524,288", "0.257 us"),
    "C52": ("13.8 %",),
    "C53": ("524,288", "64,000"),
    "C54": ("v100 144", "a100-80gb 159", "h100 307", "l40s 435", "99.3"),
    "C55": ("20 ms", "39.6 %", "51.9 %"),
    "C56": ("40 times", "400", "6.6 ms"),
    "C57": ("6.6 GB to 13.2 GB", "12.1 %"),
}


def named(ids: Iterable[str]) -> list[Claim]:
    return [CLAIMS[name] for name in ids]


def test_every_statement_from_the_story_to_the_budget_is_there_once() -> None:
    assert sorted(CLAIMS, key=lambda name: int(name[1:])) == [f"C{number}" for number in range(1, 58)]
    assert sum(len(module.CLAIMS) for module in (story, why, concepts, architecture, architecture_phases)) == len(
        CLAIMS
    )
    assert EXPECTED.keys() == CLAIMS.keys()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_running_a_statement_gives_its_verdict(claim: Claim) -> None:
    assert claim.verdict(IMPL) == EXPECTED[claim.id]


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_an_assumption_is_named_exactly_where_one_is_needed(claim: Claim) -> None:
    outcome = claim.outcome(IMPL)
    assert bool(claim.assumption) == (EXPECTED[claim.id] == ASSUMES)
    assert outcome is None or (outcome.assuming is not None) == bool(claim.assumption)


@pytest.mark.parametrize("claim", named(NUMBERS), ids=NUMBERS)
def test_the_decisive_numbers_are_computed(claim: Claim) -> None:
    outcome = claim.outcome(IMPL)
    assert outcome is not None
    assert [number for number in NUMBERS[claim.id] if number not in outcome.computed] == []


TURNED = [
    ("kv_bytes_per_token", "drop the factor 2", "C20", FALSE),
    ("kv_bytes_per_token", "drop the factor 2", "C37", FALSE),
    ("kv_bytes_per_sequence", "drop the factor context", "C42", FALSE),
    ("attention_scores_per_head", "drop the power of context", "C17", FALSE),
    ("decode_matrix_flops", "drop the factor batch", "C24", HOLDS),
    ("decode_rate", "invert the power of decode_step_time", "C55", FALSE),
    ("flops_per_token", "drop the factor 2", "C21", FALSE),
    ("prefill_bytes", "drop the term weights", "C31", HOLDS),
    ("ttft", "drop the term wait", "C22", HOLDS),
    ("within_slots", "raise slots by one power", "C32", HOLDS),
]


@pytest.mark.parametrize(("law", "change", "claim", "verdict"), TURNED)
def test_a_mutated_law_turns_a_verdict(law: str, change: str, claim: str, verdict: str) -> None:
    [faulty] = [mutant.faulty for mutant in mutants(laws()[law]) if mutant.change == change]
    assert CLAIMS[claim].verdict(Reference({law: faulty})) == verdict != EXPECTED[claim]


@pytest.mark.parametrize("name", [name for name, row in models().items() if row.kv_lora_rank is None])
def test_the_parameters_of_every_model_without_latent_attention_are_counted(name: str) -> None:
    assert parameters(IMPL, name) == models()[name].parameters


def test_numbers_are_written_short_and_not_wrong() -> None:
    values = (7, Fraction(10**6, 3), Fraction(2, 3), Fraction(257, 10**9), Fraction(1999, 2))
    assert [text(value) for value in values] == ["7", "333,333", "0.667", "0.000000257", "1000"]
    assert [rounds_to(Fraction(value), 3) for value in ("2.49", "2.5", "3.5", "3.51")] == [False, True, True, False]
    assert [within(value, 1, 3) for value in (0, 1, 3, 4)] == [False, True, True, False]


def test_the_example_budget_is_read_both_ways() -> None:
    at = Serving(IMPL)
    budgets = [kv_budget(IMPL), kv_budget(IMPL, unit=2**30), kv_budget(IMPL, "a100-40gb")]
    assert [at.token_capacity(budget) for budget in budgets] == [102_996, 110_592, 26_702]


def test_the_smallest_number_is_found() -> None:
    assert [first(partial(le, least)) for least in (1, 2, 1_000)] == [1, 2, 1_000]
    with pytest.raises(NoValueError, match="nothing up to 8 is enough"):
        first(lambda value: value > 8, high=8)
