"""What a command line comes to: which policy is chosen, and what is wrong with a file of profiles."""

from pathlib import Path

import pytest

from gpuyard.policies.profiles import Weighted
from gpuyard.policies.registry import POLICIES
from gpuyard_extender import settings

FILE = "training: {topology: 3, pack: 1}\nserving:\n  mig-holes: 2\n  fgd: 1\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "profiles.yaml"
    found.write_text(FILE)
    return found


def complaint(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    """The one line in which the command ends."""
    with pytest.raises(SystemExit, match="2"):
        settings.read(given)
    return capsys.readouterr().err.splitlines()[-1].removeprefix("gpuyard-extender: error: ")


def test_a_profile_is_chosen_as_a_policy_is_and_policies_go_on_to_be_known(file: Path) -> None:
    chosen = settings.read(["--profiles", str(file), "--policy", "training"]).policy
    assert isinstance(chosen, Weighted)
    assert chosen.parts == ((POLICIES["topology"], 3), (POLICIES["pack"], 1))
    assert settings.read(["--policy", "mig-holes", "--profiles", str(file)]).policy == "mig-holes"
    assert settings.read(["--profiles", str(file)]).policy == "pack"


def test_json_is_read_as_well(tmp_path: Path) -> None:
    file = tmp_path / "profiles.json"
    file.write_text('{"own": {"spread": 1}}')
    assert isinstance(settings.read(["--profiles", str(file), "--policy", "own"]).policy, Weighted)


def test_a_name_that_is_neither_is_answered_with_all_that_there_are(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = complaint(capsys, "--profiles", str(file), "--policy", "tranin")
    assert said.startswith("--policy tranin: invalid choice; use one of training, serving, bestfit, ")
    assert "training" not in complaint(capsys, "--policy", "tranin")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: [1", "line 2: "),
        (b"a: 2026-13-45", "a: '2026-13-45' is not a mapping; write key: value pairs"),
        (b"\xff", "not valid YAML; write valid YAML"),
        (b"a: {}\n---\nb: {}", "2 documents; write exactly one"),
        (b"", "profiles: none; write one, such as training: {topology: 3, pack: 1}"),
        (b"own: {pack: 0}", "own.pack: 0 is not a weight; write a whole number from 1 to 1000000"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_field_and_remedy(
    content: bytes, said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_bytes(content)
    told = complaint(capsys, "--profiles", str(file))
    assert told.startswith(f"--profiles {file}: {said}")


def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = complaint(capsys, "--profiles", str(tmp_path / "none"))
    assert told.endswith("none: No such file or directory; give a file that can be read")


def test_a_complaint_is_short_whatever_the_file_stands_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = [f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * 9)}]" for level in range(1, 6)]
    file = tmp_path / "bomb.yaml"
    file.write_text("\n".join(["l0: &l0 [x, x, x, x, x, x, x, x, x]", *lists]))
    assert len(complaint(capsys, "--profiles", str(file))) < 5_000
