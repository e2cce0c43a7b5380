"""What every test gets: a Hypothesis profile, and no way to the ledger of whoever runs the tests.

HYPOTHESIS_PROFILE names the profile; without it CI=true means `ci`, anything else `dev`.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# No deadline in any of them: on a shared machine it would fail for reasons that are not in the code.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
# Three times the examples of other runs; the sentences of the specification take 10,000 each (test_invariants).
settings.register_profile("deep", deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") == "true" else "dev"))


@pytest.fixture(scope="session", autouse=True)
def _own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GRADE_LEDGER", raising=False)
        patch.delenv("GRADE_STUDENT", raising=False)
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests, so that no core waits for one of them at the end."""
    items.sort(key=lambda item: "test_kills" not in item.nodeid)
