"""What does not follow, or cannot be written out, is answered in one sentence that says the least that is missing."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from grader.cli.app import app

ALL = "layers, hidden, heads, kv_heads, head_dim, intermediate, vocab, gated, tied"


@pytest.mark.parametrize(
    ("asked", "add"),
    [
        ("parameters", f"--model NAME, or values of {ALL}."),
        ("parameters layers=16 hidden=512 heads=8", f"--model NAME, or values of {ALL[ALL.index('kv_heads') :]}."),
        ("kv_bytes_per_token layers=32", "--model NAME, or values of kv_heads, head_dim."),
        ("ttft --model llama-2-7b prompt=100", "--gpu NAME, or values of compute, bandwidth."),
        ("concurrency context=4096", "--model NAME --gpu NAME."),
        ("context --model llama-2-7b", "concurrency=... --gpu NAME."),
        ("mean_concurrency arrival_rate=5", "service_time=...."),
    ],
)
def test_what_is_missing_is_named(asked: str, add: str) -> None:
    done = CliRunner().invoke(app, ["calc", *asked.split()])
    assert done.exit_code == 2
    assert done.output.strip().endswith(f"cannot be found from this; add {add}")


def test_what_is_named_is_enough() -> None:
    sizes = [f"{name}={1 if name in {'gated', 'tied'} else 64}" for name in ALL.split(", ")]
    assert CliRunner().invoke(app, ["calc", "parameters", *sizes]).exit_code == 0


def test_what_cannot_be_written_out_is_refused_in_one_sentence() -> None:
    for servers, load in (("1990", "1000"), ("1500", "10.123")):
        done = CliRunner().invoke(app, ["calc", "blocking", f"offered_load={load}", f"servers={servers}"])
        assert done.exit_code == 2
        assert "is a fraction of thousands of digits here" in done.output
    done = CliRunner().invoke(app, ["calc", "kv_bytes_per_token", f"layers={'9' * 5000}"])
    assert done.exit_code == 2
    assert len(done.output) < 200
