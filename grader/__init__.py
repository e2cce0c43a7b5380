"""How it is judged: exercises drawn, answers read, mistakes named."""

__version__ = "0.1.0"
