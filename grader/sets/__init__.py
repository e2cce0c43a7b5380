"""Problem sets: a set file becomes sheets to hand out, and keys to keep.

One sheet for everybody (`sheet`), or an individual one for each student of a roster (`hand_out`). How they look is a
format: templates, or a small writer, found by their names (`grader.sets.formats` says what a writer gets).
"""

from grader.sets.blank import save_blank
from grader.sets.definition import InvalidSet, Item, ProblemSet, read_set
from grader.sets.folder import Folder, OtherClass
from grader.sets.handout import HandedOut, hand_out
from grader.sets.refusing import CannotJudge, check
from grader.sets.rendering import NoFormat, files, format_names, rendered, writer
from grader.sets.roster import InvalidRoster, Roster, Student, read_roster
from grader.sets.secret import BadSecret, Secret, find_secret
from grader.sets.sheets import Entry, Sheet, TooFew, record, record_of, sheet
from grader.sets.tolerance import Reaches
from grader.sets.writing import Exists, write

__all__ = [
    "BadSecret",
    "CannotJudge",
    "Entry",
    "Exists",
    "Folder",
    "HandedOut",
    "InvalidRoster",
    "InvalidSet",
    "Item",
    "NoFormat",
    "OtherClass",
    "ProblemSet",
    "Reaches",
    "Roster",
    "Secret",
    "Sheet",
    "Student",
    "TooFew",
    "check",
    "files",
    "find_secret",
    "format_names",
    "hand_out",
    "read_roster",
    "read_set",
    "record",
    "record_of",
    "rendered",
    "save_blank",
    "sheet",
    "write",
    "writer",
]
