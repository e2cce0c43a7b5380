"""Hypothesis profiles: HYPOTHESIS_PROFILE names one; without it CI=true means `ci`, anything else `dev`."""

import os

from hypothesis import HealthCheck, settings

# No deadline in any of them: on a shared machine it would fail for reasons that are not in the code.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("deep", deadline=None, max_examples=10_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev"))
