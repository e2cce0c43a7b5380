"""The chapter's lab: thirteen steps and thirty-eight claims, each measured on the laws or by running the simulator.

A step asks an implementation of the laws, such as `Reference()`, and the parts of `spec.serving`. Change a law or a
part, and the claims that rest on it fail.
"""

from __future__ import annotations

from spec.lab import batching, context, growth, memory, phases, throughput
from spec.lab.step import Step

__all__ = ["STEPS", "Step"]

STEPS: tuple[Step, ...] = (
    *growth.STEPS,
    *memory.STEPS,
    *batching.STEPS,
    *phases.STEPS,
    *context.STEPS,
    *throughput.STEPS,
)
