"""How a batch is put together: once for all its sequences, or anew whenever there is room."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from spec.serving.admission import Admission, Reserve
from spec.serving.request import Job


@dataclass(frozen=True, slots=True)
class Continuous:
    """Requests join at any iteration and leave with their last token.

    Attributes:
        slots: the most that are in flight at once.
    """

    slots: int

    def __post_init__(self) -> None:
        if self.slots < 1:
            raise ValueError(f"slots is {self.slots}; it must be at least 1")


@dataclass(frozen=True, slots=True)
class Static:
    """A batch starts when enough requests wait, and the next one when it has ended.

    Attributes:
        size: the requests of a batch.
        flush: nanoseconds after which the first that waits is served in a smaller batch. None is never: the last
            requests may then wait for ever.
        padded: prompts and outputs are padded to the longest, and all end together. Otherwise each leaves with its
            last token, and its place stays empty.
    """

    size: int
    flush: int | None = None
    padded: bool = True

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size is {self.size}; it must be at least 1")
        if self.flush is not None and self.flush < 0:
            raise ValueError(f"flush is {self.flush}; it must be at least 0 nanoseconds, or None for never")

    @property
    def slots(self) -> int:
        """The most that are in flight at once."""
        return self.size

    def group(self, admission: Admission) -> list[tuple[Job, int]]:
        """Return the next batch, first come first, and the tokens to reserve for each: as many as there is room for.

        A padded batch is laid out for its longest prompt and its longest output. Where nothing is checked it takes
        all that it may.
        """
        waiting = list(islice(admission.waiting, self.size))
        for count in range(len(waiting), 0, -1):
            batch = waiting[:count]
            tokens = self._reserved(batch, admission.rules.reserve)
            blocks = sum(admission.cache.blocks(each) for each in tokens)
            if admission.rules.reserve is Reserve.NONE or blocks <= admission.cache.available:
                if self.padded:
                    self._pad(batch)
                return list(zip(batch, tokens, strict=True))
        return []

    def _reserved(self, batch: list[Job], reserve: Reserve) -> list[int]:
        prompts = [job.prompt for job in batch]
        limits = [0 if reserve is Reserve.NONE else job.request.max_tokens for job in batch]
        if self.padded:
            return [max(prompts) + max(limits)] * len(batch)
        return [prompt + limit for prompt, limit in zip(prompts, limits, strict=True)]

    @staticmethod
    def _pad(batch: list[Job]) -> None:
        prompt, output = max(job.prompt for job in batch), max(job.output for job in batch)
        for job in batch:
            job.prompt, job.output = prompt, output
