"""How much longer a decoded token takes than a token of the prompt (F20)."""

from grader.family import Ask, Draw, Family, Menu, OwnSlip
from spec import quantities as q
from spec.batching import decode_rate
from spec.phases import phase_ratio, tpot

ASSUMED_PROMPT, CHAPTER_PROMPT = 1000, 2000
RIDGE = 300  # operations per byte, as of a large GPU in 16 bits: 295 of an H100, 293 of a B200


def makes_whole_prompts(draw: Draw) -> bool:
    """Keep a ratio that a prompt of whole tokens has, within a factor of four of the drawn one's, and not printed.

    A prefill reads the weights as a step does, so it takes no less than one and no ratio exceeds the prompt. From the
    ridge on its arithmetic takes longer than that, and the ratio grows no more.
    """
    v = draw.values
    steps = v["prefill_time"] * v["decode_rate"]
    if steps < 1 or v["phase_ratio"] > v["prompt"] or max(v["phase_ratio"], v["prompt"] / steps) > RIDGE:
        return False
    wanted = v["phase_ratio"] * steps
    printed = (v["prompt"], v["decode_rate"], 1000 * v["prefill_time"])
    given_away = any(v["prompt"] == number * steps for number in printed)
    sensible = wanted.denominator == 1 and wanted <= 4 * v["prompt"] <= 16 * wanted
    return sensible and wanted != v["decode_rate"] and not given_away


family = Family(
    asks=Ask(q.phase_ratio, "How many times as long as a token of the prompt does a decoded token take?"),
    inverse=(
        Ask(
            q.prompt,
            "How long is the prompt, in tokens, if a decoded token takes {{ phase_ratio }} times as long as one of "
            "its tokens?",
        ),
        Ask(
            q.prefill_time,
            "How long does the prefill take, in ms, if a decoded token takes {{ phase_ratio }} times as long as a "
            "token of the prompt?",
            "ms",
        ),
        Ask(
            q.decode_rate,
            "At what rate, in tokens/s, does the sequence decode if a decoded token takes {{ phase_ratio }} times as "
            "long as a token of the prompt?",
        ),
    ),
    by=(decode_rate, tpot, phase_ratio),
    given=Menu(
        prompt=(80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 750, 800, 1200, 1500, 2500, 3000, 4000),
        prefill_time=(
            *("20 ms", "25 ms", "30 ms", "40 ms", "50 ms", "60 ms", "80 ms", "100 ms", "120 ms", "150 ms", "200 ms"),
            *("250 ms", "300 ms", "400 ms"),
        ),
        decode_rate=(10, 16, 20, 25, 40, 60, 75, 80, 100, 120),
        phase_ratio=(8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300),
    ),
    wording="""The prefill of a prompt{% if prompt is defined %} of {{ prompt }}{% endif %}
        {% if prefill_time is defined %}takes {{ prefill_time }}{% else %}yields the first token{% endif %}; every
        further token is decoded in a step of its own
        {%- if decode_rate is defined %}, at {{ decode_rate }}{% endif %}.""",
    slips=(
        OwnSlip(
            "thousand-tokens",
            "A prompt of 1,000 tokens was assumed; its length is given.",
            lambda v: None if v["prompt"] == ASSUMED_PROMPT else ASSUMED_PROMPT * v["tpot"] / v["prefill_time"],
            q.phase_ratio,
        ),
        OwnSlip(
            "prompt-of-another-example",
            "A prompt of 2,000 tokens was assumed; its length follows from the two times and their ratio.",
            lambda v: None if "prompt" not in v else CHAPTER_PROMPT,
            q.prompt,
        ),
        OwnSlip(
            "sum-of-phases",
            "The times of prefill and one step were added and compared with the prefill; compare time per token.",
            lambda v: (v["prefill_time"] + v["tpot"]) / v["prefill_time"],
            q.phase_ratio,
        ),
        OwnSlip(
            "prompt-forgotten",
            "A step was compared with the whole prefill; the prefill processes all tokens of the prompt.",
            lambda v: v["tpot"] / v["prefill_time"],
            q.phase_ratio,
        ),
        OwnSlip(
            "rate-for-time",
            "The rate in tokens/s was used as the ms that a token takes.",
            lambda v: v["prompt"] * v["decode_rate"] / (1000 * v["prefill_time"]),
            q.phase_ratio,
        ),
        OwnSlip(
            "rate-for-time",
            "The rate in tokens/s was used as the ms that a token takes.",
            lambda v: v["phase_ratio"] * 1000 * v["prefill_time"] / v["decode_rate"],
            q.prompt,
        ),
        OwnSlip(
            "times-exchanged",
            "The time of a step was divided by that of the prefill; it is the other way round.",
            lambda v: v["phase_ratio"] * v["tpot"] / v["prefill_time"],
            q.prompt,
        ),
        OwnSlip(
            "time-per-token",
            "That is how long one token of the prompt takes; the prefill processes all of them.",
            lambda v: v["prefill_time"] / v["prompt"],
            q.prefill_time,
        ),
        OwnSlip(
            "rate-for-time",
            "The rate in tokens/s was used as the ms that a token takes.",
            lambda v: v["prompt"] * v["decode_rate"] / (1000 * v["phase_ratio"]),
            q.prefill_time,
        ),
        OwnSlip(
            "rate-of-prefill",
            "That is the rate of prefill; a decoded token takes longer by the ratio.",
            lambda v: v["prompt"] / v["prefill_time"],
            q.decode_rate,
        ),
        OwnSlip(
            "prompt-forgotten",
            "A step was compared with the whole prefill; the prefill processes all tokens of the prompt.",
            lambda v: 1 / (v["phase_ratio"] * v["prefill_time"]),
            q.decode_rate,
        ),
        OwnSlip(
            "prompt-forgotten",
            "A step was compared with the whole prefill; the prefill processes all tokens of the prompt.",
            lambda v: v["tpot"] / v["phase_ratio"],
            q.prefill_time,
        ),
        OwnSlip(
            "time-for-rate",
            "That is how many ms a decoded token takes; the rate is asked for.",
            lambda v: 1000 / v["decode_rate"],
            q.decode_rate,
        ),
    ),
    objective="prefill-decode",
    section="prefill-decode",
    revision=2,
    keep=makes_whole_prompts,
)
