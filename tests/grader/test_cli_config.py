"""`--config config.json`: what `calc` and `diagnose` take from it, say of it and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from grader.cli.app import app
from spec import catalog

FOLDER = Path(__file__).parents[1] / "data" / "configs"
QWEN = str(FOLDER / "Qwen--Qwen3-8B_config.json")
GPT_OSS = str(FOLDER / "openai--gpt-oss-20b_config.json")
LLAMA = str(FOLDER / "meta-llama--Meta-Llama-3.1-8B_config.json")
IMAGES = str(FOLDER / "Qwen--Qwen3-VL-8B-Instruct_config.json")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def answer(*arguments: str, status: int = 0) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == status, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("goal", ["parameters", "kv_bytes_per_token", "weights"])
def test_a_file_gives_what_the_row_of_the_catalogue_gives(goal: str) -> None:
    from_file, from_row = answer("calc", goal, "--config", QWEN), answer("calc", goal, "--model", "qwen3-8b")
    assert from_file["value"] == from_row["value"]
    assert "config" not in from_row
    assert list(from_file)[-1] == "config"


def test_the_json_says_the_architecture_and_every_field_that_was_used() -> None:
    found = answer("calc", "parameters", "--config", QWEN)["config"]
    said = json.loads(Path(QWEN).read_text(encoding="utf-8"))
    assert found["model_type"] == "qwen3"
    assert found["used"] == {name: said[name] for name in found["used"]}
    assert {"num_hidden_layers", "hidden_size", "head_dim", "tie_word_embeddings"} <= found["used"].keys()
    assert found["defaults"] == {}


def test_a_person_reads_which_fields_were_used_and_what_the_architecture_gives() -> None:
    words = " ".join(run("calc", "parameters", "--config", IMAGES).stdout.split())
    assert words.startswith("parameters = 8,190,735,360 parameters")
    assert (
        "Read from Qwen--Qwen3-VL-8B-Instruct_config.json: model_type = qwen3_vl, text_config.num_hidden_layers"
        in words
    )
    assert "Of qwen3_vl, the language model (text_config) is read and nothing else." in words
    words = " ".join(run("calc", "parameters", "--config", LLAMA).stdout.split())
    assert words.endswith("Left to the architecture: head_dim = 128.")


def test_a_value_given_by_hand_wins_over_the_file() -> None:
    found = answer("calc", "kv_bytes_per_token", "layers=1", "--config", QWEN)
    assert found["value"] == str(2 * 1 * 8 * 128 * 2)


def test_what_is_only_looked_up_names_the_file() -> None:
    assert (
        "Looked up in openai--gpt-oss-20b_config.json, not derived."
        in answer("calc", "layers", "--config", GPT_OSS)["remarks"]
    )


def test_a_capacity_takes_the_window_and_the_width_from_the_file_as_remarks() -> None:
    found = answer("calc", "kv_bytes_per_sequence", "--config", QWEN, "context=100000")
    assert any("window of Qwen--Qwen3-8B_config.json is 40,960 tokens" in remark for remark in found["remarks"])
    assert any("give weight_bits=4 " in r for r in answer("calc", "parameters", "--config", GPT_OSS)["remarks"])


def test_diagnose_takes_the_sizes_of_a_file() -> None:
    model = catalog.model("qwen3-8b")
    right = 2 * model.layers * model.kv_heads * model.head_dim * 2
    found = answer("diagnose", f"{right}B", "--quantity", "kv_bytes_per_token", "--config", QWEN)
    assert (found["verdict"], found["config"]["model_type"]) == ("right", "qwen3")
    wrong = ("diagnose", f"{right // 2}B", "--quantity", "kv_bytes_per_token", "--config", QWEN)
    assert answer(*wrong, status=1)["explanations"]
    words = " ".join(run(*wrong).stdout.split())
    assert "Read from Qwen--Qwen3-8B_config.json: model_type = qwen3, num_hidden_layers = 36," in words
    assert words.startswith("Wrong: ")


@pytest.mark.parametrize("command", [("calc", "parameters"), ("diagnose", "8B", "--quantity", "kv_bytes_per_token")])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--config", "no/such.json"), "cannot read such.json: No such file or directory."),
        (("--config", QWEN, "--model", "qwen3-8b"), "--model NAME or --config FILE, not both."),
        (("--config", str(FOLDER / "README.md")), "cannot read README.md: it is not valid JSON"),
        (("--config", str(FOLDER / "deepseek-ai--DeepSeek-V3.2_config.json")),
         "the architecture deepseek_v32 is not covered: an indexer"),
        (("--config", str(FOLDER / "nvidia--Llama-3.1-70B-Instruct-FP8_hf_quant_config.json")),
         "model_type is missing: this file describes a quantisation"),
    ],
)  # fmt: skip
def test_what_gives_no_model_is_one_sentence_and_status_2(
    command: tuple[str, ...], arguments: tuple[str, ...], says: str
) -> None:
    done = run(*command, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.output


def test_a_mistyped_architecture_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "qwem3"}', encoding="utf-8")
    assert "did you mean qwen3" in run("calc", "parameters", "--config", str(path)).stderr
