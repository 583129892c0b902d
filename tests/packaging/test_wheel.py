"""What is installed is what is in the tree, under `taishi` alone."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("ingest", "commands", "projections", "queries", "deploy")
SUFFIXES = {".py", ".lua", ".toml"}


def tree() -> set[str]:
    """Files that must be installed, by their name in the wheel."""
    found = (path for package in PACKAGES for path in (ROOT / package).rglob("*"))
    return {
        "taishi/" + path.relative_to(ROOT).as_posix()
        for path in found
        if path.is_file() and (path.suffix in SUFFIXES or path.name == "py.typed") and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", *PACKAGES):
        (source / name).symlink_to(ROOT / name)
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-P", "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_the_tree_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == tree()


def test_the_wheel_imports_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", system_site_packages=False, with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # Dependencies come from this environment, Taishi itself from the wheel alone.
    dependencies = tmp_path / "dependencies"
    dependencies.mkdir()
    for path in Path(sys.prefix, "lib").glob("python*/site-packages/*"):
        if "taishi" not in path.name.lower() and path.suffix != ".pth":
            (dependencies / path.name).symlink_to(path)
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    files = sorted(name for name in tree() if name.endswith(".py"))
    modules = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files]
    code = """if True:
        import importlib, sys
        for name in sys.argv[1:]:
            importlib.import_module(name)
        print(sys.modules["taishi.ingest"].__file__)
    """
    command = [str(python), "-P", "-c", code, *modules]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)


def test_the_editable_install_imports_the_checkout() -> None:
    code = "import taishi.ingest, taishi.deploy.cli; print(taishi.ingest.__file__)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd="/", check=True)
    assert Path(done.stdout.strip()) == ROOT / "ingest" / "__init__.py"


def test_nothing_is_imported_by_a_bare_name() -> None:
    bare = re.compile(rf"^\s*(from|import)\s+({'|'.join(PACKAGES)})\b", re.MULTILINE)
    sources = [path for folder in (*PACKAGES, "tests") for path in (ROOT / folder).rglob("*.py")]
    assert [str(path) for path in sources if bare.search(path.read_text("utf-8"))] == []


def test_the_lock_pins_every_requirement() -> None:
    pinned = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert len(pinned) == len((ROOT / "requirements.lock").read_text().split())
    names = {re.sub(r"[-_.]+", "-", name).lower() for name, _ in pinned}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(r for extra in project["optional-dependencies"].values() for r in extra)]
    for requirement in wanted:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        assert name is not None
        assert re.sub(r"[-_.]+", "-", name[0]).lower() in names, requirement
