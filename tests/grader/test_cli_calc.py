"""`grade calc`: what it prints, and what it says when it cannot."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from grader.cli.app import app
from spec import catalog
from spec.quantities import quantities

LLAMA = ("--model", "llama-2-7b", "--gpu", "a100-80gb")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["calc", *arguments])


def calc(*arguments: str, status: int = 0) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == status, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.pop("schema") == 1
    assert done.stdout.count("\n") == 1
    return found


def test_a_capacity_is_one_object_with_derivation_limit_and_assumptions() -> None:
    found = calc("concurrency", *LLAMA, "context=4096")
    assert list(found) == [
        "quantity", "value", "unit", "infeasible", "reason", "binding", "steps", "assumed", "remarks",
    ]  # fmt: skip
    assert (found["quantity"], found["unit"], found["infeasible"]) == ("concurrency", "sequence", False)
    # (80 GB - 2 bytes for each of 6,738,415,616 parameters) / (4,096 tokens x 524,288 bytes)
    assert found["value"] == str((80 * 10**9 - 2 * 6_738_415_616) // (4096 * 524_288)) == "30"
    assert found["binding"] == "kv_budget"
    assert [step["gives"] for step in found["steps"]] == ["weights", "kv_budget", "kv_bytes_per_token", "concurrency"]
    assert all({"law", "text", "latex", "value", "unit"} <= step.keys() for step in found["steps"])
    assumed = {a["name"]: (a["value"], a["unit"]) for a in found["assumed"]}
    assert assumed == {
        "weight_bits": ("16", "bit"),
        "kv_width": ("2", "B"),
        "activations": ("0", "B"),
        "safety_margin": ("0", "B"),
        "gpu_memory": ("80000000000", "B"),
    }


def test_a_person_reads_the_number_its_limit_the_steps_and_what_was_assumed() -> None:
    done = run("concurrency", *LLAMA, "context=4096")
    assert done.stdout.startswith("concurrency = 30 sequences\nLimited by kv_budget.\n")
    words = " ".join(done.stdout.split())
    assert "kv_bytes_per_token = 2 * layers * kv_heads * head_dim * kv_width" in words
    assert "524,288 B/token" in words
    assert "weight_bits = 16 bits" in words
    assert "1 GB = 10^9 bytes" in words
    assert done.stderr == ""


def test_what_is_given_is_not_assumed() -> None:
    names = {a["name"] for a in calc("kv_budget", *LLAMA, "gpu_memory=79.15GiB", "activations=4GB")["assumed"]}
    assert names == {"weight_bits", "safety_margin"}


def test_no_such_value_is_an_answer() -> None:
    found = calc("context", "--model", "llama-2-70b", "--gpu", "a100-80gb", "concurrency=4")
    assert (found["value"], found["infeasible"]) == ("none", True)
    assert "57.9533 GB" in found["reason"]
    assert found["steps"][-1]["deficit"] == str(2 * 68_976_648_192 - 80 * 10**9)
    done = run("context", "--model", "llama-2-70b", "--gpu", "a100-80gb", "concurrency=4")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "context = none")


def test_a_value_above_its_domain_is_said() -> None:
    found = calc(
        "mfu", "prefill_flops=1e15 FLOP", "prefill_bytes=1 B", "compute=1TFLOPS", "bandwidth=1TB/s", "prefill_time=1s"
    )
    assert found["value"] == "none"
    found = calc("activation_share_of_total", "gpu_memory=10GB", "activations=12GB")
    assert found["reason"].startswith("There would be too much")


def test_a_condition_that_fails_is_said() -> None:
    found = calc("kv_budget", "gpu_memory=10GB", "weights=14GB", "activation_share_of_remaining=10%")
    assert "weights <= gpu_memory" in found["reason"]


@pytest.mark.parametrize(
    ("arguments", "value", "unit"),
    [
        (("mean_concurrency", "arrival_rate=100/min", "service_time=10.2s"), "17", "sequence"),
        (("arrival_rate", "mean_concurrency=1", "service_time=3s"), "1/3", "request/s"),
        (("decode_rate", "output=100", "latency_target=500ms"), "200", "token/s"),
        (("wait", "ttft=1.5s", "prompt=1000", "prefill_rate=1000"), "0.5", "s"),
        (("weights", "parameters=7e9", "weight_bits=4"), "3500000000", "B"),
        (("KV-bytes-per-token", "layers=32", "kv_heads=8", "head_dim=128"), "131072", "B/token"),
    ],
)
def test_values_are_exact(arguments: tuple[str, ...], value: str, unit: str) -> None:
    found = calc(*arguments)
    assert (found["value"], found["unit"]) == (value, unit)
    assert Fraction(value) == Fraction(found["steps"][-1]["value"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("contxt",), "did you mean context?"),
        (("concurrency", "contxt=5"), "did you mean context?"),
        (("concurrency", "4096"), "'4096' is not NAME=VALUE"),
        (("concurrency", "context=5", "context=6"), "given twice"),
        (("context", "context=5"), "asked for"),
        (("weights", "parameters=7e9 tokens"), "parameters is measured in parameter"),
        (("concurrency", *LLAMA, "context=4096", "activations=10%"), "activation_share_of_remaining=10%"),
        (("concurrency", "--model", "lama-2-7b"), "did you mean llama-2-7b"),
        (("concurrency", "--gpu", "zzzz"), "`grade calc --gpus` lists them"),
        (("concurrency",), "add context=... --model NAME --gpu NAME"),
        (("parameters_approx", "--model", "mixtral-8x7b"), "experts"),
        (("offered_load", "servers=10", "blocking=1%"), "cannot be calculated: the load"),
        (("concurrency", "--jsn"), "Did you mean '--json'?"),
        ((), "Name a quantity"),
        (("--catalog", "no/such.toml", "weights"), "cannot read such.toml"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_status_2(arguments: tuple[str, ...], says: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.output
    assert says in json.loads(run(*arguments, "--json").stdout)["error"] + done.stderr


def test_what_was_not_needed_and_what_exceeds_the_window_is_remarked() -> None:
    assert calc("weights", "parameters=10", "context=5")["remarks"] == ["Not needed: context."]
    assert "4,096" in calc("context", *LLAMA, "concurrency=2")["remarks"][0]
    assert "4,096" in calc("kv_bytes_per_sequence", *LLAMA, "context=8192")["remarks"][0]
    assert calc("kv_bytes_per_sequence", *LLAMA, "context=4096")["remarks"] == []
    assert "Looked up" in calc("layers", "--model", "mixtral-8x7b")["remarks"][0]


def test_models_gpus_and_quantities_are_listed() -> None:
    assert [m["model"] for m in calc("--models")["models"]] == list(catalog.models())
    assert [g["gpu"] for g in calc("--gpus")["gpus"]] == list(catalog.gpus())
    assert [q["quantity"] for q in calc("--quantities")["quantities"]] == list(quantities())
    assert "a100-80gb" in run("--gpus").stdout
    assert "6,738,415,616" in run("--models").stdout


def test_models_and_gpus_of_ones_own_are_used(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        "[models.tiny]\nlayers = 2\nhidden = 8\nheads = 2\nkv_heads = 1\nintermediate = 16\nvocab = 10\ntied = true\n"
        'gated = false\n[gpus.big]\nmarketed = "1 TB"\nbandwidth = "1 TB/s"\ncompute = "1 PFLOP/s"\n',
        encoding="utf-8",
    )
    found = calc("kv_bytes_per_token", "--catalog", str(own), "--model", "tiny")
    assert found["value"] == str(2 * 2 * 1 * 4 * 2)
    assert calc("gpu_memory", "--catalog", str(own), "--gpu", "big")["value"] == str(10**12)
    assert "tiny" in run("--models", "--catalog", str(own)).stdout
    own.write_text("[models.tiny]\nlayers = 0\n", encoding="utf-8")
    done = run("weights", "--catalog", str(own))
    assert done.exit_code == 2
    assert "layers = 0" in done.stderr


def test_no_limit_is_an_answer_and_the_parts_of_a_group_are_named() -> None:
    free = calc("context", "--model", "mistral-7b-v0.1", "--gpu", "h100", "concurrency=4")
    assert (free["value"], free["infeasible"], free["binding"]) == ("no limit", False, None)
    group = calc("kv_budget", "--model", "llama-3-70b", "--gpu", "h100", "tensor_parallel=8")
    assert group["remarks"] == ["kv_budget is that of each GPU of the group."]
    together = calc("token_capacity", "--model", "llama-3-70b", "--gpu", "h100", "tensor_parallel=8")
    assert together["remarks"] == ["token_capacity is that of the group of GPUs together."]
    step = calc("decode_step_time", "--model", "mixtral-8x7b", "--gpu", "h100", "batch=4", "context=100")
    assert step["binding"] == "decode_bytes / (bandwidth * mbu)"
    assert "at least the weights that one token meets" in step["remarks"][0]
