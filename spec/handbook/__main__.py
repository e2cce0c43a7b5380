"""`python -m spec.handbook` prints the page of all laws."""

import sys

from spec.handbook import page

sys.stdout.write(page())
