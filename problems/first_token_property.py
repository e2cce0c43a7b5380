"""What every right time to first token has in common: a wait, and a prefill in proportion to the prompt."""

from grader.property import Clause, Named, PropertyFamily, Setting
from spec import quantities as q
from spec.phases import total_time, ttft

family = PropertyFamily(
    settings=(
        Setting(
            "A request waits, and then its prompt is processed at a steady rate.",
            (
                Named(
                    "first",
                    "the time to first token",
                    ttft,
                    q.ttft,
                    (q.prompt, q.wait, q.prefill_rate),
                    ("(w * r_p + n) / r_p",),
                ),
            ),
            "first(n + 1) > first(n)",
            (
                Clause(
                    "first(6*n, w=3*w, r_p=2*r_p) == 3*first(n)",
                    "Three times the wait and three times the prefill take three times as long.",
                ),
                Clause(
                    "first(n, w=w + 1, r_p=1) == first(n + 1, r_p=1)",
                    "At a token per second, one more token takes as long as one more second of waiting.",
                ),
            ),
        ),
        Setting(
            "The first token comes from prefill, and every further one takes the same time.",
            (
                Named(
                    "whole",
                    "the time until the last token",
                    total_time,
                    q.total_time,
                    (q.output, q.ttft, q.tpot),
                    ("m * TPOT + (TTFT - TPOT)",),
                ),
            ),
            "whole(m + 1) > whole(m)",
            (
                Clause("whole(1, TTFT=x) == x", "A single token is there when the first one is."),
                Clause("whole(m + x, TPOT=1) == whole(m, TPOT=1) + x", "Every further token takes the same time."),
                Clause(
                    "whole(m, TTFT=3*TTFT, TPOT=3*TPOT) == 3*whole(m)",
                    "Where both times are three times as long, so is the whole.",
                ),
            ),
        ),
    ),
    objective="ttft",
    section="ttft",
)
