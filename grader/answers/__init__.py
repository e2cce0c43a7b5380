"""Answers that come back: a class's files are read, judged by the key file alone, recorded, and become a gradebook.

No law, template or family is loaded here: a key file holds everything that judging takes.
"""

from grader.answers.answer import Answer, Unplaced
from grader.answers.gradebook import Gradebook, Line, Total
from grader.answers.grading import Graded, Grading
from grader.answers.key import BadKey, Key, KeyItem, read_key
from grader.answers.reading import Unreadable, read_answers

__all__ = [
    "Answer",
    "BadKey",
    "Gradebook",
    "Graded",
    "Grading",
    "Key",
    "KeyItem",
    "Line",
    "Total",
    "Unplaced",
    "Unreadable",
    "read_answers",
    "read_key",
]
