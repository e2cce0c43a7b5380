"""The cache law against the tensors of real caches.

`cache_tensors.tsv` holds the bytes of all key and value tensors that the transformers library (PyPI) returned as
`past_key_values` from tiny models with random weights: 16 architectures, two widths, two lengths, up to three at once.
Their sizes are those of the configurations they were built with.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from spec.chain import chain, follow
from spec.index import laws

pytestmark = pytest.mark.reality

TABLE = Path(__file__).parents[1] / "data" / "cache_tensors.tsv"
GOAL = "kv_bytes_per_sequence"
WIDTH = {"float32": 4, "bfloat16": 2}
# The library keeps one token less than the window: the token that attends brings its own key and value.
KEPT = 32 - 1
MHA = {"layers": 4, "kv_heads": 4, "head_dim": 16}
GQA = {**MHA, "kv_heads": 2}
MQA = {**MHA, "kv_heads": 1}
MLA = {"layers": 4, "kv_lora_rank": 16, "qk_rope_dim": 8}
SHAPES = {
    "gpt2 MHA": MHA,
    "opt MHA": MHA,
    "gpt_neox MHA": MHA,
    "falcon MQA": MQA,
    "llama MHA": MHA,
    "llama GQA kv=2": GQA,
    "llama MQA kv=1": MQA,
    "mixtral MoE": GQA,
    "phi3 GQA": GQA,
    "qwen3 GQA head_dim 32 (!=16)": {**GQA, "head_dim": 32},
    "deepseek_v2 MLA": MLA,
    "deepseek_v3 MLA": MLA,
    "mistral SWA 32 all layers": {**GQA, "sliding_layers": 4, "sliding_window": KEPT},
    "gemma2 1:1 SWA 32": {**GQA, "sliding_layers": 2, "sliding_window": KEPT},
    "gpt_oss 1:1 SWA 32": {**GQA, "sliding_layers": 2, "sliding_window": KEPT},
    "gemma3 5:1 SWA 32 (6 layers)": {**GQA, "layers": 6, "sliding_layers": 5, "sliding_window": KEPT},
}
with TABLE.open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file, delimiter="\t"))


def cached(row: dict[str, str]) -> object:
    """Return the bytes that the laws give for the sequences of a row."""
    known = {
        **SHAPES[row["case"]],
        "context": int(row["tokens"]),
        "kv_width": WIDTH[row["dtype"]],
        "scale_width": 0,
    }
    return int(row["batch"]) * follow(chain(GOAL, known, list(laws().values())), known)[GOAL]  # type: ignore[operator]


def test_every_measured_row_is_there() -> None:
    assert len(ROWS) == 128
    assert {row["case"] for row in ROWS} == SHAPES.keys()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['case']} {row['dtype']} {row['batch']}x{row['tokens']}")
def test_the_law_gives_the_bytes_of_the_measured_tensors(row: dict[str, str]) -> None:
    assert cached(row) == int(row["measured_cache_bytes"])


@pytest.mark.parametrize("row", [row for row in ROWS if "SWA" in row["case"] and row["tokens"] == "100"])
def test_without_its_window_a_sliding_model_would_cache_more(row: dict[str, str]) -> None:
    shape = {name: size for name, size in SHAPES[row["case"]].items() if not name.startswith("sliding")}
    plain = laws()["kv_bytes_per_token"](**shape, kv_width=WIDTH[row["dtype"]])
    assert int(row["batch"]) * 100 * plain > int(row["measured_cache_bytes"])
