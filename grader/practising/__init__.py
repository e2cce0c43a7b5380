"""What a learner is asked next: a rule of a few sentences, and what it is worked out from.

Mastery of an objective is the share of its last five questions that the learner got right with the first answer and
without help; four of five master it. The next exercise is of the objective for which the product of two numbers is
largest: the questions missing to six right ones, and the exercises back to its newest one. Of its families those come
first that show a slip which the learner made and has not avoided since, and then those that the learner has not met and
that show slips which no question tested yet; of several, the one for which the product of two numbers is largest: those
untested slips and one more, and the exercises back to its newest one. Of the next forty draws of the family that the
learner has not met, that is posed which shows most slips made, and then most untested ones. A draw shows a slip where
the judge names that slip alone. No draw comes twice, and the chapter's own exercises are not drawn.

What is shown comes from `families.toml`, so that choosing loads the chosen family alone.
"""

from grader.practising.choosing import choose, draw, pose_next, trained, unfinished
from grader.practising.history import LAST, History, Standing, history
from grader.practising.objectives import OBJECTIVES, Objective, UnknownObjective, found
from grader.practising.table import Entry, families

__all__ = [
    "LAST",
    "OBJECTIVES",
    "Entry",
    "History",
    "Objective",
    "Standing",
    "UnknownObjective",
    "choose",
    "draw",
    "families",
    "found",
    "history",
    "pose_next",
    "trained",
    "unfinished",
]
