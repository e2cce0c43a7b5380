"""`python -m grader.practising` writes `families.toml` anew."""

import sys

from grader.families import slugs
from grader.practising.table import DRAWS, TABLE, looked_at, text

if __name__ == "__main__":
    TABLE.write_text(text((slug, looked_at(slug, DRAWS)) for slug in slugs()), encoding="utf-8")
    sys.stdout.write(f"{len(slugs())} families\n")
