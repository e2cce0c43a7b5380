"""The laws against models that were really built: every parameter, and every byte of the cache that a prompt leaves."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

import pytest

from grader.calc import calculate, named
from spec.catalog import config
from spec.catalog.architectures import NESTED, READERS
from tests.live.built import built, cache_bytes, parameters, written
from tests.live.tiny import TOKENS, WRITTEN, said

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from spec.catalog import Model

pytestmark = pytest.mark.reality

SEEDS = range(6)
# Read here, and built by the code in their own repository, which transformers does not have.
WITHOUT_CLASS = {"kimi_k2", "mimo"}
FLOAT32 = 4


@functools.cache
def count(model: Model) -> object:
    return calculate(named("parameters"), {}, model).result


@functools.cache
def cached(model: Model, tokens: int) -> object:
    """Return the bytes by the laws; the library keeps one token less than a window, the current one being at hand."""
    if model.sliding_window is not None:
        model = dataclasses.replace(model, sliding_window=model.sliding_window - 1)
    return calculate(named("kv_bytes_per_sequence"), {"context": tokens, "kv_width": FLOAT32}, model).result


def copies(model: Model, whole: Mapping[str, Any]) -> int:
    """Return how often the library keeps a shared key: Falcon's class copies it to every head that reads it."""
    copied = whole["model_type"] == "falcon" and whole.get("new_decoder_architecture")
    return model.heads // model.kv_heads if copied else 1


def test_every_architecture_that_is_read_is_built() -> None:
    kinds = {kind for nest in NESTED.values() for kind in nest.kinds}
    assert READERS.keys() | NESTED.keys() <= WRITTEN.keys() | kinds | WITHOUT_CLASS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model_type", WRITTEN)
def test_parameters_and_cache_are_those_of_the_model_that_is_built(model_type: str, seed: int, tmp_path: Path) -> None:
    whole = said(model_type, seed)
    read, real = config.read(written(tmp_path, whole)).model, built(whole)
    assert count(read) == parameters(real), whole
    for tokens in TOKENS:
        assert cached(read, tokens) * copies(read, whole) == cache_bytes(real, tokens), (tokens, whole)  # type: ignore[operator]
