"""Answers that are run: each module here executes one kind of thing, and is found by its name.

A module `grader/executing/NAME.py` (or package) has `judged(part, typed)`, which returns a `Judgement` and raises
`Unreadable` for a text that is no answer. The circumstances are those of `part.run.setting`.
"""
