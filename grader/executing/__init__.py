"""Answers that are run: each module here executes one kind of thing, and is found by its name.

A module `grader/executing/NAME.py` (or package) has `judged(part, typed)`, which returns a `Judgement` and raises
`Unreadable` for a text that is no answer. The circumstances are those of `part.run.setting`.
"""

# What a copy of the judge takes along to run lists of jobs and accesses: nothing beyond the standard library. A policy
# takes the laws as well, and minutes; it is run at home.
COPIED = (
    *("grader/executing/__init__.py", "grader/executing/batching_makespans.py", "grader/executing/eviction_misses.py"),
    *("spec/serving/__init__.py", "spec/serving/admission.py", "spec/serving/batching.py", "spec/serving/cache.py"),
    *("spec/serving/engine.py", "spec/serving/eviction.py", "spec/serving/host.py", "spec/serving/makespan.py"),
    *("spec/serving/request.py", "spec/serving/scheduler.py", "spec/serving/server.py", "spec/serving/timing.py"),
)
