"""One field of a configuration is changed at a time: what is still read is what transformers then builds.

A field is one of the architecture itself, another name of one, or one that some other architecture has.
"""

from __future__ import annotations

import copy
import functools
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spec.catalog import config
from spec.catalog.config_fields import STRUCTURAL
from tests.live.built import CONFIG_MAPPING, built, cache_bytes, parameters, written
from tests.live.test_tiny_models import cached, copies, count
from tests.live.tiny import WRITTEN, said

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.reality, pytest.mark.slow]

SEED, TOKENS = 1, 9
# What a field of another architecture, or one that is null, is set to.
STRANGE = (2, 3, True, ["full_attention"])
# Fields of every configuration that say nothing about its shape, or that hold another configuration.
COMMON = {
    "architectures", "chunk_size_feed_forward", "dtype", "id2label", "label2id", "model_type", "output_attentions",
    "output_hidden_states", "problem_type", "return_dict", "text_config", "transformers_version", "vision_config",
}  # fmt: skip


def language(whole: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = whole.get("text_config", whole)
    return inner


@functools.cache
def asked() -> frozenset[str]:
    """Give the fields that some architecture is asked for."""
    names = set(STRUCTURAL)
    with tempfile.TemporaryDirectory() as folder:
        for model_type in WRITTEN:
            found = config.read(written(Path(folder), said(model_type, SEED)))
            names |= {name.rpartition(".")[2] for name in (*found.used, *found.defaults)}
    return frozenset(names)


def values(name: str, own: dict[str, Any]) -> list[Any]:
    """Give other values of a field."""
    match own.get(name):
        case bool(value):
            return [not value, None]
        case int(value):
            return [value + 1, 2 * value, 0, None]
        case float():
            return [0.0, 0.5]
        case list(value):
            return [[], value[1:], None]
        case None:
            return [*STRANGE]
        case _:
            return [None]


def changed(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every configuration that differs in one field, with what differs."""
    kind = CONFIG_MAPPING[language(whole)["model_type"]]
    own = json.loads(kind().to_json_string(use_diff=False)) | language(whole)
    for name in sorted({*own, *asked(), *kind.attribute_map, *kind.attribute_map.values()} - COMMON):
        for value in values(name, own):
            other = copy.deepcopy(whole)
            language(other)[name] = value
            yield f"{name} = {value}", other
        if name in language(whole):
            other = copy.deepcopy(whole)
            del language(other)[name]
            yield f"no {name}", other


def difference(whole: dict[str, Any], folder: Path) -> str | None:
    """Compare a configuration that is read with its model: an empty text if they agree, None if there is no model."""
    try:
        read = config.read(written(folder, whole)).model
    except config.UnusableConfig:
        return None
    try:
        real = built(whole)
    except Exception:  # noqa: BLE001  a class fails in many ways on sizes that do not fit each other
        return None
    if count(read) != parameters(real):
        return f"{count(read)} parameters and not {parameters(real)}"
    try:
        size = cache_bytes(real, TOKENS)
    except Exception:  # noqa: BLE001  as above
        return None
    expected = cached(read, TOKENS) * copies(read, whole)  # type: ignore[operator]
    return "" if size == expected else f"{expected} bytes and not {size}"


@pytest.mark.parametrize("model_type", WRITTEN)
def test_a_field_that_changes_the_model_changes_what_is_read_or_is_refused(model_type: str, tmp_path: Path) -> None:
    found = {what: difference(whole, tmp_path) for what, whole in changed(said(model_type, SEED))}
    assert {what: how for what, how in found.items() if how} == {}
    assert list(found.values()).count("")  # some are built
