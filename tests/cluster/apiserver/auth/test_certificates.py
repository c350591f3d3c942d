"""Certificates of one's own authority hold in a real TLS handshake, and no others do."""

import ssl
from pathlib import Path

import pytest

from gpuyard_cluster.apiserver.auth.authentication import Subject
from gpuyard_cluster.apiserver.auth.certificates import Authority, Pair
from gpuyard_cluster.listening import _subject
from gpuyard_kube.runtime import AsyncioRuntime

NAMES = ("127.0.0.1", "kubernetes")


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority(AsyncioRuntime().now())


def loaded(context: ssl.SSLContext, pair: Pair, folder: Path) -> ssl.SSLContext:
    file = folder / "pair.pem"
    file.write_bytes(pair.certificate + pair.key)
    context.load_cert_chain(file)
    return context


def handshake(client: ssl.SSLContext, server: ssl.SSLContext, name: str) -> ssl.SSLObject:
    """The server's end of a connection, in memory."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    near = client.wrap_bio(back, there, server_hostname=name)
    far = server.wrap_bio(there, back, server_side=True)
    for _ in range(4):
        for end in (near, far):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return far


def contexts(authority: Authority, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    client = ssl.create_default_context(cadata=authority.certificate.decode())
    # The default since Python 3.13.
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    server = loaded(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), authority.for_server(NAMES), folder)
    server.verify_mode = ssl.CERT_OPTIONAL
    server.load_verify_locations(cadata=authority.certificate.decode())
    server.verify_flags |= ssl.VERIFY_X509_STRICT
    return client, server


def test_a_client_believes_the_server_under_its_names_and_is_known_by_its_subject(
    authority: Authority, tmp_path: Path
) -> None:
    client, server = contexts(authority, tmp_path)
    pair = authority.for_client(Subject("alice", ("ops", "team")))
    for name in NAMES:
        shown = handshake(loaded(client, pair, tmp_path), server, name).getpeercert()
        assert shown is not None
        assert _subject(shown) == Subject("alice", ("ops", "team"))


def test_a_client_need_not_show_a_certificate(authority: Authority, tmp_path: Path) -> None:
    assert handshake(*contexts(authority, tmp_path), NAMES[0]).getpeercert() is None


def test_a_server_of_another_name_is_not_believed(authority: Authority, tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="not valid for 'elsewhere'"):
        handshake(*contexts(authority, tmp_path), "elsewhere")


def test_a_certificate_of_another_authority_is_refused(authority: Authority, tmp_path: Path) -> None:
    client, server = contexts(authority, tmp_path)
    stranger = Authority(AsyncioRuntime().now()).for_client(Subject("kubernetes-admin", ("system:masters",)))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(loaded(client, stranger, tmp_path), server, NAMES[0])


def test_a_client_s_certificate_is_none_for_a_server(authority: Authority, tmp_path: Path) -> None:
    client, _ = contexts(authority, tmp_path)
    false = loaded(
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), authority.for_client(Subject("127.0.0.1")), tmp_path
    )
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(client, false, NAMES[0])


def test_no_key_stands_in_what_is_printed(authority: Authority) -> None:
    assert "PRIVATE" not in repr(authority.for_client(Subject("alice")))
