"""Exercise 4 of the chapter: the concurrency of a load, and the GPUs it needs by memory."""

from grader.family import FINE, ONE_GPU, Ask, Family, Menu
from spec import quantities as q
from spec.memory import kv_budget
from spec.phases import service_time
from spec.queueing import mean_concurrency
from spec.scaling import carries, gpu_holds

family = Family(
    asks=(
        Ask(q.mean_concurrency, "How many sequences are in service on average?", tolerance=FINE),
        Ask(
            q.sequences_per_gpu,
            "How many sequences does one GPU hold, each with prompt and output in full?",
            "sequence",
        ),
        Ask(q.gpus, "By memory alone, what is the smallest number of such GPUs with which the queue stays stable?"),
    ),
    by=(kv_budget, gpu_holds, service_time, mean_concurrency, carries),
    given=Menu(
        gpu=("a100-80gb",),
        weights=("14 GB",),
        activations=("8 GB",),
        safety_margin=("4 GB",),
        kv_bytes_per_token=(524_288,),
        arrival_rate=("100 request/min",),
        prompt=(2000,),
        output=(500,),
        ttft=("200 ms",),
        decode_rate=(50,),
    ),
    wording=f"""{ONE_GPU} The model, a 7B, caches {{{{ kv_bytes_per_token }}}} and
        runs as one copy on each GPU.
        Requests arrive at {{{{ arrival_rate }}}}, each with a prompt of {{{{ prompt }}}} and an output of
        {{{{ output }}}}; the first token takes {{{{ ttft }}}} on average, and then each sequence decodes at
        {{{{ decode_rate }}}}.""",
    objective="gpu-count",
    section="exercises",
    revision=2,
    preset=True,
)
