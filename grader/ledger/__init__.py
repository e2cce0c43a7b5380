"""What was asked and answered, kept for good: posed exercises, submissions, and the help that was taken.

Only the standard library, and as little of it as possible: `grade submit` loads this on every call.
"""

from grader.ledger.errors import Kind, LedgerError
from grader.ledger.ledger import Ledger
from grader.ledger.location import ledger_path, student_name
from grader.ledger.rows import Amendment, Erasure, Help, Posed, Regrade, Row, Submission

__all__ = [
    "Amendment",
    "Erasure",
    "Help",
    "Kind",
    "Ledger",
    "LedgerError",
    "Posed",
    "Regrade",
    "Row",
    "Submission",
    "ledger_path",
    "student_name",
]
