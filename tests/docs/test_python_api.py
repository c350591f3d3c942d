"""docs/python-api.md: what it shows is what happens."""

import doctest

import pytest

from gpuyard_cli import api
from tests.docs.markdown import ROOT

PAGE = ROOT / "docs/python-api.md"
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_code_of_the_page_does_what_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=LOOSE)
    assert found.failed == 0, capsys.readouterr().out
    assert found.attempted > 20


def test_the_page_names_all_of_the_api() -> None:
    text = PAGE.read_text("utf-8")
    methods = {name for name in vars(api.Cluster) if not name.startswith("_")}
    functions = {"Cluster", "run", "replay", "plot"}
    assert functions <= set(api.__all__)
    assert {name for name in methods | functions if f"{name}(" not in text} == set()


def test_what_the_api_server_will_not_have_is_refused() -> None:
    with api.Cluster("t4") as cluster:
        with pytest.raises(api.RefusedError, match="unknown field"):
            cluster.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dataa: {}}")
        assert cluster.explain("nobody") == {}
    with pytest.raises(api.InvalidInputError, match="'t5' is unknown"):
        api.Cluster("t5")
