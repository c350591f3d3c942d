"""The repository is laid out as it says: packages, docstrings, sizes, and nothing of the machine it was made on."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST = 200
LONGEST_FUNCTION = 40
GENERATED = re.compile(r"_pb2(_grpc)?\.pyi?$")
MACHINE = re.compile(r"(?<![\w.$}/-])/(?:home|root|work|Users)/[\w.]")
"""A path in somebody's own folders."""
INDEX = re.compile(
    r"--(?:extra-)?index-url|--find-links[ =]http|https?://[\w.:-]*(?:pypi|/simple\b)", re.IGNORECASE
)


def packages() -> list[Path]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return [ROOT / name for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]


def modules() -> Iterator[Path]:
    """Our own modules, without generated ones."""
    for package in packages():
        yield from (path for path in sorted(package.rglob("*.py")) if not GENERATED.search(path.name))


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"not a git checkout, so nobody knows which files belong to it: {done.stderr.strip()}")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_the_standard_library_s_operator_is_not_hidden() -> None:
    program = "import operator; print(operator.__file__, operator.add(1, 2))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not done.stdout.startswith(str(ROOT / "operator"))
    assert done.stdout.endswith("operator.py 3\n")
    assert not (ROOT / "operator" / "__init__.py").exists()


def test_every_package_of_the_project_is_there() -> None:
    assert [named(path) for path in packages() if not (path / "__init__.py").is_file()] == []


def test_every_package_is_known_to_all_tools() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = [path.name for path in packages()]
    assert project["tool"]["mypy"]["packages"] == names
    assert project["tool"]["importlinter"]["root_packages"] == names
    assert project["tool"]["ruff"]["lint"]["isort"]["known-first-party"] == names
    folders = [path.parent.relative_to(ROOT).as_posix() for path in packages()]
    assert project["tool"]["hatch"]["build"]["dev-mode-dirs"] == folders
    assert project["tool"]["pytest"]["ini_options"]["pythonpath"] == folders


def test_every_module_says_what_it_is() -> None:
    assert [named(path) for path in modules() if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_no_module_is_longer_than_can_be_read_at_once() -> None:
    lengths = {named(path): len(path.read_text().splitlines()) for path in modules()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_no_function_is_longer_than_can_be_read_at_once() -> None:
    lengths = {
        f"{named(path)}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FUNCTION} == {}


def test_tests_are_no_packages() -> None:
    assert [named(path) for path in (ROOT / "tests").rglob("__init__.py")] == []


@pytest.mark.parametrize(
    "line", ["open('/home/me/x')", "COPY /root/.cache", "--index-url https://a.b/c", "https://x.org/simple/"]
)
def test_what_betrays_a_machine_is_recognised(line: str) -> None:
    assert MACHINE.search(line) or INDEX.search(line)


def test_tracked_files_name_no_folder_of_a_machine_and_no_package_index() -> None:
    found = [
        f"{named(path)}:{number}: {line.strip()[:80]}"
        for path in tracked()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if MACHINE.search(line) or INDEX.search(line)
    ]
    assert found == []
