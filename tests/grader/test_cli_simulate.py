"""`grade simulate` as it is typed: scenarios, traces, workloads, the page, progress, Ctrl-C and every refusal."""

from __future__ import annotations

import json
import re
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given
from hypothesis import strategies as st

from grader.cli import simulate
from grader.cli.app import app
from grader.simulation import running
from grader.simulation.timeline import LEVELS, PLAIN_LEVELS, drawn
from grader.simulation.words import share
from grader.simulation.workload import read_workload
from spec.serving.draws import Lognormal, Uniform
from spec.serving.scenarios import scenarios
from spec.serving.watch import Watch
from spec.serving.workload import Phase, Workload

pytestmark = pytest.mark.law

TRACE = "arrival,prompt,output\n" + "".join(f"{n / 10},{500 + 37 * (7 * n % 40)},{20 + n}\n" for n in range(40))


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["simulate", *map(str, args)])


def answer(*args: str | Path) -> dict[str, Any]:
    done = run(*args, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["schema"] == 1
    return found


@pytest.fixture(scope="module")
def oom() -> dict[str, Any]:
    return answer("--scenario", "kv-oom")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE, encoding="utf-8")
    return path


def test_the_scenarios_are_those_of_the_specification() -> None:
    assert list(simulate.SCENARIOS) == list(scenarios())


def test_a_scenario_shows_its_failure_and_its_cures(oom: dict[str, Any]) -> None:
    assert [each["name"] for each in oom["runs"]] == [case.name for case in scenarios()["kv-oom"].cases]
    failing, *cures = oom["runs"]
    assert failing["metrics"]["lost"] == sum(len(crash["members"]) for crash in failing["crashes"]) > 0
    assert failing["signals"][0].startswith("Memory ran out")
    for cure in cures:
        assert cure["metrics"]["lost"] == 0
        assert not any("ran out" in sentence and "never ran out" not in sentence for sentence in cure["signals"])


def test_the_timeline_adds_up_to_the_metrics(oom: dict[str, Any]) -> None:
    for each in oom["runs"]:
        columns, metrics = each["timeline"], each["metrics"]
        width = columns[1]["seconds"]
        widths = [*[width] * (len(columns) - 1), metrics["seconds"] - width * (len(columns) - 1)]
        use = sum(c["kv_use"] * w for c, w in zip(columns, widths, strict=True)) / metrics["seconds"]
        assert use == pytest.approx(metrics["kv_use"], rel=1e-6)
        assert sum(c["preemptions"] for c in columns) == metrics["preemptions"]
        assert all(c["kv_use"] <= c["kv_most"] + 1e-9 for c in columns)
        assert [step["seconds"] for step in each["order"]] == sorted(step["seconds"] for step in each["order"])


def test_starvation_is_told_from_load() -> None:
    starved, free, *_ = answer("--scenario", "prefill-starvation")["runs"]
    assert any(sentence.startswith("Starved:") for sentence in starved["signals"])
    assert not any("Starved" in sentence for sentence in free["signals"])


def test_what_breaks_first_differs_between_the_ramps() -> None:
    long, short = answer("--scenario", "breakage-order")["runs"]
    assert long["order"][0]["what"] == "KV use reached 90 %"
    assert short["order"][0]["what"] == "all slots were in flight"


def test_thrashing_is_named() -> None:
    first, *_, last = answer("--scenario", "preemption-thrash")["runs"]
    assert any(sentence.startswith("Thrashing:") for sentence in first["signals"])
    assert not any("had to leave" in sentence for sentence in last["signals"])


@pytest.mark.roundtrip
def test_csv_and_json_lines_are_the_same_trace(trace: Path, tmp_path: Path) -> None:
    names, *rows = TRACE.splitlines()
    lines = [json.dumps(dict(zip(names.split(","), map(float, row.split(",")), strict=True))) for row in rows]
    other = tmp_path / "trace.jsonl"
    other.write_text("\n".join(lines), encoding="utf-8")
    assert answer(trace) == answer(other)
    assert answer(trace)["runs"][0]["metrics"]["requests"] == 40


def test_options_build_the_server_that_they_name(trace: Path) -> None:
    few = answer(trace, "--slots", "2")["runs"][0]["metrics"]
    many = answer(trace)["runs"][0]["metrics"]
    assert few["concurrency"] <= 2 < many["concurrency"]
    static = answer(trace, "--static", "0.5", "--slots", "4")["runs"][0]
    assert static["metrics"]["waste"] > 0 == many["waste"]
    assert any("were padding" in sentence for sentence in static["signals"])
    assert answer(trace, "--scheduler", "chunked=256")["runs"][0]["metrics"]["mixed"] > 0
    refused = answer(trace, "--queue", "0", "--slots", "2")["runs"][0]
    assert refused["metrics"]["refused"] > 0
    assert any("503" in sentence for sentence in refused["signals"])
    small = answer(trace, "token_capacity=4000", "--reserve", "prompt")["runs"][0]
    assert small["kv_tokens"] == 4000
    assert small["metrics"]["lost"] > 0
    again = answer(trace, "token_capacity=4000", "--reserve", "prompt", "--when-full", "recompute")["runs"][0]
    assert again["metrics"]["preemptions"] > 0 == again["metrics"]["lost"]
    assert answer(trace, "--overhead", "0.01")["runs"][0]["metrics"]["seconds"] > many["seconds"]
    assert answer(trace, "--unit", "ms")["runs"][0]["metrics"]["seconds"] < many["seconds"]
    assert answer(trace, "--gpu", "h100-sxm")["runs"][0]["metrics"]["seconds"] < many["seconds"]


def test_what_was_assumed_and_what_does_not_matter_is_said(trace: Path) -> None:
    assumed = {each["name"]: (each["value"], each["unit"]) for each in answer(trace)["assumed"]}
    assert list(assumed) == ["activations", "safety_margin", "weight_bits", "kv_width", "mfu", "mbu"]
    assert assumed["mfu"] == ("0.5", "1")
    assert assumed["activations"] == ("8000000000", "B")
    assert "mfu" not in {each["name"] for each in answer(trace, "mfu=40%")["assumed"]}
    said = " ".join(run(trace, "context=4096", "mfu=40%").stdout.split())
    assert "Not needed: context." in said
    assert "mbu = 0.8" in said
    assert "mfu =" not in said


def test_the_workload_of_the_help_is_drawn_as_it_says(tmp_path: Path) -> None:
    file = tmp_path / "load.toml"
    file.write_text(simulate.FILES, encoding="utf-8")
    meant = Workload(
        (Phase(120, 1, 3),), Lognormal(1500, Fraction(6, 10), 20, 8000), Uniform(50, 400), max_tokens=512
    ).requests(1)
    assert answer("--workload", file)["runs"][0]["metrics"]["requests"] == len(meant)
    assert read_workload(file) == meant
    assert read_workload(file, 2) != meant


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("phases = 1", 1, "write at least one [[phases]]"),
        ("", 0, "write at least one [[phases]]"),
        ("[[phases]]\nseconds = 1\nrate = -1", 3, "a number from 0"),
        ("[[phases]]\nseconds = 1\nrate = 1", 0, "write a table [prompt]"),
        ("[[phases]]\nseconds = 1\nrte = 1", 3, "did you mean rate?"),
        ("[[phases]]\nseconds = 1\nrate = 1\n[prompt]\nlow = 1", 4, "lengths are fixed"),
        ("[[phases]]\nseconds = 1\nrate = 1\n[prompt]\nlow = 9\nhigh = 3", 6, "from 9"),
        ("[[phases]]\nseconds = 1\nrate = 0\n[prompt]\nfixed = 1\n[output]\nfixed = 1", 1, "no request comes"),
        ("[[phases]]\nseconds = 9999\nrate = 9999\n[prompt]\nfixed = 1\n[output]\nfixed = 1", 1, "99,980,001 requests"),
        ("[[phases]]\nseconds = = 1", 2, "line 2, column 11"),
    ],
)
def test_a_bad_workload_is_refused_in_one_sentence_with_its_line(
    tmp_path: Path, text: str, line: int, why: str
) -> None:
    file = tmp_path / "load.toml"
    file.write_text(text, encoding="utf-8")
    done = run("--workload", file)
    assert done.exit_code == 2
    assert why in done.stderr
    assert f"line {line}" in done.stderr or not line
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ((), "Give one of a trace, --workload FILE or --scenario NAME."),
        (("t.csv", "--scenario", "kv-oom"), "Give one of"),
        (("none.csv",), "none.csv cannot be read"),
        (("t.csv", "--scheduler", "lifo"), "There is no scheduler 'lifo'"),
        (("t.csv", "--scheduler", "share=1"), "There is no scheduler 'share=1'"),
        (("t.csv", "--scheduler", "chunked=0"), "There is no scheduler 'chunked=0'"),
        (("t.csv", "--reserve", "none", "--when-full", "swap"), "must check for room"),
        (("t.csv", "--model", "llama-3-70b"), "There is no room for any cache"),
        (("t.csv", "--model", "llama-9"), "There is no model 'llama-9'"),
        (("t.csv", "token_capacity=8"), "no room for a block"),
        (("t.csv", "tensor_parallel=2"), "tensor_parallel is not simulated"),
        (("t.csv", "mfu=200%"), "mfu=2 is not possible"),
        (("t.csv", "--overhead", "nan"), "is no number from 0 to 60"),
        (("t.csv", "--overhead", "1e999999999"), "is no number from 0 to 60"),
        (("t.csv", "--html", "none/page.html"), "none/page.html cannot be written"),
        (("--scenario", "kv-oom", "--slots", "4"), "leave --slots out"),
        (("--scenario", "context-surprise", "--model", "llama-2-7b"), "leave --model out"),
        (("bad.csv",), "bad.csv: line 2, column 3 has 'x' tokens of prompt"),
        (("latin.csv",), "latin.csv is no UTF-8 text"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_sentence(
    args: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("arrival,prompt,output\n0,10,2\n", encoding="utf-8")
    Path("bad.csv").write_text("arrival,prompt,output\n0,x,2\n", encoding="utf-8")
    Path("latin.csv").write_bytes(b"arrival,prompt,output\n0,10,\xe9\n")
    done = run(*args)
    assert done.exit_code == 2
    assert why in done.stderr
    assert json.loads(run(*args, "--json").stdout.splitlines()[-1])["error"] in done.stderr


def test_a_page_that_cannot_be_written_is_the_one_object_of_json(trace: Path, tmp_path: Path) -> None:
    done = run(trace, "--json", "--html", tmp_path / "nowhere" / "page.html")
    assert done.exit_code == 2
    assert "cannot be written" in json.loads(done.stdout)["error"]


def test_one_request_is_one(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("arrival,prompt,output\n0,5,5\n", encoding="utf-8")
    assert "\n1 request to " in run(path).stdout


def test_no_more_than_the_common_prefix_is_shared_whatever_the_blocks(tmp_path: Path) -> None:
    """160 tokens of 1,760, in blocks of 16 or of 1: as long to work on as without, but for these."""
    path = tmp_path / "prefix.toml"
    rest = "[[phases]]\nseconds = 10\nrate = 5\n[prompt]\nfixed = 1600\n[output]\nfixed = 20\n"
    path.write_text("prefix = 160\n" + rest, encoding="utf-8")
    fine, coarse = (answer("--workload", path, "--block-size", size)["runs"][0]["metrics"] for size in ("1", "16"))
    for name in ("ttft", "latency", "prefill", "seconds"):
        assert fine[name] == coarse[name]


def test_ctrl_c_stops_with_what_is_known_so_far(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Watch):
        def step(self) -> bool:
            if self.engine.tally.steps > 20 and not raised:
                raised.append(True)
                signal.raise_signal(signal.SIGINT)
            return super().step()

    raised: list[bool] = []
    monkeypatch.setattr(running, "Watch", Interrupted)
    before = signal.getsignal(signal.SIGINT)
    done = run(trace, "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 130
    assert "Stopped: this is what is known so far." in done.stderr
    assert signal.getsignal(signal.SIGINT) is before
    [part] = found["runs"]
    assert not found["whole"]
    assert part["metrics"]["requests"] + part["coming"] == 40
    assert 0 < part["metrics"]["seconds"] < answer(trace)["runs"][0]["metrics"]["seconds"]


def test_a_second_ctrl_c_ends_it_at_once(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Watch):
        def step(self) -> bool:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            return super().step()

    monkeypatch.setattr(running, "Watch", Interrupted)
    before = signal.getsignal(signal.SIGINT)
    done = run(trace)
    assert (done.exit_code, done.stdout) == (130, "")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_that_is_stopped_before_it_began_is_still_printed(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.Stop, "wanted", True)
    page = trace.parent / "page.html"
    done = run(trace, "--html", page)
    assert done.exit_code == 130
    assert "Stopped before the end." in page.read_text(encoding="utf-8")


def test_long_runs_tell_how_far_they_are(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "EVERY", -1)
    monkeypatch.setattr(running, "LOOK", 1)
    said = run(trace).stderr.splitlines()
    through = [int(re.fullmatch(r"server: (\d+) of 40 requests are through", line)[1]) for line in said]  # type: ignore[index]
    assert through == sorted(through)
    assert through[-1] == 40


def parsed(path: Path) -> Element:
    """Parse as a browser does, and refuse what a browser would repair."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    found: Element = parser.parse(path.read_text(encoding="utf-8"))
    return found


def test_the_page_is_one_sound_file_that_says_what_the_terminal_says(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    done = run("--scenario", "kv-oom", "--html", file)
    page = parsed(file)
    assert not {e.tag for e in page.iter()} & {"script", "link", "img", "iframe"}
    assert "url(" not in file.read_text(encoding="utf-8")
    text = " ".join("".join(page.itertext()).split())
    said = " ".join(done.stdout.split())
    sentences = [" ".join("".join(e.itertext()).split()) for e in page.iter("li")]
    assert len(sentences) > 6
    assert all(sentence in said for sentence in sentences)
    assert "out of memory" in text
    plots = [e for e in page.iter() if str(e.tag).endswith("}svg")]
    assert len(plots) == 3 + 3 + 4  # one more where there are preemptions
    for plot in plots:
        assert plot.get("role") == "img"
        assert plot.get("aria-label")
        numbers = [float(n) for path in plot for n in re.findall(r"-?\d+(?:\.\d+)?", path.get("d", ""))]
        assert numbers
        assert min(numbers) >= 0
        assert max(numbers) <= 1000
    assert all(e.get("scope") in {"col", "row"} for e in page.iter("th"))


def test_names_of_files_are_text_on_the_page(tmp_path: Path) -> None:
    trace = tmp_path / "<b>&.csv"
    trace.write_text(TRACE, encoding="utf-8")
    assert run(trace, "--html", tmp_path / "page.html").exit_code == 0
    page = parsed(tmp_path / "page.html")
    assert not list(page.iter("b"))
    assert "<b>&.csv" in "".join(page.itertext())


@given(st.lists(st.integers(0, 50), min_size=1), st.sampled_from([LEVELS, PLAIN_LEVELS]))
def test_only_nothing_is_drawn_empty_and_only_what_is_full_is_drawn_full(values: list[int], levels: str) -> None:
    line = drawn(values, 50, levels)
    assert len(line) == len(values)
    for value, sign in zip(values, line, strict=True):
        assert (sign == levels[0]) == (value == 0)
        assert (sign == levels[-1]) == (value == 50)
    order = [levels.index(sign) for _, sign in sorted(zip(values, line, strict=True))]
    assert order == sorted(order)


@given(st.fractions(0, 1))
@example(Fraction(9951, 10_000))
@example(Fraction(1, 10**9))
def test_a_share_is_all_or_none_only_where_it_is(value: Fraction) -> None:
    assert (share(value) == "100 %") == (value == 1)
    assert (share(value) == "0 %") == (value == 0)
