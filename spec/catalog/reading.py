"""Reading a catalogue file and checking every row of it."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

from spec.catalog.amounts import Amount, UnreadableAmount, amount
from spec.catalog.entries import GPU, HUGGING_FACE_NAMES, NORM_VECTORS, Model, Report
from spec.catalog.names import Named, Table, alike, plain
from spec.units import unit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

KINDS = {"models": Model, "gpus": GPU}
SHOWN = 60
# Far above any model, and small enough that no sum of products of counts gets slow.
TOO_MANY = 10**18

# Keys that describe one part of a model: all of them or none.
_TOGETHER = (
    ("experts", "experts_per_token", "moe_intermediate"),
    ("kv_lora_rank", "qk_rope_dim", "qk_nope_dim", "v_head_dim"),
    ("sliding_window", "sliding_layers"),
)
_NEEDS = (
    ("shared_experts", "experts"),
    ("dense_layers", "experts"),
    ("router_bias", "experts"),
    ("q_lora_rank", "kv_lora_rank"),
    ("active_parameters", "parameters"),
)
_AT_MOST = (
    ("kv_heads", "heads"),
    ("experts_per_token", "experts"),
    ("dense_layers", "layers"),
    ("sliding_layers", "layers"),
    ("active_parameters", "parameters"),
)

Row = TypeVar("Row", bound=Named)


class UnreadableFile(ValueError):
    """A file cannot be read as TOML; `file` is its name and `why` says what is in the way."""

    def __init__(self, file: str, why: str) -> None:
        super().__init__(file, why)
        self.file, self.why = file, why

    def __str__(self) -> str:
        return f"cannot read {self.file}: {self.why}"


class InvalidEntry(ValueError):
    """One value of a catalogue file is missing or wrong.

    Attributes:
        file: name of the file.
        table: the table in it, `models.my-model`; empty for the top level.
        key: the key.
        value: what is written there; None where the key is missing.
        right: what would be right.
    """

    def __init__(self, file: str, table: str, key: str, value: object, right: str) -> None:
        super().__init__(file, table, key, value, right)
        self.file, self.table, self.key, self.value, self.right = file, table, key, value, right

    def __str__(self) -> str:
        place = f"{self.file}: [{self.table}] " if self.table else f"{self.file}: "
        said = f"{self.key} is missing" if self.value is None else f"{self.key} = {_as_toml(self.value)}"
        return f"{place}{said}: {self.right}"


def read(path: Path, models: Iterable[Model] = (), gpus: Iterable[GPU] = ()) -> tuple[Table[Model], Table[GPU]]:
    """Read a file of `[models.NAME]` and `[gpus.NAME]` tables and add its rows to those given.

    Raises:
        UnreadableFile: the file is missing or not TOML.
        InvalidEntry: a row is wrong, or one of its names is taken.
    """
    file = path.name
    document = _document(path)
    for key, value in document.items():
        if key not in KINDS or not isinstance(value, dict):
            raise InvalidEntry(file, "", key, value, "write tables named [models.NAME] and [gpus.NAME]")
    new_models = [_row(Model, file, f"models.{name}", name, said) for name, said in document.get("models", {}).items()]
    new_gpus = [_row(GPU, file, f"gpus.{name}", name, said) for name, said in document.get("gpus", {}).items()]
    return (
        _table("model", file, "models", models, new_models),
        _table("GPU", file, "gpus", gpus, new_gpus),
    )


def _document(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(path.name, error.strerror or "no such file") from None
    except UnicodeDecodeError:
        raise UnreadableFile(path.name, "it is not UTF-8 text") from None
    except RecursionError:
        raise UnreadableFile(path.name, "its values are nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, and Python's own limit on the digits of an integer
        raise UnreadableFile(path.name, f"it is not valid TOML: {error}") from None


def _table(kind: str, file: str, section: str, before: Iterable[Row], rows: list[Row]) -> Table[Row]:
    before = list(before)
    owners = {plain(name): row.name for row in before for name in row.names}
    for row in rows:
        for name in row.names:
            if plain(name) in owners:
                key = "name" if name == row.name else "hub" if name == getattr(row, "hub", "") else "aliases"
                right = f"already a name of {owners[plain(name)]}"
                raise InvalidEntry(file, f"{section}.{row.name}", key, name, right)
            owners[plain(name)] = row.name
    return Table(kind, [*before, *rows])


def _row(kind: type[Row], file: str, table: str, name: str, said: object) -> Row:
    if not plain(name).strip("-") or not name.isprintable():
        raise InvalidEntry(file, table.partition(".")[0], "name", name, "write a name of printable characters")
    if not isinstance(said, dict):
        raise InvalidEntry(file, table.partition(".")[0], name, said, f"write a table, [{table}]")
    known = {f.name: f for f in fields(cast("Any", kind)) if f.name != "name"}
    for key, value in said.items():
        if key not in known:
            raise InvalidEntry(file, table, key, value, _unknown_key(table, key, value, known))
    values = {key: _value(file, table, known[key], value) for key, value in said.items()}
    values.setdefault("source", file)
    if kind is Model:
        _complete_model(values)
    for key, f in known.items():
        if key not in values and f.default is MISSING:
            raise InvalidEntry(file, table, key, None, _wanted(f))
    row = cast("Any", kind)(name=name, **values)
    for key, right in _faults(row):
        raise InvalidEntry(file, table, key, said.get(key), right)
    return cast("Row", row)


def _unknown_key(table: str, key: str, value: object, known: Collection[str]) -> str:
    if isinstance(value, dict):
        # A dot in a bare name splits it: [models.llama-3.2-1b] is a table "2-1b" inside "llama-3".
        section, _, name = table.partition(".")
        return f'no such key; if it is part of the name, write [{section}."{name}.{key}"]'
    likely = [name for name in (HUGGING_FACE_NAMES.get(key, ""), *alike(key, known)) if name in known]
    return f"no such key; did you mean {likely[0]}?" if likely else "no such key"


def _complete_model(values: dict[str, Any]) -> None:
    if "head_dim" in values:
        return
    if "qk_rope_dim" in values and "qk_nope_dim" in values:
        values["head_dim"] = values["qk_rope_dim"] + values["qk_nope_dim"]
    elif "hidden" in values and "heads" in values and values["hidden"] % values["heads"] == 0:
        values["head_dim"] = values["hidden"] // values["heads"]


# One value


def _value(file: str, table: str, f: Field[Any], value: object) -> Any:
    read_one = _READERS[_type(f)]
    result = read_one(f, value)
    if result is None:
        raise InvalidEntry(file, table, f.name, value, _wanted(f, value))
    return result


def _type(f: Field[Any]) -> str:
    return str(f.type).removesuffix(" | None")


def _read_count(f: Field[Any], value: object) -> int | None:
    least = 0 if f.default == 0 else 1
    return value if type(value) is int and least <= value < TOO_MANY else None


def _read_flag(_f: Field[Any], value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _read_text(_f: Field[Any], value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _read_texts(f: Field[Any], value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or any(_read_text(f, each) is None for each in value):
        return None
    return tuple(value)


def _read_amount(f: Field[Any], value: object) -> Amount | None:
    try:
        result = amount(value) if isinstance(value, str) else None
    except UnreadableAmount:
        return None
    example = amount(f.metadata["example"])
    return result if result and result.number > 0 and result.unit.same_dimension(example.unit) else None


def _read_reports(f: Field[Any], value: object) -> tuple[Report, ...] | None:
    reports = []
    for each in value if isinstance(value, list) else [None]:
        if not isinstance(each, dict) or set(each) != {"total", "by"}:
            return None
        total, by = _read_amount(f, each["total"]), _read_text(f, each["by"])
        if total is None or by is None:
            return None
        reports.append(Report(total, by))
    return tuple(reports)


_READERS: dict[str, Callable[[Field[Any], object], Any]] = {
    "int": _read_count,
    "bool": _read_flag,
    "str": _read_text,
    "tuple[str, ...]": _read_texts,
    "Amount": _read_amount,
    "tuple[Report, ...]": _read_reports,
}


def _wanted(f: Field[Any], value: object = None) -> str:
    match _type(f):
        case "int":
            return f"write a whole number of at least {0 if f.default == 0 else 1} and under 10^18"
        case "bool":
            return "write true or false"
        case "tuple[str, ...]":
            return 'write a list of texts, ["...", "..."]'
        case "Amount":
            return _wanted_amount(f.metadata["example"], value)
        case "tuple[Report, ...]":
            return f'write a list of tables, [{{ total = "{f.metadata["example"]}", by = "torch" }}]'
        case _:
            return "write a text in quotes"


def _wanted_amount(example: str, value: object) -> str:
    if not amount(example).unit.same_dimension(unit("B")):
        return f'write a positive number with its unit, such as "{example}"'
    printable = isinstance(value, str | float) or (type(value) is int and value < TOO_MANY)
    written = re.match(r"[1-9][0-9]{0,9}(\.[0-9]{1,9})?(?![0-9.])", str(value) if printable else "")
    number = written[0] if written else example.split(maxsplit=1)[0]
    return f'write "{number} GB" (10^9 bytes each) or "{number} GiB" (2^30 bytes each)'


# One row


def _faults(row: Model | GPU) -> Iterator[tuple[str, str]]:
    """Name each key that does not fit the others, and say what would."""
    if isinstance(row, GPU):
        yield from _gpu_faults(row)
        return
    if row.norm not in NORM_VECTORS:
        yield "norm", f"write one of {', '.join(NORM_VECTORS)}"
    yield from _missing_beside(row)
    yield from _out_of_proportion(row)


def _gpu_faults(row: GPU) -> Iterator[tuple[str, str]]:
    if row.reported is not None and not row.reported_by:
        yield "reported_by", "name the tool that reported the total, torch or nvidia-smi: they differ by half a GiB"
    if row.reported is None and row.reported_by:
        yield "reported", f"write the total that {row.reported_by} reported"


def _missing_beside(row: Model) -> Iterator[tuple[str, str]]:
    for group in _TOGETHER:
        there = [key for key in group if getattr(row, key) is not None]
        for key in group:
            if there and key not in there:
                yield key, f"{there[0]} needs it"
    for key, needed in _NEEDS:
        if getattr(row, key) and getattr(row, needed) is None:
            yield needed, f"{key} needs it"


def _out_of_proportion(row: Model) -> Iterator[tuple[str, str]]:
    for key, limit in _AT_MOST:
        low, high = getattr(row, key), getattr(row, limit)
        if low is not None and high is not None and low > high:
            yield key, f"write at most {limit} = {high}"
    if row.heads % row.kv_heads:
        yield "kv_heads", f"write a divisor of heads = {row.heads}"
    if row.qk_rope_dim and row.qk_nope_dim and row.head_dim != row.qk_rope_dim + row.qk_nope_dim:
        yield "head_dim", f"write qk_rope_dim + qk_nope_dim = {row.qk_rope_dim + row.qk_nope_dim}"


def _as_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):  # deep nesting, or more digits than Python prints
        text = "a very large value"
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
