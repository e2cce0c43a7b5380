"""Files of one's own: what they add, and what is said when they are wrong."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec import catalog
from spec.units import TABLE

if TYPE_CHECKING:
    from pathlib import Path

MODEL: dict[str, Any] = {
    "layers": 4,
    "hidden": 64,
    "heads": 8,
    "kv_heads": 2,
    "intermediate": 128,
    "vocab": 1000,
    "tied": True,
    "gated": False,
}
GPU: dict[str, Any] = {"marketed": "96 GB", "bandwidth": "1792 GB/s", "compute": "0.5 PFLOP/s"}
EXPERTS = {"experts": 8, "experts_per_token": 2, "moe_intermediate": 32}
LATENT = {"kv_lora_rank": 16, "qk_rope_dim": 4, "qk_nope_dim": 8, "v_head_dim": 8}


def toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            return "{" + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + "}"
        case _:
            return str(value)


def table(name: str, values: dict[str, Any]) -> str:
    return f"[{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in values.items() if value is not None)


def load(folder: Path, text: str) -> catalog.Catalog:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return catalog.load(path)


def complaint(folder: Path, text: str) -> catalog.InvalidEntry:
    with pytest.raises(catalog.InvalidEntry) as caught:
        load(folder, text)
    assert "\n" not in str(caught.value)
    return caught.value


# What a file adds


def test_a_file_adds_its_rows_to_the_catalogue(tmp_path: Path) -> None:
    merged = load(tmp_path, table("models.my-model", MODEL) + table("gpus.my-gpu", GPU | {"aliases": ["mine"]}))
    assert merged.model("My Model").head_dim == 8
    assert merged.model("my_model").source == "mine.toml"
    assert merged.model("my-model").parameters is None
    assert merged.model("my-model").approximation_error is None
    assert not merged.model("my-model").approximation_applies
    assert merged.gpu("MINE").name == "my-gpu"
    assert merged.gpu("my-gpu").compute.base == 5 * 10**14
    assert merged.model("llama-2-7b") is catalog.model("llama-2-7b")
    assert list(merged.gpus) == [*catalog.gpus(), "my-gpu"]


def test_a_file_leaves_the_shipped_catalogue_alone(tmp_path: Path) -> None:
    load(tmp_path, table("gpus.my-gpu", GPU))
    assert "my-gpu" not in catalog.gpus()
    with pytest.raises(catalog.UnknownName):
        catalog.gpu("my-gpu")


def test_an_empty_file_adds_nothing(tmp_path: Path) -> None:
    assert dict(load(tmp_path, "").models) == dict(catalog.models())


def test_head_size_of_a_latent_model_is_the_sum_of_its_parts(tmp_path: Path) -> None:
    assert load(tmp_path, table("models.m", MODEL | LATENT)).model("m").head_dim == 12


def test_absent_parts_may_be_written_as_zero(tmp_path: Path) -> None:
    text = table("models.m", MODEL | {"shared_experts": 0, "dense_layers": 0, "position_embeddings": 0})
    assert load(tmp_path, text).model("m").shared_experts == 0


@pytest.mark.roundtrip
def test_every_shipped_model_can_be_written_and_read_back(tmp_path: Path) -> None:
    for model in catalog.models().values():
        values = {
            f.name: getattr(model, f.name)
            for f in dataclasses.fields(model)
            if f.name not in {"name", "aliases", "hub"}
        }
        written = {key: value for key, value in values.items() if value != ""}
        again = load(tmp_path, table("models.again", written)).model("again")
        assert dataclasses.replace(again, name=model.name, aliases=model.aliases, hub=model.hub) == model


# What is said when a value is wrong


@pytest.mark.parametrize("key", [*MODEL])
def test_missing_key_of_a_model(tmp_path: Path, key: str) -> None:
    error = complaint(tmp_path, table("models.m", MODEL | {"head_dim": 8, key: None}))
    assert (error.file, error.table, error.key, error.value) == ("mine.toml", "models.m", key, None)
    assert str(error).startswith(f"mine.toml: [models.m] {key} is missing: write ")


@pytest.mark.parametrize("key", [*GPU])
def test_missing_key_of_a_gpu(tmp_path: Path, key: str) -> None:
    error = complaint(tmp_path, table("gpus.g", GPU | {key: None}))
    assert (error.table, error.key, error.value) == ("gpus.g", key, None)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"layers": 0}, "layers = 0: write a whole number of at least 1 and under 10^18"),
        ({"layers": -4}, "layers = -4: write a whole number of at least 1 and under 10^18"),
        ({"layers": 4.0}, "layers = 4.0: write a whole number of at least 1 and under 10^18"),
        ({"layers": True}, "layers = true: write a whole number of at least 1 and under 10^18"),
        ({"layers": "4"}, 'layers = "4": write a whole number of at least 1 and under 10^18'),
        ({"vocab": 10**18}, "vocab = 1000000000000000000: write a whole number of at least 1 and under 10^18"),
        ({"dense_layers": -1}, "dense_layers = -1: write a whole number of at least 0 and under 10^18"),
        ({"tied": 1}, "tied = 1: write true or false"),
        ({"hub": 3}, "hub = 3: write a text in quotes"),
        ({"source": " "}, 'source = " ": write a text in quotes'),
        ({"aliases": "x"}, 'aliases = "x": write a list of texts, ["...", "..."]'),
        ({"aliases": [1]}, 'aliases = [1]: write a list of texts, ["...", "..."]'),
        ({"norm": "batchnorm"}, 'norm = "batchnorm": write one of none, rmsnorm, layernorm'),
        ({"layer": 4}, "layer = 4: no such key; did you mean layers?"),
        ({"num_hidden_layers": 4}, "num_hidden_layers = 4: no such key; did you mean layers?"),
        ({"qqq": 4}, "qqq = 4: no such key"),
        ({"name": "x"}, 'name = "x": no such key'),
        ({"heads": 9, "head_dim": 8}, "kv_heads = 2: write a divisor of heads = 9"),
        ({"kv_heads": 3}, "kv_heads = 3: write a divisor of heads = 8"),
        ({"kv_heads": 16}, "kv_heads = 16: write at most heads = 8"),
        ({"heads": 6}, "head_dim is missing: write a whole number of at least 1 and under 10^18"),
        ({"active_parameters": 5}, "parameters is missing: active_parameters needs it"),
        ({"parameters": 4, "active_parameters": 5}, "active_parameters = 5: write at most parameters = 4"),
        ({"experts": 8}, "experts_per_token is missing: experts needs it"),
        ({"shared_experts": 1}, "experts is missing: shared_experts needs it"),
        ({"router_bias": True}, "experts is missing: router_bias needs it"),
        (EXPERTS | {"experts_per_token": 9}, "experts_per_token = 9: write at most experts = 8"),
        (EXPERTS | {"dense_layers": 5}, "dense_layers = 5: write at most layers = 4"),
        ({"sliding_window": 8}, "sliding_layers is missing: sliding_window needs it"),
        ({"sliding_window": 8, "sliding_layers": 5}, "sliding_layers = 5: write at most layers = 4"),
        ({"kv_lora_rank": 8}, "qk_rope_dim is missing: kv_lora_rank needs it"),
        ({"q_lora_rank": 8}, "kv_lora_rank is missing: q_lora_rank needs it"),
        (LATENT | {"head_dim": 8}, "head_dim = 8: write qk_rope_dim + qk_nope_dim = 12"),
        ({"hub": "openai-community/gpt2"}, 'hub = "openai-community/gpt2": already a name of gpt2'),
        ({"aliases": ["m2", "GPT_2"]}, 'aliases = "GPT_2": already a name of gpt2'),
        ({"aliases": ["M"]}, 'aliases = "M": already a name of m'),
    ],
)
def test_wrong_value_of_a_model(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    assert str(complaint(tmp_path, table("models.m", MODEL | wrong))) == f"mine.toml: [models.m] {says}"


SIZES = 'write "80 GB" (10^9 bytes each) or "80 GiB" (2^30 bytes each)'
RATES = 'write a positive number with its unit, such as "2039 GB/s"'
TOOLS = "name the tool that reported the total, torch or nvidia-smi: they differ by half a GiB"
REPORTS = 'write a list of tables, [{ total = "79.25 GiB", by = "torch" }]'


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"marketed": 80}, f"marketed = 80: {SIZES}"),
        ({"marketed": 79.5}, f"marketed = 79.5: {SIZES.replace('80', '79.5')}"),
        ({"marketed": "80"}, f'marketed = "80": {SIZES}'),
        ({"marketed": "80G"}, f'marketed = "80G": {SIZES}'),
        ({"marketed": "80 Gb"}, f'marketed = "80 Gb": {SIZES}'),
        ({"marketed": "80 gib"}, f'marketed = "80 gib": {SIZES}'),
        ({"marketed": "96 GB/s"}, f'marketed = "96 GB/s": {SIZES.replace("80", "96")}'),
        ({"marketed": "-96 GB"}, f'marketed = "-96 GB": {SIZES}'),
        ({"marketed": "0 GB"}, f'marketed = "0 GB": {SIZES}'),
        ({"marketed": True}, f"marketed = true: {SIZES}"),
        ({"bandwidth": 2039}, f"bandwidth = 2039: {RATES}"),
        ({"bandwidth": "2 TB"}, f'bandwidth = "2 TB": {RATES}'),
        ({"compute": "9 TFLOP"}, f'compute = "9 TFLOP": {RATES.replace("2039 GB/s", "312 TFLOP/s")}'),
        ({"reported": "79 GiB"}, f"reported_by is missing: {TOOLS}"),
        ({"reported_by": "torch"}, "reported is missing: write the total that torch reported"),
        ({"other_reports": "79 GiB"}, f'other_reports = "79 GiB": {REPORTS}'),
        ({"other_reports": [{"total": "79 GiB"}]}, f'other_reports = [{{"total": "79 GiB"}}]: {REPORTS}'),
        ({"other_reports": [{"total": "79", "by": "torch"}]},
         f'other_reports = [{{"total": "79", "by": "torch"}}]: {REPORTS}'),
        ({"bandwith": "2 TB/s"}, 'bandwith = "2 TB/s": no such key; did you mean bandwidth?'),
        ({"aliases": ["h100"]}, 'aliases = "h100": already a name of H100-SXM5-80GB'),
    ],
)  # fmt: skip
def test_wrong_value_of_a_gpu(tmp_path: Path, wrong: dict[str, Any], says: str) -> None:
    assert str(complaint(tmp_path, table("gpus.g", GPU | wrong))) == f"mine.toml: [gpus.g] {says}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("layers = 4", "layers = 4: write tables named [models.NAME] and [gpus.NAME]"),
        ("models = 4", "models = 4: write tables named [models.NAME] and [gpus.NAME]"),
        ("[model.m]", 'model = {"m": {}}: write tables named [models.NAME] and [gpus.NAME]'),
        ("[models]\nm = 4", "[models] m = 4: write a table, [models.m]"),
        ('[models."\\n"]', '[models] name = "\\n": write a name of printable characters'),
        ('[models.""]', '[models] name = "": write a name of printable characters'),
        ("[models.GPT2]\n" + table("x", MODEL).partition("\n")[2],
         '[models.GPT2] name = "GPT2": already a name of gpt2'),
        (table("gpus.a-b", GPU) + table("gpus.A_B", GPU), '[gpus.A_B] name = "A_B": already a name of a-b'),
        ("[models.llama-3.2-1b]",
         '[models.llama-3] 2-1b = {}: no such key; if it is part of the name, write [models."llama-3.2-1b"]'),
    ],
)  # fmt: skip
def test_wrong_table(tmp_path: Path, text: str, says: str) -> None:
    assert str(complaint(tmp_path, text)) == f"mine.toml: {says}"


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[models", "it is not valid TOML"),
        (b"a = \xff", "it is not UTF-8 text"),
        (b"a = " + b"[" * 100_000, "its values are nested too deeply"),
        (b"a = " + b"9" * 10_000, "it is not valid TOML"),
        (b"\x00", "it is not valid TOML"),
    ],
    ids=["unfinished", "latin", "nested", "digits", "zero"],
)
def test_file_that_is_not_toml(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(catalog.UnreadableFile) as caught:
        catalog.load(path)
    assert str(caught.value).startswith(f"cannot read mine.toml: {why}")
    assert "\n" not in str(caught.value)


def test_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(catalog.UnreadableFile) as caught:
            catalog.load(str(path))
        assert str(caught.value) in {
            "cannot read none.toml: No such file or directory",
            f"cannot read {tmp_path.name}: Is a directory",
        }


@pytest.mark.fuzz
@pytest.mark.parametrize("value", ["0x" + "f" * 9_000, "nan", "-inf", "2026-01-01", "1979-05-27T07:32:00Z"])
@pytest.mark.parametrize("where", ["models.m]\nlayers", "gpus.g]\nmarketed", "gpus.g]\nother_reports", "x]\ny"])
def test_odd_values_are_answered_in_one_line(tmp_path: Path, value: str, where: str) -> None:
    assert len(str(complaint(tmp_path, f"[{where} = {value}"))) < 250


@pytest.mark.fuzz
def test_deep_tables_are_answered_in_one_line(tmp_path: Path) -> None:
    assert len(str(complaint(tmp_path, f"[models.m]\n{'.'.join(['a'] * 3_000)} = 1"))) < 250


# Amounts

NUMBERS = st.decimals(0, 10**6, places=3).map(str)


@pytest.mark.roundtrip
@given(NUMBERS, st.sampled_from(sorted(n for n in TABLE if n.isalpha())), st.sampled_from(["", " "]))
def test_an_amount_is_printed_as_it_was_read(number: str, unit: str, gap: str) -> None:
    read = catalog.amount(f"{number}{gap}{unit}")
    assert str(read) == f"{number}{gap}{unit}"
    assert catalog.amount(str(read)) == read
    assert read.base == Fraction(number) * TABLE[unit].factor


@pytest.mark.law
@given(st.decimals(1, 10**6, places=3).map(str), st.sampled_from("kMGTP"))
def test_decimal_and_binary_units_are_never_the_same(number: str, prefix: str) -> None:
    power = "kMGTP".index(prefix) + 1
    decimal = catalog.amount(f"{number} {prefix}B").base
    binary = catalog.amount(f"{number} {prefix.replace('k', 'K')}iB").base
    assert decimal == Fraction(number) * 1000**power
    assert binary == Fraction(number) * 1024**power
    assert decimal < binary


NOT_AMOUNTS = """80|80 G|80 Gb|80 gb|80 GIB|GB||8e1 GB|1/2 GB|80  GB|٨٠ GB|80 GB |80,5 GB|80 GB^2|80 GB//s|80. GB"""


@pytest.mark.parametrize("text", [*NOT_AMOUNTS.split("|"), "1" * 31 + " GB"])
def test_what_is_not_an_amount_is_refused(text: str) -> None:
    with pytest.raises(catalog.UnreadableAmount) as caught:
        catalog.amount(text)
    assert caught.value.text == text
    assert str(caught.value) == f"{text!r} is not a number with a known unit"


@pytest.mark.law
def test_shipped_sizes_as_sold_are_decimal_and_reported_ones_binary() -> None:
    for gpu in catalog.gpus().values():
        assert gpu.marketed.unit == TABLE["GB"]
        totals = [*(report.total for report in gpu.other_reports), *([gpu.reported] if gpu.reported else [])]
        assert all(total.unit in {TABLE["GiB"], TABLE["MiB"]} for total in totals)
