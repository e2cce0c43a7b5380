"""Reading a Hugging Face config.json as a model of the catalogue.

`read(path)` knows architectures by their `model_type` and says which fields it used. What it does not know it refuses.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spec.catalog.architectures import NESTED, READERS
from spec.catalog.config_fields import (
    Fields,
    InvalidField,
    UncoveredArchitecture,
    UnknownArchitecture,
    UnreadableConfig,
    UnusableConfig,
)
from spec.catalog.entries import Model
from spec.catalog.uncovered import UNCOVERED

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Config",
    "InvalidField",
    "UncoveredArchitecture",
    "UnknownArchitecture",
    "UnreadableConfig",
    "UnusableConfig",
    "read",
]

LARGEST = 16 * 2**20  # bytes; the lists of quantised modules in published files take up to 3 MB
NESTED_IN = "text_config"
ALIKE, SUGGESTIONS, LONGEST_NAME = 0.8, 3, 60
WIDEST = 16  # bits of a weight that was not quantised
OTHER_ENDS = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
WIDTHS = {"fp8": 8, "mxfp4": 4, "fbgemm_fp8": 8}  # methods that have one width


@dataclass(frozen=True, slots=True)
class Config:
    """A model read from a file.

    Attributes:
        model: the model; its name is that of the file.
        model_type: the architecture, as the file names it.
        used: each field that was used, with its value.
        defaults: each field that the file leaves out, with the value that the architecture gives it.
        remarks: sentences on what of the file is not in the model.
    """

    model: Model
    model_type: str
    used: dict[str, object]
    defaults: dict[str, object]
    remarks: tuple[str, ...]


def read(path: str | Path) -> Config:
    """Read a config.json.

    Raises:
        UnreadableConfig: the file is missing or no JSON object.
        InvalidField: a field is missing, wrong, or does not fit the others.
        UnknownArchitecture: the architecture is not known.
        UncoveredArchitecture: it is known to have a part that no law counts.
    """
    path = Path(path)
    file = path.name or str(path)
    said = _document(path, file)
    model_type = _model_type(file, said, "")
    fields = _fields(file, said, model_type)
    if fields.model_type in UNCOVERED:
        raise UncoveredArchitecture(file, fields.model_type, UNCOVERED[fields.model_type])
    traits = READERS[fields.model_type](fields)
    fields.refuse_the_rest()
    model = Model(name=file, source=file, **traits)
    return Config(model, model_type, fields.used, fields.defaults, tuple(_remarks(fields, model_type)))


def _document(path: Path, file: str) -> dict[str, Any]:
    try:
        with path.open("rb") as opened:
            content = opened.read(LARGEST + 1)
        document = json.loads(content.decode("utf-8-sig")) if len(content) <= LARGEST else None
    except OSError as error:
        raise UnreadableConfig(file, error.strerror or "no such file") from None
    except UnicodeDecodeError:
        raise UnreadableConfig(file, "it is not UTF-8 text") from None
    except RecursionError:
        raise UnreadableConfig(file, "its values are nested too deeply") from None
    except ValueError as error:  # JSONDecodeError, and Python's own limit on the digits of an integer
        raise UnreadableConfig(file, f"it is not valid JSON: {error}") from None
    if len(content) > LARGEST:
        raise UnreadableConfig(file, "it is larger than 16 MiB, which no config.json is")
    if not isinstance(document, dict):
        raise UnreadableConfig(file, "it holds no JSON object; a config.json is one, { ... }")
    return document


def _model_type(file: str, said: dict[str, Any], place: str) -> str:
    value = said.get("model_type")
    if not isinstance(value, str) or not value:
        right = 'write the name of the architecture, such as "llama"'
        if value is None and "quantization" in said:
            right = "this file describes a quantisation; the sizes are in the config.json beside it"
        raise InvalidField(file, f"{place}model_type", value, right)
    return value


def _fields(file: str, said: dict[str, Any], model_type: str) -> Fields:
    """Return the fields of the language model, nested or not."""
    if model_type in READERS or model_type in UNCOVERED:
        return Fields(file, model_type, said)
    if model_type not in NESTED:
        # A model around another one is no misspelling of that one: llava is no llama.
        raise _unknown(file, model_type, NESTED if NESTED_IN in said else (*READERS, *NESTED))
    nested, nest = said.get(NESTED_IN), NESTED[model_type]
    if nested is None and nest.flat and "hidden_size" in said:
        return Fields(file, nest.kinds[0], said)
    if not isinstance(nested, dict):
        raise InvalidField(file, NESTED_IN, nested, f"write the language model of {model_type} as an object, {{ ... }}")
    inner = _model_type(file, nested, f"{NESTED_IN}.")
    if inner not in nest.kinds and inner not in UNCOVERED:
        right = f"write {' or '.join(nest.kinds)}, as model_type is {model_type}"
        raise InvalidField(file, f"{NESTED_IN}.model_type", inner, right)
    return Fields(file, inner, nested, f"{NESTED_IN}.", said, nest.tied)


def _unknown(file: str, model_type: str, among: Iterable[str]) -> UnknownArchitecture:
    """Ask about a likely misspelling; another number in the name is another architecture, not a misspelling."""
    from difflib import get_close_matches

    typed = model_type.casefold().replace("-", "_")
    known = [k for k in among if not _number(typed) or _number(k) in {"", _number(typed)}]
    likely = get_close_matches(typed, known, n=SUGGESTIONS, cutoff=ALIKE) if len(typed) <= LONGEST_NAME else []
    return UnknownArchitecture(file, "model_type", model_type, (typed,) if typed in likely else tuple(likely))


def _number(name: str) -> str:
    return "".join(letter for letter in name if letter.isdigit())


def _remarks(fields: Fields, model_type: str) -> list[str]:
    remarks = []
    if model_type in NESTED:
        where = f" ({NESTED_IN})" if fields.place else ""
        remarks.append(f"Of {model_type}, the language model{where} is read and nothing else.")
    if fields.said.get("num_nextn_predict_layers"):
        remarks.append("Layers that only predict further tokens (num_nextn_predict_layers) are not counted.")
    remarks += _as_stored({**fields.said, **fields.outer})
    quantization = fields.said.get("quantization_config") or fields.outer.get("quantization_config")
    width = _width(quantization) if isinstance(quantization, dict) else None
    if width is not None:
        remarks.append(
            f"Quantised weights have {width} bits (quantization_config), which changes no size; "
            f"give weight_bits={width} to count every weight so."
        )
    return remarks


def _as_stored(said: dict[str, object]) -> list[str]:
    """Say where the file describes other tensors than those of a model of two bytes that writes tokens."""
    named = said.get("architectures")
    classes = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    remarks = [
        f"{name} has no matrix over the vocabulary at its end; the model that writes tokens is counted, which has."
        for name in classes
        if name.endswith(OTHER_ENDS)
    ]
    stored = next((name for name in ("dtype", "torch_dtype") if said.get(name) == "float32"), None)
    if stored is not None:
        remarks.append(
            f"Weights are stored as float32 ({stored}), which changes no size; give weight_bits=32 for that."
        )
    return remarks


def _width(said: dict[str, Any]) -> int | None:
    """Return the bits of a quantised weight, where the file states one width."""
    method, groups = said.get("quant_method"), said.get("config_groups")
    if isinstance(groups, dict):
        weights = [group.get("weights") for group in groups.values() if isinstance(group, dict)]
        stated = [each.get("num_bits") for each in weights if isinstance(each, dict)]
    elif isinstance(method, str) and method in WIDTHS:
        stated = [WIDTHS[method]]
    else:
        stated = [said.get("bits")]
    width = stated[0] if stated and all(each == stated[0] for each in stated) else None
    return width if type(width) is int and 1 <= width <= WIDEST else None
