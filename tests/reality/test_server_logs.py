"""The cache law against what servers logged at start-up: memory for the cache, the tokens it holds, how many fit.

`server_logs.tsv` holds lines of public vLLM and SGLang logs, each with its source; memory is GiB to two decimals.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import pytest

from spec.laws import Law
from spec.memory import holds_tokens, kv_bytes_per_sequence
from spec.scaling import kv_bytes_per_token_per_gpu
from spec.solving import Exact

pytestmark = pytest.mark.reality

GIB = 2**30
HALF_A_DIGIT = Fraction(5, 1000)
SHAPE = "dims(L,kv,head|mla_latent)"
SUMMED = {"F04"}  # keys and values are printed apart, each rounded
# The log is of one rank, but the rank with the least memory decides how many tokens all of them hold.
OTHER_RANK_BINDS = {"F19", "F20"}
# Their other layers keep a state of fixed size in the same memory, which the cache of the attention layers leaves out.
HYBRID = {"F37", "F38"}
with (Path(__file__).parents[1] / "data" / "server_logs.tsv").open(encoding="utf-8", newline="") as file:
    ROWS = {row["id"]: row for row in csv.DictReader(file, delimiter="\t")}
POOLED = sorted(name for name, row in ROWS.items() if row["kv_mem_gib_reported"] and row[SHAPE])
NEEDED = sorted(name for name, row in ROWS.items() if row["needed_gib_for_max_len"])
FITTING = sorted(name for name, row in ROWS.items() if row["max_concurrency_reported"])


def bytes_per_token(row: dict[str, str], law: Law = kv_bytes_per_token_per_gpu) -> Exact:
    layers, kv_heads, head_dim = map(int, row[SHAPE].split(","))
    return Fraction(
        law(
            layers=layers,
            kv_heads=kv_heads,
            head_dim=head_dim,
            kv_width=int(row["kv_dtype_bytes"]),
            tensor_parallel=int(row["tp"]),
        )
    )


def tokens(row: dict[str, str], gib: Fraction, per_token: Exact) -> int:
    """Return the tokens of the whole blocks that so much memory holds."""
    block = int(row["block"])
    blocks = holds_tokens.solve("token_capacity", kv_budget=gib * GIB, kv_bytes_per_token=block * per_token)
    assert isinstance(blocks, int)
    return blocks * block


def possible(name: str, law: Law = kv_bytes_per_token_per_gpu) -> range:
    """Return the tokens that the printed memory may hold, by its rounding."""
    row, off = ROWS[name], HALF_A_DIGIT * (2 if name in SUMMED else 1)
    memory, per_token = Fraction(row["kv_mem_gib_reported"]), bytes_per_token(ROWS[name], law)
    return range(tokens(row, memory - off, per_token), tokens(row, memory + off, per_token) + 1)


@pytest.mark.parametrize("name", sorted(set(POOLED) - OTHER_RANK_BINDS - HYBRID))
def test_the_tokens_lie_where_the_printed_memory_allows(name: str) -> None:
    assert int(ROWS[name]["kv_tokens_reported"]) in possible(name)


@pytest.mark.parametrize("name", sorted(OTHER_RANK_BINDS | HYBRID))
def test_a_rank_with_more_memory_and_a_hybrid_hold_fewer_tokens_than_their_memory(name: str) -> None:
    assert int(ROWS[name]["kv_tokens_reported"]) < possible(name).start
    assert (int(ROWS[name]["tp"]) > 1) if name in OTHER_RANK_BINDS else ROWS[name]["kind"] == "hybrid"


@pytest.mark.parametrize("name", NEEDED)
def test_the_memory_needed_for_the_longest_context_is_its_cache(name: str) -> None:
    needed = kv_bytes_per_sequence(
        context=int(ROWS[name]["max_model_len"]), kv_bytes_per_token=bytes_per_token(ROWS[name])
    )
    assert abs(Fraction(needed) / GIB - Fraction(ROWS[name]["needed_gib_for_max_len"])) <= HALF_A_DIGIT


@pytest.mark.parametrize("name", FITTING)
def test_the_concurrency_is_the_tokens_over_the_longest_context(name: str) -> None:
    row = ROWS[name]
    exact = Fraction(int(row["kv_tokens_reported"]), int(row["max_model_len"]))
    assert abs(exact - Fraction(row["max_concurrency_reported"])) <= HALF_A_DIGIT


def test_a_law_that_forgets_the_values_misses_every_row() -> None:
    half = kv_bytes_per_token_per_gpu.changed(right=kv_bytes_per_token_per_gpu.right / 2)
    assert not any(int(ROWS[name]["kv_tokens_reported"]) in possible(name, half) for name in POOLED)


def test_every_row_is_tried_or_says_no_memory() -> None:
    silent = ROWS.keys() - set(POOLED) - set(NEEDED) - set(FITTING)
    assert {ROWS[name]["kind"] for name in silent} == {"blocks-only"}
    assert not any(ROWS[name]["kv_mem_gib_reported"] for name in silent)
    assert all(row["source"] for row in ROWS.values())
