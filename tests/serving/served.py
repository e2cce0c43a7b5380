"""What the tests serve: the chapter's model on its GPUs, and requests drawn small."""

from __future__ import annotations

from fractions import Fraction

from spec.catalog import gpu
from spec.claims.settings import Serving
from spec.invariants.reference import Reference
from spec.serving.timing import Roofline, roofline


def chapter_server(
    gpu_name: str = "a100-80gb", mfu: Fraction = Fraction(1, 2), mbu: Fraction = Fraction(4, 5)
) -> Serving:
    """Return the chapter's 7B on a GPU, at half of its compute and four fifths of its bandwidth unless told."""
    return Serving(Reference(), "chapter-7b", gpu_name, mfu, mbu)


def timing_of(server: Serving, overhead: Fraction = Fraction(0)) -> Roofline:
    """Return the time model of a server, from its laws."""
    sizes = server.sizes
    return roofline(
        weights=server.weights,
        kv_bytes_per_token=server.kv_bytes_per_token,
        flops_per_token=server.flops_per_token,
        attention_flops_per_pair=server.impl.attention_flops_per_pair(
            **{n: sizes[n] for n in ("layers", "heads", "head_dim")}
        ),
        compute=gpu(server.gpu_name).quantities()["compute"],
        bandwidth=gpu(server.gpu_name).quantities()["bandwidth"],
        mfu=server.mfu,
        mbu=server.mbu,
        overhead=overhead,
    )
