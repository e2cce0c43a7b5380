"""What a family lacks: checks of a file before it is certified, each of them a promise that every family keeps.

A lack is a code with fields; `grader.cli.lint` puts it into a sentence.
"""

from grader.linting.checks import SEEDS, lacks
from grader.linting.lack import Lack
from grader.linting.loading import NoFamily, loaded

__all__ = ["SEEDS", "Lack", "NoFamily", "lacks", "loaded"]
