"""Prefill and decode: roofline times, time to first token and the latency of one request."""

from __future__ import annotations

import sympy

from spec import quantities as q
from spec.laws import Bound, Identity, Slip, author_order

ROOFLINE = "roofline model (Williams, Waterman, Patterson 2009)"

with author_order():
    flops_per_token = Identity(
        q.flops_per_token,
        2 * q.parameters,
        constant="FLOP/token",
        says="Every parameter is multiplied once and added once for each token.",
        section="prefill-decode",
        superseded_by=(q.experts, q.active_parameters),
        slips=[
            Slip(
                "one-operation",
                "One operation per parameter was counted; a multiply and an add make two.",
                q.parameters,
            ),
            Slip(
                "training", "Six operations per parameter are for training; a forward pass takes two.", 6 * q.parameters
            ),
        ],
    )
    prefill_attention_flops = Identity(
        q.prefill_attention_flops,
        2 * q.layers * q.heads * q.head_dim * q.prompt**2,
        constant="FLOP/token^2",
        says="Causal attention multiplies scores and values over half of the n-by-n matrix.",
        section="prefill-decode",
        slips=[
            Slip(
                "full-matrix",
                "The full matrix was counted; later tokens are masked.",
                4 * q.layers * q.heads * q.head_dim * q.prompt**2,
            )
        ],
    )
    attention_flops_per_pair = Identity(
        q.attention_flops_per_pair,
        2 * q.layers * q.heads * q.head_dim,
        constant="FLOP/token^2",
        says="What causal attention of a prompt costs, for every square of its length.",
        section="prefill-decode",
        slips=[
            Slip(
                "full-matrix",
                "The full matrix was counted; later tokens are masked.",
                4 * q.layers * q.heads * q.head_dim,
            )
        ],
    )
    prefill_flops = Identity(
        q.prefill_flops,
        q.flops_per_token * q.prompt + q.prefill_attention_flops,
        says="The matrices work on every prompt token, and attention on every pair.",
        section="prefill-decode",
        slips=[
            Slip(
                "attention-forgotten",
                "The attention term, quadratic in the prompt, was left out.",
                q.flops_per_token * q.prompt,
            )
        ],
    )
    prefill_bytes = Identity(
        q.prefill_bytes,
        q.weights + q.prompt * q.kv_bytes_per_token,
        says="Prefill reads the weights once and writes the cache of the prompt.",
        section="prefill-decode",
        slips=[
            Slip(
                "weights-per-token",
                "The weights were read once for every token; prefill reads them once.",
                q.prompt * q.weights,
            )
        ],
    )
    prefill_time = Identity(
        q.prefill_time,
        sympy.Max(q.prefill_flops / (q.compute * q.mfu), q.prefill_bytes / (q.bandwidth * q.mbu)),
        says="Prefill takes the longer of its arithmetic and its memory traffic.",
        section="prefill-decode",
        superseded_by=(q.tensor_parallel,),
        source=ROOFLINE,
        slips=[
            Slip(
                "times-added",
                "The two times were added; they overlap, and the longer one counts.",
                q.prefill_flops / (q.compute * q.mfu) + q.prefill_bytes / (q.bandwidth * q.mbu),
            ),
            Slip("memory-floor-only", "Only the memory traffic was timed.", q.prefill_bytes / (q.bandwidth * q.mbu)),
            Slip("compute-only", "Only the arithmetic was timed.", q.prefill_flops / (q.compute * q.mfu)),
        ],
    )

    cached_tokens_of_batch = Identity(
        q.cached_tokens,
        q.batch * q.context,
        name="cached_tokens_of_batch",
        constant="1/sequence",
        says="A batch of equal contexts reads its number times that context.",
        section="prefill-decode",
        slips=[
            Slip("cache-shared", "The cache was read once for the whole batch; every sequence has its own.", q.context)
        ],
    )
    decode_attention_flops = Identity(
        q.decode_attention_flops,
        4 * q.layers * q.heads * q.head_dim * q.cached_tokens,
        constant="FLOP/token",
        says="Each new token is scored against every cached token of its sequence and gathers their values.",
        section="prefill-decode",
    )
    decode_matrix_flops = Identity(
        q.decode_matrix_flops,
        q.batch * q.flops_per_token,
        constant="token/sequence",
        says="A step puts one token of every sequence through the matrices.",
        section="prefill-decode",
    )
    decode_flops = Identity(
        q.decode_flops,
        q.decode_matrix_flops + q.decode_attention_flops,
        says="A step works on the matrices and on attention.",
        section="prefill-decode",
    )
    decode_bytes = Identity(
        q.decode_bytes,
        q.weights + q.cached_tokens * q.kv_bytes_per_token,
        says="A step reads the weights once for the whole batch and every cached token once.",
        section="prefill-decode",
        superseded_by=(q.experts, q.active_parameters),
        slips=[
            Slip("cache-unread", "Only the weights were read; the cache must be read too.", q.weights),
        ],
    )
    decode_step_time = Identity(
        q.decode_step_time,
        sympy.Max(q.decode_flops / (q.compute * q.mfu), q.decode_bytes / (q.bandwidth * q.mbu)),
        says="A decode step takes the longer of its arithmetic and its memory traffic.",
        section="prefill-decode",
        superseded_by=(q.tensor_parallel,),
        source=ROOFLINE,
        slips=[
            Slip(
                "compute-only",
                "Only the arithmetic was timed; decode waits for memory.",
                q.decode_flops / (q.compute * q.mfu),
            ),
        ],
    )

    ttft = Identity(
        q.ttft,
        q.wait + q.prompt / q.prefill_rate,
        says="The first token comes after the wait and the prefill of the prompt.",
        section="ttft",
        slips=[
            Slip(
                "ratio-inverted",
                "The rate was divided by the prompt instead of the prompt by the rate.",
                q.wait + q.prefill_rate / q.prompt,
            ),
            Slip(
                "wait-forgotten",
                "The wait before prefill was left out.",
                q.prompt / q.prefill_rate,
                unless=sympy.Eq(q.wait, 0),
            ),
            Slip("wait-only", "Only the wait was counted; the prompt must still be processed.", q.wait),
        ],
    )

    ttft_of_prefill = Identity(
        q.ttft,
        q.wait + q.prefill_time,
        name="ttft_of_prefill",
        says="The first token comes after the wait and the prefill.",
        section="ttft",
        slips=[
            Slip(
                "wait-forgotten",
                "The wait before prefill was left out.",
                q.prefill_time,
                unless=sympy.Eq(q.wait, 0),
            ),
        ],
    )
    prefill_rate = Identity(
        q.prefill_rate,
        q.prompt / q.prefill_time,
        says="The tokens of the prompt over the time that their prefill takes.",
        section="ttft",
        slips=[Slip("ratio-inverted", "The time was divided by the tokens.", q.prefill_time / q.prompt)],
    )

    service_time = Identity(
        q.service_time,
        q.ttft + q.output / q.decode_rate,
        says="A request is in service until its first token and then for all its output tokens.",
        section="sizing",
        slips=[
            Slip(
                "ttft-forgotten",
                "The time to first token was left out.",
                q.output / q.decode_rate,
                unless=sympy.Eq(q.ttft, 0),
            ),
            Slip("decode-forgotten", "Only the time to first token was counted.", q.ttft),
            Slip(
                "prompt-decoded",
                "The prompt tokens were decoded one by one too.",
                q.ttft + (q.prompt + q.output) / q.decode_rate,
            ),
            Slip(
                "ttft-per-token",
                "The time to first token was added for every output token.",
                q.output * q.ttft + q.output / q.decode_rate,
            ),
        ],
    )

    meets_latency_target = Bound(
        "meets_latency_target",
        q.output / q.decode_rate <= q.latency_target,
        says="All output tokens at the rate of one sequence fit the latency target.",
        section="batching",
        slips=[
            Slip("ratio-inverted", "The rate was divided by the tokens.", q.decode_rate / q.output <= q.latency_target)
        ],
    )
    within_slots = Bound(
        "within_slots",
        q.batch <= q.slots,
        says="A batch holds no more sequences than the server has slots.",
        section="batching",
    )
    ridge = Identity(
        q.ridge,
        q.compute / q.bandwidth,
        says="The intensity at which arithmetic and memory traffic take equally long.",
        section="prefill-decode",
        source=ROOFLINE,
        slips=[Slip("ratio-inverted", "Bandwidth was divided by compute.", q.bandwidth / q.compute)],
    )
    prefill_intensity = Identity(
        q.prefill_intensity,
        q.prefill_flops / q.prefill_bytes,
        says="Arithmetic intensity is work over traffic.",
        section="prefill-decode",
        source=ROOFLINE,
        slips=[Slip("ratio-inverted", "The traffic was divided by the work.", q.prefill_bytes / q.prefill_flops)],
    )
    decode_intensity = Identity(
        q.decode_intensity,
        q.decode_flops / q.decode_bytes,
        says="Arithmetic intensity is work over traffic.",
        section="prefill-decode",
        source=ROOFLINE,
        slips=[Slip("ratio-inverted", "The traffic was divided by the work.", q.decode_bytes / q.decode_flops)],
    )
    required_mfu = Identity(
        q.required_mfu,
        q.flops_per_token * q.prefill_rate / q.compute,
        says="A prefill rate needs this share of the peak; above 1 the rate is impossible.",
        section="ttft",
    )
    tpot = Identity(
        q.tpot,
        q.decode_step_time,
        constant="1/token",
        says="Each output token after the first takes one decode step.",
        section="prefill-decode",
    )
    total_time = Identity(
        q.total_time,
        q.ttft + (q.output - 1) * q.tpot,
        says="The first token comes from prefill; the others take one step each.",
        section="prefill-decode",
        slips=[
            Slip(
                "first-token-decoded", "The first token comes from prefill: one step less.", q.ttft + q.output * q.tpot
            ),
            Slip(
                "ttft-twice",
                "The time to first token was added twice.",
                2 * q.ttft + (q.output - 1) * q.tpot,
                unless=sympy.Eq(q.ttft, 0),
            ),
            Slip("ttft-per-token", "The time to first token was added for every token.", q.output * (q.ttft + q.tpot)),
            Slip(
                "ttft-forgotten",
                "The time to first token was left out.",
                (q.output - 1) * q.tpot,
                unless=sympy.Eq(q.ttft, 0),
            ),
        ],
    )
    decode_share = Identity(
        q.decode_share,
        (q.output - 1) * q.tpot / q.total_time,
        says="The part of the time after the first token.",
        section="prefill-decode",
    )
    phase_ratio = Identity(
        q.phase_ratio,
        q.tpot * q.prompt / q.prefill_time,
        says="How much longer a decoded token takes than a token of the prompt.",
        section="prefill-decode",
        slips=[
            Slip(
                "ratio-inverted",
                "The prefill time per token was divided by the decode time.",
                q.prefill_time / (q.prompt * q.tpot),
            )
        ],
    )

    matrix_work = q.flops_per_token * q.prompt + q.attention_flops_per_pair * q.prompt**2
    traffic = q.weights + q.prompt * q.kv_bytes_per_token
    meets_ttft_target = Bound(
        "meets_ttft_target",
        q.wait + sympy.Max(matrix_work / (q.compute * q.mfu), traffic / (q.bandwidth * q.mbu)) <= q.ttft_target,
        says="Wait and prefill of the prompt fit the target for the first token.",
        section="ttft",
        superseded_by=(q.tensor_parallel,),
        source=ROOFLINE,
        slips=[
            Slip(
                "attention-forgotten",
                "The attention term, quadratic in the prompt, was left out.",
                q.wait + sympy.Max(q.flops_per_token * q.prompt / (q.compute * q.mfu), traffic / (q.bandwidth * q.mbu))
                <= q.ttft_target,
            ),
        ],
    )
