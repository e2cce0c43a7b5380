"""The command line, `grade`: a click group whose commands are loaded when they are called."""

import gc
import sys

# Most commands end before that many objects exist, so that none of them waits for a search for garbage.
PATIENCE = 50_000


def main() -> None:
    """Run `grade` on the arguments of this process and exit with its status."""
    gc.set_threshold(PATIENCE)
    try:
        from grader.cli.app import app

        app()
    except KeyboardInterrupt:  # before the first command, or after the last: there is nothing left to say
        sys.exit(130)
    finally:
        gc.freeze()  # the search at exit, a tenth of the time of a submission, would find nothing to keep
