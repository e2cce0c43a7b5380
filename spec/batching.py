"""What a batch gains and costs when decode waits for memory."""

from __future__ import annotations

from spec import quantities as q
from spec.laws import Identity, Slip, author_order

with author_order():
    cache_to_weights = Identity(
        q.cache_to_weights,
        q.context * q.kv_bytes_per_token / q.weights,
        constant="1/sequence",
        says="How much cache one sequence adds to a step, against the weights that every step reads.",
        section="batching",
    )
    batching_gain = Identity(
        q.batching_gain,
        q.batch * (1 + q.cache_to_weights) / (1 + q.batch * q.cache_to_weights),
        says="A batch reads the weights once for all, but every cache for itself.",
        section="batching",
        slips=[
            Slip(
                "linear-gain",
                "The gain was taken as the batch size; every sequence adds its own cache to read.",
                q.batch,
            ),
            Slip(
                "latency-for-gain",
                "That is the factor by which a step slows down.",
                (1 + q.batch * q.cache_to_weights) / (1 + q.cache_to_weights),
            ),
        ],
    )
    latency_factor = Identity(
        q.latency_factor,
        (1 + q.batch * q.cache_to_weights) / (1 + q.cache_to_weights),
        constant="1/sequence",
        says="A step of a batch lasts longer by the caches it reads.",
        section="batching",
        slips=[
            Slip(
                "linear-latency", "The step was taken to slow down with the batch; the weights are read once.", q.batch
            )
        ],
    )
    batching_limit = Identity(
        q.batching_limit,
        1 + 1 / q.cache_to_weights,
        constant="1/sequence",
        says="However large the batch, the caches bound the gain.",
        section="batching",
        slips=[Slip("one-forgotten", "The sequence itself counts too: 1 + 1/r.", 1 / q.cache_to_weights)],
    )
    throughput = Identity(
        q.throughput,
        q.batch / q.decode_step_time,
        constant="token/sequence",
        says="Every step gives one token to each sequence of the batch.",
        section="batching",
        slips=[
            Slip(
                "one-sequence",
                "That is the rate of one sequence; the batch makes one token for each.",
                1 / q.decode_step_time,
            )
        ],
    )
    decode_rate = Identity(
        q.decode_rate,
        1 / q.decode_step_time,
        constant="token",
        says="One sequence gets one token per step.",
        section="batching",
        slips=[Slip("whole-batch", "That is the rate of the whole batch.", q.batch / q.decode_step_time)],
    )
    mean_length = Identity(
        q.mean_length,
        q.total_length / q.batch,
        says="The mean is the sum over the number of sequences.",
        section="batching",
    )
    padding_waste = Identity(
        q.padding_waste,
        1 - q.mean_length / q.longest_length,
        says="A padded batch is as long as its longest sequence for each of them: what is above the mean is padding.",
        section="batching",
        slips=[
            Slip("useful-for-waste", "That is the share that is no padding.", q.mean_length / q.longest_length),
            Slip(
                "padding-to-useful",
                "The padding was compared with the useful tokens instead of with the whole batch.",
                q.longest_length / q.mean_length - 1,
            ),
        ],
    )
