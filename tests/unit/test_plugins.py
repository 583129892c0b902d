"""Extractors of others: what is not allowed is not imported."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from taishi.deploy.extraction import make_extractor
from taishi.deploy.settings import Settings
from taishi.ingest.errors import ConfigurationError
from taishi.ingest.plugins import load_plugin, plugin_names

CODE = """
import pathlib
pathlib.Path({marker!r}).write_text("imported")

class Parrot:
    name, version = "parrot", "3"
    def extract(self, window): ...

def no_extractor():
    return object()
"""


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that offers `parrot` and `stone`; the file is there once its module was imported."""
    marker = tmp_path / "imported"
    (tmp_path / "parrot_of_the_tests.py").write_text(CODE.format(marker=str(marker)))
    info = tmp_path / "parrot-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[taishi.extractors]\nparrot = parrot_of_the_tests:Parrot\nstone = parrot_of_the_tests:no_extractor\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield marker
    sys.modules.pop("parrot_of_the_tests", None)


def test_what_is_allowed_is_loaded(marker: Path, tmp_path: Path) -> None:
    assert not marker.exists()
    settings = Settings(home=tmp_path, extractor="parrot", extractor_plugins=("parrot",))
    found = make_extractor(settings)
    assert (found.name, found.version) == ("parrot", "3")
    assert marker.exists()


def test_what_is_not_allowed_is_not_imported(marker: Path, tmp_path: Path) -> None:
    assert plugin_names() == ["parrot", "stone"]
    with pytest.raises(ConfigurationError, match="not allowed"):
        load_plugin("parrot", allowed=("stone", "nobody"))
    with pytest.raises(ValueError, match="extractor_plugins"):
        Settings(home=tmp_path, extractor="parrot", extractor_plugins=("stone",))
    make_extractor(Settings(home=tmp_path, extractor_plugins=("parrot",)))
    assert not marker.exists()
    assert "parrot_of_the_tests" not in sys.modules


def test_what_is_no_extractor_or_not_there_is_refused(marker: Path) -> None:
    with pytest.raises(ConfigurationError, match="makes no extractor"):
        load_plugin("stone", allowed=("stone",))
    with pytest.raises(ConfigurationError, match="not installed"):
        load_plugin("nobody", allowed=("nobody",))
