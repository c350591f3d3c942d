"""TLS between kube-scheduler and the extender, with a real client."""

import asyncio
import shutil
import ssl
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientSession

from gpuyard_extender.transport.certificates import CertificateError, Files, FreshContext
from tests.extender.served import NAME, application, client, files, make_certificates, served


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("strangers"))


async def ask(port: int, tls: ssl.SSLContext, path: str = "/filter") -> tuple[int, Any]:
    """One call over a connection of its own, under the name that kube-scheduler's tlsConfig gives."""
    method = "POST" if path == "/filter" else "GET"
    url = f"https://127.0.0.1:{port}{path}"
    async with (
        ClientSession() as session,
        session.request(method, url, ssl=tls, server_hostname=NAME, data=b"{}") as response,
    ):
        return response.status, await response.text()


def tried(folder: Path, tls: ssl.SSLContext, path: str = "/filter") -> tuple[int, Any]:
    async def story() -> tuple[int, Any]:
        fresh = FreshContext.of(files(folder))
        async with served(application(certificates=True), fresh) as (_, port):
            return await ask(port, tls, path)

    return asyncio.run(story())


def test_a_client_with_a_certificate_of_the_authority_is_served(ours: Path) -> None:
    status, answer = tried(ours, client(ours, ours))
    assert status == 200
    assert "Pod: an object is needed" in answer


def test_a_client_without_a_certificate_gets_no_verb_but_can_see_that_the_extender_lives(ours: Path) -> None:
    status, answer = tried(ours, client(ours))
    assert (status, "client certificate" in answer) == (403, True)
    assert tried(ours, client(ours), "/livez") == (200, "ok")


def test_a_client_with_a_certificate_of_another_authority_is_refused(ours: Path, strangers: Path) -> None:
    for path in ("/filter", "/livez"):
        with pytest.raises(ClientConnectionError):
            tried(ours, client(ours, strangers), path)


def test_an_extender_with_a_certificate_of_another_authority_is_refused_by_the_client(
    ours: Path, strangers: Path
) -> None:
    with pytest.raises(ClientConnectionError, match="CERTIFICATE_VERIFY_FAILED"):
        tried(strangers, client(ours, ours))


def test_the_certificate_is_good_for_the_address_and_the_name_of_the_service(ours: Path) -> None:
    shown = ssl._ssl._test_decode_cert(ours / "extender.crt")  # type: ignore[attr-defined]
    assert set(shown["subjectAltName"]) == {("DNS", NAME), ("IP Address", "10.96.0.81")}


async def test_new_files_count_from_the_next_connection_on(
    ours: Path, strangers: Path, tmp_path: Path
) -> None:
    """All of them: the certificate that is shown, and the authority that clients are held to."""
    folder = shutil.copytree(ours, tmp_path / "live")

    fresh = FreshContext.of(files(folder))
    async with served(application(certificates=True), fresh) as (_, port):
        assert (await ask(port, client(ours, ours)))[0] == 200
        shutil.copytree(strangers, folder, dirs_exist_ok=True)
        assert (await ask(port, client(strangers, strangers)))[0] == 200
        for trusted, own in ((ours, ours), (strangers, ours)):
            with pytest.raises(ClientConnectionError):
                await ask(port, client(trusted, own))


@pytest.mark.parametrize(
    ("broken", "how"), [("extender.crt", "gone"), ("extender.key", "of somebody else"), ("ca.crt", "empty")]
)
async def test_files_that_cannot_be_used_are_told_once_and_change_nothing(
    broken: str, how: str, ours: Path, strangers: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = shutil.copytree(ours, tmp_path / "live")

    fresh = FreshContext.of(files(folder))
    async with served(application(certificates=True), fresh) as (_, port):
        spoil(folder / broken, how, strangers)
        for _ in range(3):
            assert (await ask(port, client(ours, ours)))[0] == 200
        assert ["stay as they were" in r.message for r in caplog.records if r.levelname == "ERROR"] == [True]
        shutil.copytree(ours, folder, dirs_exist_ok=True)
        assert (await ask(port, client(ours, ours)))[0] == 200


def spoil(path: Path, how: str, strangers: Path) -> None:
    if how == "empty":
        path.write_text("")
    elif how == "gone":
        path.unlink()
    else:
        shutil.copy(strangers / path.name, path)


def test_files_that_cannot_be_used_at_the_start_are_named(ours: Path, tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n")
    good, key = ours / "extender.crt", ours / "extender.key"
    for given, named in (
        (Files(tmp_path / "absent", key), "absent"),
        (Files(good, ours / "scheduler.key"), "extender.crt"),
        (Files(good, key, tmp_path / "ca.crt"), "ca.crt"),
    ):
        with pytest.raises(CertificateError, match=named):
            FreshContext.of(given)
