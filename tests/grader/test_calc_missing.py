"""What does not follow is answered with the least that would have to be added."""

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
