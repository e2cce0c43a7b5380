"""From a prompt to the load of a server: prefill, first token, request, mean number in service (F11 and F21)."""

from grader.family import FINE, Ask, Draw, Family, Menu, OwnSlip
from spec import quantities as q
from spec.phases import prefill_rate, service_time, ttft_of_prefill
from spec.queueing import mean_concurrency


def of_one_size(draw: Draw) -> bool:
    """Keep wait, prefill and decode within a factor of each other, so that each of them shows in the sums."""
    v = draw.values
    prefill, decode = v["prompt"], v["output"] * v["prefill_rate"]
    wait = v["wait"] * v["prefill_rate"]
    return prefill <= 12 * wait <= 144 * prefill and decode <= 30 * v["decode_rate"] * (prefill + wait)


family = Family(
    asks=(
        Ask(q.prefill_time, "How long, in ms, does the prefill of one prompt take?", "ms", FINE),
        Ask(q.ttft, "What is the time to first token, in ms?", "ms", FINE),
        Ask(q.service_time, "How long, in s, is a request in service?", tolerance=FINE),
        Ask(q.mean_concurrency, "How many sequences are in service on average?", tolerance=FINE),
    ),
    by=(prefill_rate, ttft_of_prefill, service_time, mean_concurrency),
    given=Menu(
        wait=("60 ms", "80 ms", "120 ms", "150 ms", "250 ms", "400 ms", "600 ms", "900 ms"),
        prompt=(800, 1200, 1500, 2000, 3000, 4000, 6000, 7500, 9000, 12_000),
        prefill_rate=(2000, 3000, 4000, 6000, 8000, 10_000, 12_000, 15_000),
        output=(20, 30, 40, 60, 80, 100, 150, 200, 250, 300, 400),
        decode_rate=(20, 25, 30, 40, 50, 60, 75),
        arrival_rate=tuple(f"{n} request/min" for n in (24, 30, 45, 75, 90, 150, 180, 240, 300, 450, 600)),
    ),
    wording="""Requests arrive at {{ arrival_rate }}, each with a prompt of {{ prompt }} and an output of {{ output }}.
        A request waits {{ wait }}; then its prompt is prefilled at {{ prefill_rate }}, which yields the first token.
        After that its whole output is decoded at {{ decode_rate }}. It is in service from its arrival on.""",
    slips=(
        OwnSlip(
            "output-prefilled",
            "The output was prefilled too; its tokens come one by one afterwards.",
            lambda v: (v["prompt"] + v["output"]) / v["prefill_rate"],
            q.prefill_time,
        ),
        OwnSlip(
            "at-the-decode-rate",
            "The prompt was processed at the rate of decode.",
            lambda v: v["prompt"] / v["decode_rate"],
            q.prefill_time,
        ),
        OwnSlip(
            "decode-step-added",
            "One decode step was added; the end of prefill already yields the first token.",
            lambda v: v["ttft"] + 1 / v["decode_rate"],
            q.ttft,
        ),
    ),
    objective="littles-law",
    section="sizing",
    keep=of_one_size,
    revision=2,
)
