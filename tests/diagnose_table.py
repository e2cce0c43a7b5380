"""Diagnose every row of a table of published numbers: `python tests/diagnose_table.py TABLE.tsv`.

A table is tab-separated with the columns id, quantity, model, dims, gpu, givens, published, published_value,
right_value, right_unit, cause, confidence. `dims` are NAME=VALUE pairs with `;` between them, `givens` the same in the
words of the publication, and `cause` the faults that were made with `+` between them, or `none` for a right number.
Each row is turned into the arguments of `grade diagnose` and judged as the command judges them.
"""

# ruff: noqa: T201  a script prints

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from click.testing import CliRunner

from grader.cli.app import app

COLUMNS = ("id", "quantity", "model", "dims", "gpu", "givens", "published", "right_value", "right_unit", "cause")
# What a published fault is called here: each phrase of a cause, and the slips that say the same.
CAUSES = {
    "hidden instead of kv_heads*head_dim": {"hidden-for-kv-width"},
    "hidden of another model": {"other-hidden", "other-kv-heads", "other-layers"},
    "query heads instead of kv_heads": {"query-heads-for-kv-heads"},
    "kv_heads forgotten": {"one-head"},
    "kv_heads of another model": {"other-kv-heads"},
    "kv_heads of sliding layers": {"sliding-kv-heads"},
    "global head_dim used": {"full-head-dim"},
    "kv_heads doubled": {"other-kv-heads"},
    "element bytes forgotten": {"element-of-1-bytes"},
    "kv element of 1 byte": {"element-of-1-bytes"},
    "values forgotten": {"values-forgotten"},
    "factor 2 applied": {"both-counted-twice"},
    "head count multiplied in again": {"times-heads"},
    "bits read as bytes": {"bits-as-bytes", "bits-for-bytes"},
    "bits and bytes mixed": {"bits-as-bytes", "bits-for-bytes", "element-of-0.5-bytes"},
    "gib printed as gb": {"GiB-printed-as-GB"},
    "mib printed as mb": {"MiB-printed-as-MB"},
    "mib written as gb": {"MiB-printed-as-GB"},
    "head_dim = hidden/heads": {"head-dim-from-hidden", "hidden-for-latent"},
    "sliding window ignored": {"window-ignored"},
    "mla latent replaced": {"latent-as-one-head"},
    "mla treated as mha": {"hidden-for-latent", "latent-as-heads"},
    "layer count of another model": {"other-layers"},
    "kv derived from weight size": {"kv-from-weights"},
    "rounded intermediate": {"rounded-kv-bytes-per-token"},
    "active instead of total": {"active-for-total"},
    "moe total weights ignored": {"active-for-total"},
    "int4 size labelled int8": {"weights-of-4-bits"},
    "fp8 size plus 20%": {"weights-of-8-bits"},
    "fp4 counted as 2 bits": {"weights-of-2-bits"},
    "nominal 4 bits": {"nominal-bits", "weights-of-4-bits"},
    "embeddings, head and norms forgotten": {"layers-only"},
    "norm weights forgotten": {"norms-forgotten"},
    "tied embedding counted twice": {"tied-counted-twice"},
    "marketing size": {"size-from-the-name"},
    "digit typo": {"mistyped-digit"},
    "sparse peak used": {"sparse-peak"},
    "peak of another gpu": {"compute-of-another-gpu"},
    "bandwidth of another sku": {"bandwidth-of-another-gpu"},
    "bandwidth of one chip": {"one-chip-of-two", "one-of-a-group"},
    "gb/s read as gib/s": {"bandwidth-in-GiB"},
    "unit prefix slip": {"prefix-off-by-1000"},
    "fp16 peak used": {"peak-of-wider-format"},
    "whole 8-gpu group": {"times-gpus", "times-a-group"},
    "divided by the context-parallel": {"one-of-a-group", "per-gpus"},
    "load and queue time": {"wait-forgotten"},
    "multiplied by heads": {"times-heads"},
}
OTHER = (  # what rows of the quantity `other` measure, told by their unit and their number
    (r"FLOP/s$", "", "compute"),
    (r"^B/s$", "", "bandwidth"),
    (r"MFU", "", "mfu"),
    (r"FLOP/B", "", "ridge"),
    (r"USD", "", "cost_per_token"),
    (r"heads", "", "kv_heads"),
    (r"^s$", "", "prefill_time"),
    (r"^B$", "", "kv_bytes_per_block"),
)
SHAPE = {"layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "ffn", "kv_lora_rank", "rope", "active"}
WINDOWS = {"Gemma-2": (4096, 0.5), "Gemma-3-27B": (1024, 52), "Gemma-3-1B": (512, 22), "gpt-oss": (128, 0.5)}
# Rows of the catalogue with the same structure as a model of the table.
CATALOGUED = (
    (r"Mixtral-8x7B", "mixtral-8x7b"),
    (r"DeepSeek-V3", "deepseek-v3"),
    (r"Llama-3\.2-1B", "llama-3.2-1b"),
    (r"Llama-2-7B", "llama-2-7b"),
    (r"Llama-3(\.1)?-8B", "llama-3-8b"),
    (r"Llama-3(\.1)?-70B", "llama-3-70b"),
)
COUNTED = {"weight_bytes", "parameters", "ttft", "decode_rate", "gpus"}  # what needs a count of parameters
NO_GIVEN = {"path", "overhead", "cp", "step"}
LATENT = {"kv_lora_rank": "512", "qk_rope_dim": "64"}
RATES = {"compute", "bandwidth", "mfu", "ridge", "decode_rate", "ttft", "gpus"}


class MalformedTable(ValueError):
    """A table that cannot be read; the message is one sentence that says where and why."""


@dataclass(frozen=True)
class Outcome:
    """One row: the arguments it was turned into, what the command said, and what became of it."""

    row: dict[str, str]
    arguments: list[str]
    said: dict[str, object]
    became: str


def rows(path: Path) -> list[dict[str, str]]:
    """Read a table.

    Raises:
        MalformedTable: it is no table of this kind.
    """
    try:
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise MalformedTable(f"{path}: {error}") from None
    header = lines[0].split("\t") if lines else []
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise MalformedTable(f"{path}:1: the header lacks {', '.join(missing)}")
    return [dict(zip(header, line.split("\t"), strict=False)) for line in lines[1:] if not line.startswith("#")]


def arguments(row: dict[str, str]) -> list[str] | None:
    """Return the arguments of `grade diagnose` for a row, or None where its question cannot be asked."""
    goal = _goal(row)
    if goal is None:
        return None
    given = _dims(row, goal) | _givens(row, goal)
    given |= _stated(row, goal, given)
    options = _options(row, goal, given)
    if "--model" in options:  # which brings them, and more that a count needs
        given = {name: value for name, value in given.items() if name not in SHAPE}
    return [_number(row), "--quantity", goal, *options, *(f"{name}={value}" for name, value in given.items())]


def _goal(row: dict[str, str]) -> str | None:
    if row["published"].startswith("K size"):
        return "kv_bytes_total"
    if row["quantity"] != "other":
        return row["quantity"]
    if row["published"].startswith("hidden"):
        return "hidden"
    return next((goal for unit, _, goal in OTHER if re.search(unit, row["right_unit"])), None)


def _number(row: dict[str, str]) -> str:
    """Return the number as it was printed; where a formula was printed, its value."""
    if "formula" in row["published"] or re.match(r"\d+x\d+x|\d+\*", row["published"]):
        return f"{row['published_value']} {row['right_unit']}"
    return row["published"].partition(" (")[0]


def _dims(row: dict[str, str], goal: str) -> dict[str, str]:
    if goal == "hidden":
        return {"hidden": row["right_value"]}
    given: dict[str, str] = {}
    for item in filter(None, row["dims"].split(";")):
        name, _, value = item.partition("=")
        leading = re.match(r"[\d.e+]+", value)
        if leading:
            full = re.search(r"\((\d+) global\)", value)  # the layers in which the cache grows with every token
            given[name] = full[1] if full else leading[0]
        given |= _of_kinds(name, value)
    if row["quantity"] == "attention_scores":
        given.pop("heads", None)  # one matrix per item is stated
    if "DeepSeek-V3" in row["model"] and goal.startswith("kv"):
        given = {name: value for name, value in given.items() if name != "rope"} | LATENT
    for model, (window, share) in WINDOWS.items():
        if row["model"].startswith(model) and goal.startswith("kv"):
            layers = int(int(given["layers"]) * share) if share < 1 else int(share)
            given |= {"sliding_window": str(window), "sliding_layers": str(layers)}
    return given


def _of_kinds(name: str, value: str) -> dict[str, str]:
    """Read a dimension that differs by kind: `8 sliding/2 global`, `60 (50 sliding, 10 global)`."""
    sliding, full = re.search(r"(\d+) sliding", value), re.search(r"(\d+) global", value)
    if sliding and full and name == "layers":
        return {"layers": value.split(maxsplit=1)[0], "sliding_layers": sliding[1]}
    if sliding and name == "layers":
        window = re.search(r"window (\d+)", value)
        return {"layers": value.split(maxsplit=1)[0], "sliding_layers": sliding[1]} | (
            {"sliding_window": window[1]} if window else {}
        )
    return {name: full[1], f"sliding_{name}": sliding[1]} if sliding and full else {}


def _givens(row: dict[str, str], goal: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for item in filter(None, row["givens"].split(";")):
        name, _, value = item.partition("=")
        value = re.sub(r"\s*\(.*\)| KV\b", "", value).strip()
        name = name.replace("engine KV dtype", "kv_dtype")
        if name.strip() not in NO_GIVEN and not (name == "weights" and goal.startswith("kv")):
            given[name.strip()] = value
    return given


def _stated(row: dict[str, str], goal: str, given: dict[str, str]) -> dict[str, str]:
    """Return what the row says of the right value where it does not follow from the rest."""
    words, more = row["cause"], {}
    if goal == "weight_bytes" and not any(re.search(model, row["model"]) for model, _ in CATALOGUED):
        named = re.fullmatch(r"(\d+)B", row["model"])
        bits = {"fp4": 4}.get(given.get("dtype", "").lower(), 8 * float(given.get("bytes_per_param", "1")))
        more["parameters"] = f"{named[1]}e9" if named else f"{round(float(row['right_value']) * 8 / bits)}"
    if goal == "ridge":
        more["bandwidth"] = "8 TB/s"
    if goal == "kv_bytes_per_block":
        more["kv_bytes_per_token"] = str(Fraction(row["right_value"]) / int(given["block"].split()[0]))
    if goal == "mfu" and "achieved" not in given:
        more["achieved"] = f"{float(row['right_value']) * 989:.4f} TFLOP/s"
    if (goal, words[:11]) in {
        ("throughput", "whole 8-GPU"),
        ("throughput", "divided by "),
        ("prefill_time", "unit prefix"),
    }:
        more[goal] = row["right_value"]
    if goal == "decode_rate" and "bandwidth" not in given:
        chips = re.search(r"(\d+) chips, (\d+) GB/s each", row["gpu"])
        rate = re.match(r"([\d.]+) TB/s", row["gpu"])
        more |= {"bandwidth": f"{int(chips[1]) * int(chips[2])} GB/s"} if chips else {}
        more |= {"bandwidth": f"{rate[1]} TB/s"} if rate else {}
    return more


def _options(row: dict[str, str], goal: str, given: dict[str, str]) -> list[str]:
    options: list[str] = []
    gpu = re.sub(r"\s*\(.*\)|^\d+x\s+|^\d+ [TG]B.*|^n\d+", "", row["gpu"]).strip()
    if gpu and goal in RATES:
        options += ["--gpu", gpu]
    model = next((name for pattern, name in CATALOGUED if re.search(pattern, row["model"])), None)
    if model and goal in COUNTED and "params" not in given:
        options += ["--model", model]
    return options


def judged(row: dict[str, str]) -> Outcome:
    """Diagnose one row."""
    typed = arguments(row)
    if typed is None:
        return Outcome(row, [], {}, "not asked")
    done = CliRunner().invoke(app, ["diagnose", *typed, "--json"])
    if done.exit_code not in {0, 1} or (done.exception and not isinstance(done.exception, SystemExit)):
        return Outcome(row, typed, {"error": next(iter(done.output.splitlines()), repr(done.exception))}, "unusable")
    said = json.loads(done.stdout)
    return Outcome(row, typed, said, _became(row, said))


def _became(row: dict[str, str], said: dict[str, object]) -> str:
    right = said["verdict"] == "right"
    if row["cause"] == "none":
        return "right" if right else "right called wrong"
    if right:
        return "wrong called right"
    if not said["explanations"]:
        return "not named"
    wanted = [slips(part) for part in row["cause"].lower().split("+")]
    for explanation in said["explanations"]:  # type: ignore[attr-defined]
        named = set(explanation["slips"])
        if all(slips & named for slips in wanted):
            return "named"
    return "wrongly named"


def slips(part: str) -> set[str]:
    """Return the slips that say the same as a phrase; none for a phrase that is not listed, which nothing names."""
    return next((slips for cause, slips in CAUSES.items() if part.strip().startswith(cause)), set())


def main(paths: list[str]) -> int:
    """Report on one table; 0 if no right number is called wrong, 1 if one is, 2 if there is no table."""
    if len(paths) != 1:
        print("usage: python tests/diagnose_table.py TABLE.tsv", file=sys.stderr)
        return 2
    try:
        outcomes = [judged(row) for row in rows(Path(paths[0]))]
    except MalformedTable as error:
        print(error, file=sys.stderr)
        return 2
    for outcome in outcomes:
        row, said = outcome.row, outcome.said
        named = "; ".join(" + ".join(e["slips"]) for e in said.get("explanations", []))  # type: ignore[attr-defined]
        what = said.get("error") or named or said.get("convention", "")
        print(f"{row['id']}  {outcome.became:18}  {row['confidence']:6}  {row['cause']}  ->  {what}")
    for confidence in ("high", "medium", "low"):
        counts = Counter(outcome.became for outcome in outcomes if outcome.row["confidence"] == confidence)
        print(f"{confidence}: " + ", ".join(f"{count} {became}" for became, count in counts.most_common()))
    return 1 if any(outcome.became == "right called wrong" for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
