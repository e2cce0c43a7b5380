"""What every right mean number of requests in service has in common: Little's law."""

from grader.property import Clause, Named, PropertyFamily, Setting
from spec import quantities as q
from spec.phases import service_time
from spec.queueing import mean_concurrency

GIVES = "the mean number of requests in service"

family = PropertyFamily(
    settings=(
        Setting(
            "Requests arrive at a steady rate, and each stays until it is served.",
            (
                Named(
                    "busy",
                    GIVES,
                    mean_concurrency,
                    q.mean_concurrency,
                    (q.arrival_rate, q.service_time),
                    ("T_s / (1 / lambda)",),
                ),
            ),
            "busy(2*lambda) > busy(lambda)",
            (
                Clause(
                    "busy(2*lambda, T_s=3*T_s) == 6*busy(lambda)", "The mean is in proportion to the rate and the stay."
                ),
            ),
        ),
        Setting(
            "Requests arrive at a steady rate; each waits for its first token and then decodes its output.",
            (
                Named(
                    "busy",
                    GIVES,
                    mean_concurrency.composed(service_time),
                    q.mean_concurrency,
                    (q.arrival_rate, q.ttft, q.output, q.decode_rate),
                    ("lambda * TTFT + lambda * m / r",),
                ),
            ),
            "busy(2*lambda) == 2*busy(lambda)",
            (
                Clause(
                    "busy(2*lambda, TTFT=3*TTFT, m=15*m, r=5*r) == 6*busy(lambda)",
                    "The mean is in proportion to the rate, and to both times of a request together.",
                ),
                Clause(
                    "busy(lambda, TTFT=TTFT + x, m=1, r=1) == busy(lambda, m=x + 1, r=1)",
                    "It does not matter whether a second is spent before the first token or after it.",
                ),
            ),
        ),
    ),
    objective="littles-law",
    section="sizing",
)
