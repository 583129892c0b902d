"""The import contracts hold, and would be seen to be broken."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(directory: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    environment = {"PYTHONPATH": str(directory), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(program), "--config", str(directory / "pyproject.toml"), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for package in ("ingest", "commands", "projections", "queries", "deploy"):
        for path in (ROOT / package).rglob("*.py"):
            target = tmp_path / "taishi" / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path.read_text("utf-8"), "utf-8")
    return tmp_path


def test_the_contracts_hold(copy: Path) -> None:
    done = lint(copy)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("ingest/instants.py", "import taishi.deploy.settings"),
        ("commands/__init__.py", "import taishi.projections.schema"),
        ("commands/__init__.py", "import taishi.queries"),
        ("queries/__init__.py", "import taishi.commands"),
        ("projections/__init__.py", "import taishi.queries"),
        ("projections/beliefs.py", "import redis"),
        ("projections/beliefs.py", "from time import time"),
        ("projections/schema.py", "import random"),
    ],
)
def test_a_broken_arrow_is_seen(copy: Path, module: str, line: str) -> None:
    path = copy / "taishi" / module
    path.write_text(path.read_text("utf-8") + f"\n{line}\n", "utf-8")
    done = lint(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout
