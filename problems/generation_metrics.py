"""How long a generation takes, how much of it is decode, and from which output on decode takes longer (F41)."""

from grader.exercise import EXACT
from grader.family import FINE, Ask, Family, Menu, OwnSlip
from spec import quantities as q
from spec.batching import decode_rate
from spec.phases import decode_share, total_time, tpot, ttft_of_prefill
from spec.roofline import break_even

family = Family(
    asks=(
        Ask(q.total_time, "How long, in ms, does it take from arrival to the last token?", "ms", EXACT),
        Ask(q.decode_share, "What share of that time, as a number from 0 to 1, comes after the first token?", "", FINE),
        Ask(q.decode_rate, "At what rate, in tokens/s, do the tokens after the first one come?", "", FINE),
        Ask(
            q.break_even_output,
            "From how many output tokens on, the first one included, do the steps after the first token take at least "
            "as long as the prefill?",
        ),
    ),
    inverse=(
        Ask(q.output, "How many output tokens does it ask for if the last one comes {{ total_time }} after arrival?"),
        Ask(
            q.tpot,
            "How long, in ms/token, does each step take if the last token comes {{ total_time }} after arrival?",
            "ms/token",
        ),
    ),
    by=(ttft_of_prefill, total_time, decode_share, tpot, decode_rate, break_even),
    given=Menu(
        wait=("10 ms", "15 ms", "20 ms", "30 ms", "45 ms", "70 ms", "110 ms"),
        prefill_time=(
            *("43 ms", "50 ms", "65 ms", "85 ms", "95 ms", "115 ms", "130 ms", "155 ms", "185 ms", "230 ms", "275 ms"),
            *("310 ms", "380 ms", "465 ms"),
        ),
        output=(8, 10, 12, 15, 18, 20, 24, 25, 30, 32, 36, 40, 48, 50, 60, 64, 80),
        tpot=("7 ms/token", "9 ms/token", "12 ms/token", "14 ms/token", "18 ms/token", "20 ms/token", "24 ms/token"),
    ),
    wording="""A request{% if output is defined %} for {{ output }} of output{% endif %} {% if wait is defined %}waits
        {{ wait }}; then its{% else %}does not wait; its{% endif %} prompt is prefilled in {{ prefill_time }}, which
        yields the first token. Every further token takes one step
        {%- if tpot is defined %}, at {{ tpot }}{% endif %}.""",
    slips=(
        OwnSlip(
            "output-over-rate",
            "The output was divided by the decode rate; the first token comes from prefill, and waiting counts too.",
            lambda v: v["output"] * v["tpot"],
            q.total_time,
        ),
        OwnSlip(
            "share-of-the-first-token",
            "That is the share up to the first token.",
            lambda v: v["ttft"] / v["total_time"],
            q.decode_share,
        ),
        OwnSlip(
            "decode-to-first-token",
            "The time of the steps was compared with the time to first token instead of with the whole.",
            lambda v: (v["output"] - 1) * v["tpot"] / v["ttft"],
            q.decode_share,
        ),
        OwnSlip(
            "rate-of-the-whole",
            "That is the rate over the whole time; wait and prefill yield none of the later tokens.",
            lambda v: v["output"] / (v["wait"] + v["prefill_time"] + (v["output"] - 1) * v["tpot"]),
            q.decode_rate,
        ),
        OwnSlip(
            "time-for-rate",
            "That is how many ms a token takes; the rate is asked for.",
            lambda v: 1000 * v["tpot"],
            q.decode_rate,
        ),
        OwnSlip(
            "first-token-counted",
            "The first token was counted too; it comes from prefill, before the steps.",
            lambda v: v["output"] / ((v["output"] - 1) * v["tpot"]),
            q.decode_rate,
        ),
        OwnSlip(
            "wait-with-the-prefill",
            "The steps were compared with the time to first token; the wait is no part of the prefill.",
            lambda v: -(-(v["wait"] + v["prefill_time"]) // v["tpot"]) + 1,
            q.break_even_output,
        ),
        OwnSlip(
            "tokens-per-second",
            "That is how many tokens a second of decoding gives.",
            lambda v: 1 / v["tpot"],
            q.break_even_output,
        ),
        OwnSlip(
            "per-output-token",
            "The whole time was divided by the tokens; the first one comes from prefill, after the wait.",
            lambda v: v["total_time"] / v["output"],
            q.tpot,
        ),
    ),
    objective="prefill-decode",
    section="prefill-decode",
)
