"""The laws against models that were really built: every parameter, and every byte of the cache that a prompt leaves."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from grader.calc import calculate, named
from spec.catalog import config
from spec.catalog.architectures import NESTED, READERS
from tests.live.built import built, cache_bytes, parameters, written
from tests.live.tiny import TOKENS, WRITTEN, said

if TYPE_CHECKING:
    from pathlib import Path

    from spec.catalog import Model

pytestmark = pytest.mark.reality

SEEDS = range(6)
# Read here, and built by the code in their own repository, which transformers does not have.
WITHOUT_CLASS = {"kimi_k2", "mimo"}
FLOAT32 = 4


def cached(model: Model, tokens: int) -> object:
    """Return the bytes by the laws; the library keeps one token less than a window, the current one being at hand."""
    if model.sliding_window is not None:
        model = dataclasses.replace(model, sliding_window=model.sliding_window - 1)
    return calculate(named("kv_bytes_per_sequence"), {"context": tokens, "kv_width": FLOAT32}, model).result


def test_every_architecture_that_is_read_is_built() -> None:
    kinds = {kind for nest in NESTED.values() for kind in nest.kinds}
    assert READERS.keys() | NESTED.keys() <= WRITTEN.keys() | kinds | WITHOUT_CLASS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model_type", WRITTEN)
def test_parameters_and_cache_are_those_of_the_model_that_is_built(model_type: str, seed: int, tmp_path: Path) -> None:
    whole = said(model_type, seed)
    read, real = config.read(written(tmp_path, whole)).model, built(whole)
    assert calculate(named("parameters"), {}, read).result == parameters(real), whole
    # Falcon's class copies each shared key to every head that reads it before it caches; servers keep it once.
    copies = read.heads // read.kv_heads if whole.get("new_decoder_architecture") else 1
    for tokens in TOKENS:
        assert cached(read, tokens) * copies == cache_bytes(real, tokens), (tokens, whole)  # type: ignore[operator]
