"""`grade lint`: families that are there lack nothing, and each lack that is planted in one is found and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import problems
from grader.cli.app import app
from grader.cli.lint import SENTENCES, sentence
from grader.families import MISTAKE, family, slugs
from grader.linting import Lack, lacks

FOLDER = Path(problems.__path__[0])
FEW = 12  # seeds; the tests of the draws look at many

# A family that lacks nothing: what is planted replaces a piece of it.
SOUND = '''"""The time of a prompt and of the tokens after it."""

from grader.family import Ask, Family, Menu, OwnSlip
from spec import quantities as q
from spec.phases import ttft

family = Family(
    asks=Ask(q.ttft, "What is the time to first token, in ms?", "ms"),
    inverse=(
        Ask(q.prompt, "How long must the prompt be, in tokens, for a time to first token of {{ ttft }}?"),
        Ask(q.prefill_rate, "At what rate, in tokens/s, must prefill run for a time to first token of {{ ttft }}?"),
    ),
    by=(ttft,),
    given=Menu(
        wait=("40 ms", "80 ms", "150 ms", "400 ms"),
        prompt=(500, 800, 1500, 2000, 4000, 7500),
        prefill_rate=(2000, 3000, 4000, 8000, 12_000),
        ttft=("300 ms", "500 ms", "700 ms", "800 ms", "1000 ms"),
        decode_rate=(20, 25, 40, 50),
    ),
    wording="""A request waits {{ wait }} in the queue; then its prompt
        {%- if prompt is defined %} of {{ prompt }}{% endif %} is prefilled
        {%- if prefill_rate is defined %} at {{ prefill_rate }}{% endif %}.
        After that it decodes at {{ decode_rate }}.""",
    also=(q.decode_rate,),
    slips=(
        OwnSlip(
            "decode-step-added",
            "One decode step was added; the end of prefill already yields the first token.",
            lambda v: v["ttft"] + 1 / v["decode_rate"],
            q.ttft,
        ),
    ),
    objective="ttft",
    section="ttft",
    infeasible=True,
)
'''

# code of the lack: what is replaced by what, and a piece of the sentence
PLANTED = {
    "no-docstring": ('"""The time of a prompt and of the tokens after it."""', '"""Times"""', "does not begin"),
    "syntax": ("family = Family(", "family = Family((", "is no Python"),
    "fails": ("from spec import quantities as q", "from spec import quantity as q", "Line 4 stops it: ImportError"),
    "no-family": ("family = Family(", "exercises = Family(", "has no `family`"),
    "objective": ('objective="ttft"', 'objective="speed"', "objective speed is none"),
    "section": ('section="ttft"', 'section="speed"', "no section speed"),
    "menu-domain": ("prompt=(500,", "prompt=(0, 500,", "lies outside its domain"),
    "menu-unit": ('wait=("40 ms",', 'wait=("40 GB",', "no amount of it"),
    "not-used": ("decode_rate=(20,", "gpus=(1, 2), decode_rate=(20,", "draws gpus, which no question needs"),
    "undefined": ("decodes at {{ decode_rate }}", "decodes at {{ decode_speed }}", "'decode_speed' is undefined"),
    "no-derivation": ("by=(ttft,)", "by=()", "do not lead to"),
    "raises": ('1 / v["decode_rate"],', "v.rate,", "AttributeError"),
    "float": ('1 / v["decode_rate"],', "0.05,", "gives the float"),
    "slip-never": ('1 / v["decode_rate"],', 'v["decode_speed"],', "no wrong answer of its own"),
    "revision": ("infeasible=True", "infeasible=True, revision=0", "Its revision is 0"),
    "exits": ("family = Family(", "raise SystemExit(3)\nfamily = Family(", "stops it: SystemExit"),
    "opens": ("family = Family(", 'open("/nowhere/at-all")\nfamily = Family(', "stops it: FileNotFoundError"),
    "wide": ('in ms?", "ms"),\n    inverse', 'in ms?", "ms", Tolerance("relative", "0.03")),\n    inverse', "too wide"),
    "narrow": (
        'in ms?", "ms"),\n    inverse',
        'in ms?", "ms", Tolerance("relative", "0.001")),\n    inverse',
        "narrow",
    ),
    "slip-sentence": ("One decode step was added; the end of prefill", "one decode step, the end of", "a capital"),
    "slip-name": ('"decode-step-added"', '"decode step"', "small letters"),
    "not-declared": ("infeasible=True", "infeasible=False", "does not say `infeasible=True`"),
    "typography": ("in the queue;", "in the queue ;", "a space before a comma"),
    "question": ('"What is the time', '"what is the time', "does not ask in a sentence"),
    "given-not-told": ("waits {{ wait }} in", "waits in", "The given wait stands in no text"),
    "on-the-key": ('v["ttft"] + 1 / v["decode_rate"]', 'v["ttft"] + 0 * v["decode_rate"]', "says the same as the key"),
    "small-grid": ("decode_rate=(20, 25, 40, 50)", "decode_rate=(20,)", "points"),
    "never-asked": ("infeasible=True", 'infeasible=True, keep=lambda d: d.values["wait"] > d.values["ttft"]', "never"),
}


def linted(text: str, tmp_path: Path, *options: str) -> Result:
    path = tmp_path / "first_token.py"
    path.write_text(text.replace("import Ask,", "import Ask, Tolerance,", 1), encoding="utf-8")
    return CliRunner().invoke(app, ["lint", str(path), *options])


@pytest.mark.law
@pytest.mark.parametrize("slug", [slug for slug in slugs() if not slug.endswith(MISTAKE)])
def test_the_families_that_are_there_lack_nothing(slug: str) -> None:
    assert [sentence(lack) for lack in lacks(slug, family(slug), "It asks.", FEW)] == []


def test_a_sound_family_lacks_nothing(tmp_path: Path) -> None:
    done = linted(SOUND, tmp_path)
    assert (done.exit_code, done.stdout) == (0, "first-token lacks nothing that 120 seeds show.\n")


@pytest.mark.parametrize("code", PLANTED)
def test_what_is_planted_is_found_and_said(code: str, tmp_path: Path) -> None:
    old, new, said = PLANTED[code]
    assert old in SOUND
    done = linted(SOUND.replace(old, new, 1), tmp_path)
    assert done.exit_code in {1, 2}
    assert said in " ".join(done.output.split())
    assert "Traceback" not in done.output


def test_each_lack_has_a_sentence_that_its_fields_fill() -> None:
    lack = Lack.of("menu-domain", name="prompt", choice=0, domain="at least 1")
    assert sentence(lack) == "The menu's 0 for prompt lies outside its domain, at least 1."
    assert all(text.endswith(".") for text in SENTENCES.values())


def test_what_is_no_python_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "family.txt"
    path.write_text(SOUND, encoding="utf-8")
    done = CliRunner().invoke(app, ["lint", str(path)])
    assert done.exit_code == 2
    assert "no Python file" in done.output


def test_json_lists_what_is_missing(tmp_path: Path) -> None:
    done = linted(SOUND.replace('objective="ttft"', 'objective="speed"'), tmp_path, "--json")
    found = json.loads(done.stdout)
    assert (found["family"], [lack["lack"] for lack in found["lacks"]]) == ("first-token", ["objective"])


def test_a_file_of_the_project_can_be_named() -> None:
    done = CliRunner().invoke(app, ["lint", str(FOLDER / "ttft.py")])
    assert done.exit_code == 0, done.output
