"""What is tried against a queue or for more tokens a second: one change of a server at a time, and its run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from spec import catalog, memory, phases
from spec.serving.batching import Continuous, Static
from spec.serving.draws import Fixed, Uniform
from spec.serving.engine import Engine
from spec.serving.metrics import Metrics, metrics
from spec.serving.request import Request
from spec.serving.server import Server
from spec.serving.timing import roofline
from spec.serving.workload import Phase, Workload
from spec.solving import Exact, Infeasible

GB = 10**9
MFU, MBU = Fraction(1, 2), Fraction(4, 5)
ENDLESS = 10**6  # seconds: longer than any run
UNCHANGED, SMALLER_MODEL = "unchanged", "smaller-model"
REMEDIES = {
    UNCHANGED: "nothing is changed",
    "half-slots": "only half as many sequences as now may be in flight",
    "double-slots": "the limit on sequences in flight is doubled, and the room is not",
    "double-memory": "the GPU has twice the memory",
    "double-bandwidth": "the GPU has twice the memory bandwidth",
    "double-compute": "the GPU has twice the compute",
    "fp8-cache": "an element of the cache takes one byte instead of two",
    "4-bit-weights": "a weight takes 4 bits instead of 16, and the arithmetic stays as it is",
    SMALLER_MODEL: "the model is exchanged for a smaller one",
    "tight-limit": "room is reserved for the longest output that comes, and for no more",
    "static-batches": "a batch is padded and runs until all in it have ended",
}
# What each model is exchanged for. Fewer weights may come with a larger cache: llama-2-7b shares no key heads.
SMALLER = {
    "llama-2-13b": "llama-2-7b",
    "llama-3-8b": "llama-2-7b",
    "mistral-7b-v0.3": "llama-2-7b",
    "qwen3-8b": "qwen2.5-7b",
    "gemma-7b": "mistral-7b-v0.3",
}


@dataclass(frozen=True, slots=True)
class Deployment:
    """A model on a GPU, and the requests it gets.

    Attributes:
        model, gpu: names of the catalogue.
        reserved: GB for activations and the safety margin.
        slots: sequences that may be in flight; more than the cache holds is no limit.
        prompt: tokens of each prompt.
        output: the least and the most tokens of an output, all between alike.
        limit: the output tokens that each request states, and for which room is reserved.
        memory, bandwidth, compute: factors on what the GPU has.
        weight_bits: bits of a weight.
        kv_width: bytes of a cached element.
        static: batches run until all in them have ended.
    """

    model: str
    gpu: str
    reserved: int
    slots: int
    prompt: int
    output: tuple[int, int]
    limit: int
    memory: int = 1
    bandwidth: int = 1
    compute: int = 1
    weight_bits: int = 16
    kv_width: int = 2
    static: bool = False

    @property
    def weights(self) -> Exact:
        """The bytes of the weights."""
        parameters = catalog.model(self.model).parameters
        return memory.weights(parameters=parameters, weight_bits=self.weight_bits)  # type: ignore[no-any-return]

    @property
    def kv_bytes_per_token(self) -> Exact:
        """The bytes of the cache of a token."""
        shape = catalog.model(self.model).quantities()
        found: Exact = memory.kv_bytes_per_token(
            kv_width=self.kv_width, **{name: shape[name] for name in ("layers", "kv_heads", "head_dim")}
        )
        return found

    @property
    def room(self) -> int:
        """The tokens that the cache holds; 0 where there is none."""
        budget = memory.kv_budget(
            gpu_memory=self.memory * catalog.gpu(self.gpu).quantities()["gpu_memory"],
            weights=self.weights,
            activations=self.reserved * GB,
            safety_margin=0,
        )
        if isinstance(budget, Infeasible):
            return 0
        found = memory.holds_tokens.solve(
            "token_capacity", kv_bytes_per_token=self.kv_bytes_per_token, kv_budget=budget
        )
        return 0 if isinstance(found, Infeasible) else int(found)

    @property
    def held(self) -> int:
        """How many requests the cache has room for, each with its prompt and its limit."""
        return self.room // (self.prompt + self.limit)

    @property
    def tenths(self) -> int:
        """The weights in tenths of a GB, rounded, as they are printed."""
        return round(Fraction(self.weights) * 10 / GB)

    @property
    def smaller(self) -> str | None:
        """The smaller model that may take its place; None where there is none with a window for the requests."""
        name = SMALLER.get(self.model)
        window = 0 if name is None else catalog.model(name).window or 0
        return name if self.prompt + self.limit <= window else None

    @property
    def remedies(self) -> tuple[str, ...]:
        """The remedies that may be tried."""
        return tuple(name for name in REMEDIES if name != SMALLER_MODEL or self.smaller is not None)

    def means(self, remedy: str) -> str:
        """Say what one of the remedies does to it, with the sizes that it brings.

        Raises:
            ValueError: there is no such remedy.
        """
        changed = self.changed(remedy)
        if remedy != SMALLER_MODEL:
            return REMEDIES[remedy]
        return (
            f"{REMEDIES[remedy]}, {catalog.model(changed.model).name}, whose 16-bit weights take "
            f"{changed.tenths / 10:g} GB and whose cache takes {changed.kv_bytes_per_token:,} B/token, and requests "
            "keep their lengths in tokens"
        )

    @property
    def says(self) -> str:
        """The server in sentences."""
        gpu, (low, high) = catalog.gpu(self.gpu), self.output
        output = f"{low} tokens" if low == high else f"{low} to {high} tokens, all lengths equally likely"
        return (
            f"{catalog.model(self.model).name} runs on one {gpu.name} with {gpu.marketed} of memory, {gpu.bandwidth} "
            f"and {gpu.compute}. Its 16-bit weights take {self.tenths / 10:g} GB, its cache takes "
            f"{self.kv_bytes_per_token:,} B/token, and {self.reserved} GB are reserved for activations and a safety "
            f"margin. Each request has a prompt of {self.prompt:,} tokens and an output of {output}; room for the "
            f"prompt and {self.limit:,} tokens of output is reserved before it is let in, first come first served. At "
            f"most {self.slots} sequences may be in flight at once, and no more than the cache has room for. Batching "
            "is continuous, and a prompt is worked on before the next decode step. A step takes the longer of its "
            "arithmetic, at half of the peak, and its traffic, at four fifths of the bandwidth."
        )

    def changed(self, remedy: str) -> Deployment:
        """Return what one of the remedies makes of it.

        Raises:
            ValueError: there is no such remedy.
        """
        in_flight = min(self.slots, self.held)
        changes: dict[str, Deployment] = {
            UNCHANGED: self,
            "half-slots": replace(self, slots=max(1, in_flight // 2)),
            "double-slots": replace(self, slots=2 * self.slots),
            "double-memory": replace(self, memory=2 * self.memory),
            "double-bandwidth": replace(self, bandwidth=2 * self.bandwidth),
            "double-compute": replace(self, compute=2 * self.compute),
            "fp8-cache": replace(self, kv_width=1),
            "4-bit-weights": replace(self, weight_bits=4),
            "tight-limit": replace(self, limit=self.output[1]),
            "static-batches": replace(self, static=True),
        }
        if self.smaller is not None:
            changes[SMALLER_MODEL] = replace(self, model=self.smaller)
        if remedy not in changes:
            raise ValueError(f"there is no remedy {remedy!r} here; there are {', '.join(self.remedies)}")
        return changes[remedy]

    def server(self) -> Server:
        """Build the server."""
        gpu, sizes = catalog.gpu(self.gpu).quantities(), catalog.model(self.model).quantities()
        shape = {name: sizes[name] for name in ("layers", "heads", "head_dim")}
        timing = roofline(
            weights=self.weights,
            kv_bytes_per_token=self.kv_bytes_per_token,
            flops_per_token=phases.flops_per_token(parameters=sizes["parameters"]),
            attention_flops_per_pair=phases.attention_flops_per_pair(**shape),
            compute=self.compute * gpu["compute"],
            bandwidth=self.bandwidth * gpu["bandwidth"],
            mfu=MFU,
            mbu=MBU,
        )
        in_flight = max(1, min(self.slots, self.held))
        return Server(timing, self.room, batching=Static(in_flight, 0) if self.static else Continuous(self.slots))

    def arriving(self, rate: Exact, seed: int, count: int) -> list[Request]:
        """Draw requests that arrive at random, so many a second."""
        low, high = self.output
        output = Fixed(low) if low == high else Uniform(low, high)
        work = Workload((Phase(ENDLESS, rate),), Fixed(self.prompt), output, max_tokens=self.limit)
        return work.requests(seed, count)

    def waiting(self, seed: int, count: int) -> list[Request]:
        """Draw the same requests, all there at the start."""
        return [replace(request, arrival=0) for request in self.arriving(1, seed, count)]

    def run(self, requests: Iterable[Request]) -> Metrics:
        """Serve requests to the end, and measure."""
        server = self.server()
        return metrics(server, Engine(server, requests).run())
