"""By what a report can be laid out; apart from it, so that `grade --help` loads nothing else."""

GROUPINGS = ("item", "family", "objective", "slip", "student")
