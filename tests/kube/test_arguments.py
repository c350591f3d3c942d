"""Where the API server is, as every component is told."""

import argparse
import asyncio
from pathlib import Path

import pytest

from gpuyard_kube import arguments
from gpuyard_kube.servers import NoServerError


def given(*argv: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    arguments.add_server(parser)
    return parser.parse_args(argv)


def test_a_url_is_taken_as_it_is() -> None:
    found = given("--api", "http://127.0.0.1:8080/")
    assert asyncio.run(arguments.server(found.api, found.kubeconfig)).url == "http://127.0.0.1:8080"


def test_no_server_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    found = given("--kubeconfig", str(tmp_path / "absent"))
    with pytest.raises(NoServerError) as refused:
        asyncio.run(arguments.server(found.api, found.kubeconfig))
    problem = f"no API server: {tmp_path}/absent: there is no such file; give --kubeconfig FILE or --api URL"
    assert str(refused.value) == problem


@pytest.mark.parametrize("text", ["nonsense", "ftp://a", "http://", "127.0.0.1:80", ""])
def test_what_is_no_url_is_refused_with_an_example(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        given("--api", text)
    assert ended.value.code == 2
    assert "write it as http://127.0.0.1:8080" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["99999", "-1", "http", "80.5", ""])
def test_what_is_no_port_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="from 0 to 65535"):
        arguments.port(text)


def test_a_port_is_a_number() -> None:
    assert [arguments.port(text) for text in ("0", "8081", "65535")] == [0, 8081, 65535]
