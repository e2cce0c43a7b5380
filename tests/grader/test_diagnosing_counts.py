"""Counts that were rounded, times in other units, and numbers that nobody measures."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from grader.cli.app import app

PARTITION = ("gpu_memory=80GB", "weights=16GB", "kv_bytes_per_token=131072", "context=8192")  # 59.60 sequences


def told(*arguments: str) -> dict[str, Any]:
    """What the command says, as JSON."""
    done = CliRunner().invoke(app, ["diagnose", *arguments, "--json", "--exit-zero"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def slips(said: dict[str, Any]) -> list[list[str]]:
    return [explanation["slips"] for explanation in said["explanations"]]


def test_a_concurrency_as_a_server_logs_it_is_right_with_its_decimals() -> None:
    for tokens, context, printed in [(31232, 20000, "1.56"), (23648, 29000, "0.82"), (230528, 100000, "2.31x")]:
        said = told(printed, "--quantity", "concurrency", f"kv_tokens={tokens}", f"context={context}")
        assert said["verdict"] == "right"
        assert Fraction(said["right"]) == Fraction(tokens, context)
    assert told("59.60", "--quantity", "concurrency", *PARTITION)["verdict"] == "right"
    assert told("59.70", "--quantity", "concurrency", *PARTITION)["verdict"] == "wrong"


def test_a_capacity_that_was_rounded_up_and_a_need_that_was_rounded_down_are_named() -> None:
    said = told("60", "--quantity", "concurrency", *PARTITION)
    assert said["verdict"] == "wrong"
    assert ["rounded-to-the-wrong-side"] in slips(said)
    need = ("rate=50 req/s", "output=500", "per_gpu=2400 tok/s")  # 10.4 GPUs
    said = told("10", "--quantity", "gpus", *need)
    assert said["verdict"] == "wrong"
    assert ["rounded-to-the-wrong-side"] in slips(said)
    assert told("11", "--quantity", "gpus", *need)["verdict"] == "right"


def test_no_side_is_wrong_of_a_whole_number() -> None:
    said = told("61", "--quantity", "concurrency", "kv_tokens=240000", "context=4000")
    assert ["rounded-to-the-wrong-side"] not in slips(said)


@pytest.mark.parametrize(
    ("printed", "given", "slip"),
    [
        ("720", ("arrival_rate=100/min", "service_time=7.2s"), "arrival-rate-in-seconds"),
        ("12000", ("arrival_rate=100/min", "service_time=7200ms"), "service-time-in-seconds"),
        ("43200", ("arrival_rate=6000/h", "service_time=7.2s"), "arrival-rate-in-seconds"),
    ],
)
def test_a_time_that_was_used_as_if_it_were_in_seconds_is_named(
    printed: str, given: tuple[str, ...], slip: str
) -> None:
    said = told(printed, "--quantity", "mean_concurrency", *given)
    assert said["verdict"] == "wrong"
    assert slips(said) == [[slip]]


def test_nothing_explains_a_zero_and_a_number_beyond_all_measure_is_refused() -> None:
    assert slips(told("0 GB", "--quantity", "weights", "--model", "llama-2-7b")) == []
    for beyond in ("1e400 GB", "1e-400 GB", "1e31 GB"):
        done = CliRunner().invoke(app, ["diagnose", beyond, "--quantity", "weights", "--model", "llama-2-7b"])
        assert done.exit_code == 2
        assert "numbers from 10^-30 to 10^30" in done.output


def test_the_name_of_a_large_model_cuts_its_fraction_off() -> None:
    said = told("140.0 GB", "--quantity", "weights", "--model", "llama-3-70b")  # of 70.55 billion
    assert ["size-from-the-name"] in slips(said)


def test_a_number_of_parameters_is_given_as_models_are_named() -> None:
    for size in ("175B", "175 B", "175e9", "0.175T"):
        assert told("350 GB", "--quantity", "weights", f"params={size}", "dtype=fp16")["verdict"] == "right"
    assert told("0.7 GB", "--quantity", "weights", "params=350M", "dtype=fp16")["verdict"] == "right"


@pytest.mark.parametrize("printed", ["5 H100", "5x H100", "5 x NVIDIA H100 80GB", "5 GPUs", "5"])
def test_a_number_of_gpus_is_printed_with_their_name(printed: str) -> None:
    assert told(printed, "--quantity", "gpus", "params=175B", "--gpu", "h100-80gb")["verdict"] == "right"
    assert told(printed, "--quantity", "gpus", "params=70B", "--gpu", "h100-80gb")["verdict"] == "wrong"


@pytest.mark.parametrize(
    ("model", "named"), [("deepseek-v3", "37B"), ("gpt-oss-20b", "3.6B"), ("mixtral-8x7b", "12.9B")]
)
def test_active_parameters_are_right_as_their_makers_count_them(model: str, named: str) -> None:
    assert told(named, "--quantity", "active_parameters", "--model", model)["verdict"] == "right"


@pytest.mark.parametrize("printed", ["13,5 GB", "1/0 GB", "13.5±0.2 GB", "13\u201314 GB", "13-14 GB"])
def test_a_part_of_what_cannot_be_read_is_not_taken_for_the_number(printed: str) -> None:
    done = CliRunner().invoke(app, ["diagnose", printed, "--quantity", "weights", "--model", "llama-2-7b"])
    assert done.exit_code == 2
    assert "cannot be read" in done.output
