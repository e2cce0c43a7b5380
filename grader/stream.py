"""The stream that exercises are drawn from: the same that the simulator draws its requests from."""

from spec.stream import Stream

__all__ = ["Stream"]
