"""An authority of one's own, and the certificates that it issues.

Stands for the PKI that kubeadm writes to /etc/kubernetes/pki. Keys live in memory; whoever needs files writes them.
"""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from gpuyard_cluster.apiserver.auth.authentication import Subject

_AUTHORITY: Final = Subject("gpuyard-ca")
_VALID: Final = datetime.timedelta(days=365)
_SKEW: Final = datetime.timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


class Authority:
    """Signs certificates from `now` (seconds since the epoch) on, for a year."""

    def __init__(self, now: float) -> None:
        self._now = datetime.datetime.fromtimestamp(now, datetime.UTC)
        self._key = ec.generate_private_key(ec.SECP256R1())
        usage = [(x509.BasicConstraints(ca=True, path_length=0), True), (_usage(signs=True), True)]
        self._certificate = self._signed(_AUTHORITY, self._key.public_key(), usage)
        self.certificate = self._certificate.public_bytes(serialization.Encoding.PEM)
        """In PEM: whom clients and servers are to trust."""

    def for_server(self, names: Sequence[str]) -> Pair:
        """For a server that is reached under these host names and IP addresses."""
        found = x509.SubjectAlternativeName([_alternative(name) for name in names])
        return self._issue(Subject(names[0]), ExtendedKeyUsageOID.SERVER_AUTH, [(found, False)])

    def for_client(self, subject: Subject) -> Pair:
        """By which a server knows the subject."""
        return self._issue(subject, ExtendedKeyUsageOID.CLIENT_AUTH, [])

    def _issue(
        self, subject: Subject, purpose: x509.ObjectIdentifier, more: list[tuple[x509.ExtensionType, bool]]
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        limits = [(x509.BasicConstraints(ca=False, path_length=None), True), (_usage(signs=False), True)]
        usage = (x509.ExtendedKeyUsage([purpose]), False)
        certificate = self._signed(subject, key.public_key(), [*limits, usage, *more])
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))

    def _signed(
        self,
        subject: Subject,
        key: ec.EllipticCurvePublicKey,
        extensions: Sequence[tuple[x509.ExtensionType, bool]],
    ) -> x509.Certificate:
        own = self._key.public_key()
        builder = (
            x509.CertificateBuilder()
            .subject_name(_name(subject))
            .issuer_name(_name(_AUTHORITY))
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _SKEW)
            .not_valid_after(self._now + _VALID)
            # Python's own strict checks, the default since 3.13, ask for both.
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own), critical=False)
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical=critical)
        return builder.sign(self._key, hashes.SHA256())


def _name(subject: Subject) -> x509.Name:
    organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, found) for found in subject.organizations]
    return x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, subject.name)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
