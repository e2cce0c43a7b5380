"""Little's law: the mean number of sequences in service, the slots it takes, and the load that leads to it (F21)."""

from grader.family import FINE, Ask, Family, Menu, OwnSlip
from spec import quantities as q
from spec.phases import service_time
from spec.queueing import keeps_up, mean_concurrency

family = Family(
    asks=(
        Ask(q.mean_concurrency, "How many sequences are in service on average?", tolerance=FINE),
        Ask(q.slots, "With how many batch slots at least does the queue stay stable?"),
    ),
    inverse=(
        Ask(
            q.arrival_rate,
            "At what arrival rate, in requests/min, are {{ mean_concurrency }} in service on average?",
            "request/min",
        ),
        Ask(
            q.service_time,
            "How long, in s, does one request stay in service on average if {{ mean_concurrency }} are in service?",
            hides=(q.output, q.decode_rate),
        ),
        Ask(
            q.decode_rate,
            "At what rate, in tokens/s, does each sequence decode if {{ mean_concurrency }} are in service on average?",
        ),
    ),
    by=(service_time, mean_concurrency, keeps_up),
    given=Menu(
        arrival_rate=tuple(f"{n} request/min" for n in (24, 30, 36, 45, 60, 75, 90, 100, 120, 150, 180, 240, 300, 360)),
        prompt=(500, 800, 1000, 1500, 2000, 3000, 4000, 6000),
        output=(100, 150, 200, 250, 300, 400, 500, 600, 800),
        ttft=("200 ms", "250 ms", "400 ms", "500 ms", "600 ms", "800 ms", "1200 ms", "1500 ms"),
        decode_rate=(20, 25, 40, 50, 60, 75, 80, 100),
    ),
    wording="""Requests arrive {% if arrival_rate is defined %}at {{ arrival_rate }}{% else %}steadily{% endif %},
        each with a prompt of {{ prompt }}{% if output is defined %} and an output of {{ output }}{% endif %}.
        The first token takes {{ ttft }} on average
        {%- if decode_rate is defined %}, and then each sequence decodes its whole output at {{ decode_rate }}
        {%- elif output is defined %}, and then each sequence decodes its whole output at a steady rate{% endif %}.""",
    also=(q.prompt, q.ttft),
    slips=(
        OwnSlip(
            "rate-of-all",
            "That is the rate of all sequences in service together.",
            lambda v: v["decode_rate"] * v["mean_concurrency"],
            q.decode_rate,
        ),
        OwnSlip(
            "product",
            "The rate was multiplied by the number in service; the law divides the number by the rate.",
            lambda v: v["arrival_rate"] * v["mean_concurrency"],
            q.service_time,
        ),
        OwnSlip(
            "ttft-added",
            "The time to first token was added; the time in service contains it.",
            lambda v: v["mean_concurrency"] / v["arrival_rate"] + v["ttft"],
            q.service_time,
        ),
        OwnSlip(
            "decode-only",
            "The time to first token was taken off; it is part of the time in service.",
            lambda v: v["mean_concurrency"] / v["arrival_rate"] - v["ttft"],
            q.service_time,
        ),
    ),
    objective="littles-law",
    section="sizing",
    revision=2,
)
