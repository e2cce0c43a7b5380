"""The page of all laws is fresh and complete, and its recipe for a new law works as it stands."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import spec
from spec import index, printing
from spec.handbook import page
from spec.index import laws
from spec.units import unit

PAGE = Path(spec.__path__[0]) / "README.md"
RECIPE = re.compile(r"`(\w+\.py)`, is all it takes:\n\n```python\n(.*?)```", re.DOTALL)


@pytest.mark.meta
def test_the_page_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make pages`"


@pytest.mark.meta
def test_the_page_tells_everything_about_every_law() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for law in laws().values():
        entry = text.partition(f"### {law.name}\n")[2].partition("\n### ")[0]
        assert printing.law_latex(law) in entry
        assert law.says in entry
        assert all(f"`{name}`" in entry for name in law.symbols)
        assert all(slip.sentence in entry for slip in law.slips)
        assert "Held by" in entry, f"no sentence speaks of {law.name}"


@pytest.fixture
def with_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Follow the page: put the file where it says, in a folder that counts as the folder of the laws."""
    name, code = RECIPE.findall(PAGE.read_text(encoding="utf-8"))[0]
    (tmp_path / name).write_text(code, encoding="utf-8")
    monkeypatch.setattr(spec, "__path__", [*spec.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    index.by_module.cache_clear()
    index.laws.cache_clear()
    yield name.removesuffix(".py")
    sys.modules.pop(f"spec.{name.removesuffix('.py')}", None)
    index.by_module.cache_clear()
    index.laws.cache_clear()


@pytest.mark.meta
@pytest.mark.usefixtures("with_the_recipe")
def test_the_recipe_makes_a_law_as_the_page_says() -> None:
    law = laws()["cached_tokens_in_service"]
    law.check_units()
    assert law(mean_concurrency=17, context=2500) == 42500
    assert law.solve("context", mean_concurrency=17, cached_tokens=42500) == 2500
    assert law.senses == {"context": 1, "mean_concurrency": 1}
    assert law.symbols["cached_tokens"].unit == unit("token")
    assert "### cached_tokens_in_service" in page()
