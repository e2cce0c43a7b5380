"""`grade diagnose` as it is typed: its verdict, its explanations, its JSON and its exit status."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from grader.cli.app import app

FREE_LINK = ["communication_time=0s", "tensor_parallel=1", "layers=2", "hidden=4", "batch=1"]  # nothing is sent
GQA = ["--quantity", "kv_bytes_per_token", "--model", "llama-3-8b"]


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["diagnose", *args])


def test_a_right_number_is_right_and_exits_with_0() -> None:
    done = run("131072B", *GQA)
    assert (done.exit_code, done.output) == (0, "Right: kv_bytes_per_token = 131,072 B/token.\n")


def test_a_wrong_number_is_told_its_slip_and_exits_with_1() -> None:
    done = run("512 KiB", *GQA)
    assert done.exit_code == 1
    assert "131,072 B/token, not 524,288 B/token" in done.output
    assert "The hidden size was used" in done.output
    assert run("512 KiB", *GQA, "--exit-zero").exit_code == 0


def test_the_json_is_the_contract() -> None:
    found = json.loads(run("512 KiB", *GQA, "--json").stdout)
    assert (found["schema"], found["right"], found["unit"], found["verdict"]) == (1, "131072", "B/token", "wrong")
    assert {"slips": ["hidden-for-kv-width"], "value": "524288"}.items() <= found["explanations"][0].items()
    assert found["explanations"][0]["sentence"]


def test_a_number_that_no_slip_gives_is_left_unexplained() -> None:
    done = run("1234567B", *GQA)
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, "No known slip explains it.")


def test_names_are_taken_as_they_are_published() -> None:
    for gpu in ("H200-SXM-141GB", "NVIDIA H200", "8x H200 SXM", "h200"):
        assert "sparsity" in run("1979 TFLOPS", "--quantity", "peak_flops", "--gpu", gpu, "dtype=bf16").output
    for model in ("Llama-3-8B", "meta-llama/Meta-Llama-3-8B", "Llama-3-8B-Instruct", "llama 3 8b"):
        assert run("131072B", "--quantity", "kv_bytes_token", "--model", model, "dtype=fp16").exit_code == 0


def test_a_share_of_the_peak_is_called_as_it_was_asked() -> None:
    asked = ("--quantity", "MFU", "--gpu", "H100-SXM5-80GB", "achieved=480 TFLOP/s")
    assert json.loads(run("24.3%", *asked, "--json").stdout)["quantity"] == "mfu"
    assert "mfu = 0.485339" in run("48.5%", *asked).output


def test_a_number_of_few_figures_is_told_so() -> None:
    assert "so few figures" in run("3.3 MB", *GQA).output
    assert "No known slip explains it." in run("3.3333 MB", *GQA).output


def test_a_negative_number_is_an_answer_and_no_option() -> None:
    done = run("-5 GB", "--quantity", "kv_budget", "--model", "llama-2-7b", "--gpu", "a100-80gb")
    assert done.output == "Wrong: kv_budget = 66.5232 GB, not -5 GB.\nkv_budget is never negative.\n"


def test_twice_the_peak_is_the_one_with_sparsity_and_nothing_else() -> None:
    found = json.loads(run("1513 TFLOPS", "--quantity", "compute", "--gpu", "h100-pcie-80gb", "--json").stdout)
    assert [explanation["slips"] for explanation in found["explanations"]] == [["sparse-peak"]]


def test_the_reading_of_a_right_number_is_said() -> None:
    done = run("128 KB", *GQA)
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "Understood: KB counts 1,024 bytes.")
    assert json.loads(run("128 KB", *GQA, "--json").stdout)["convention"] == "KB counts 1,024 bytes"


def test_a_right_value_that_does_not_follow_can_be_stated() -> None:
    group = ("--quantity", "throughput", "throughput=63.25", "gpus=8")
    assert run("63.3 tok/s", *group).exit_code == 0
    assert "multiplied by the 8 GPUs" in run("506 tokens/second on an H200", *group).output


def test_a_value_that_cannot_exist_is_wrong_whatever_the_number() -> None:
    done = run("5", "--quantity", "concurrency", "--model", "llama-2-70b", "--gpu", "a100-80gb", "context=4096")
    assert done.exit_code == 1
    assert "there is no such value" in done.output


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["foo", *GQA], "cannot be read"),
        (["5 s", *GQA], "is measured in B/token"),
        (["5", "--quantity", "contxt"], "did you mean context"),
        (["5", "--quantity", "context", "--model", "lama"], "There is no model"),
        (["5", "--quantity", "context", "dtype=fp17"], "is no number format"),
        (["5", "--quantity", "context", "layers=2", "layers=3"], "layers is given twice"),
        (["5", "--quantity", "context", "layers"], "is not NAME=VALUE"),
        (["5", "--quantity", "context", "--gpu", "h1000"], "There is no GPU"),
        (["9" * 300, *GQA], "at most 200 characters"),
        (["5", "--quantity", "context"], "cannot be found from this"),
        (["5"], "Missing option '--quantity'"),
        (["5 GB/s", "--quantity", "link_bandwidth", *FREE_LINK], "cannot be calculated"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_and_status_2(args: list[str], words: str) -> None:
    done = run(*args)
    assert done.exit_code == 2
    assert words in done.output
    assert "Traceback" not in done.output
