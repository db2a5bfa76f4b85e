"""PostgreSQL and Redis as on other hosts: over verified TLS, with a user and a password, and for Redis with only the needed permissions."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import redis

from tests.conftest import until
from tests.postgres import PostgresServer

PASSWORD = "a-password-of-tests"
#: The settings in docs/operations.md.
ACL = f"user schedviz on >{PASSWORD} ~schedviz:* ~engine* ~io* ~experiments* ~_kombu.* ~unacked* &* +@all -@admin -@dangerous +info"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def certificates(folder: Path, host: str = "127.0.0.1") -> None:
    """A certificate authority (ca.crt), and a certificate for that address and localhost (server.crt, server.key)."""

    def openssl(*arguments: str) -> None:
        done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *new, "-days", "2", "-subj", "/CN=authority of tests", "-keyout", "ca.key", "-out", "ca.crt")
    openssl("req", *new, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    (folder / "names").write_text(f"subjectAltName=DNS:localhost,IP:{host}\n")
    signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
    openssl("x509", "-req", "-in", "server.csr", "-days", "2", *signed, "-out", "server.crt")


class TlsPostgres(PostgresServer):
    """A PostgreSQL that requires TLS and a password over the network."""

    def __init__(self, binaries: Path, keys: Path, host: str = "127.0.0.1") -> None:
        super().__init__(binaries)
        self._keys = keys
        self._host = host
        self.port = free_port()
        self.address = f"postgresql://schedviz:{PASSWORD}@{host}:{self.port}/postgres"
        self.verified = f"{self.address}?sslmode=verify-full&sslrootcert={keys / 'ca.crt'}"

    def resume(self) -> None:
        for name in ("server.crt", "server.key"):
            copy = shutil.copy(self._keys / name, self.folder / name)
            Path(copy).chmod(0o600)
            if os.getuid() == 0:
                shutil.chown(copy, "postgres")
        hba = self.folder / "data/pg_hba.conf"
        hba.write_text("local all all trust\nhostssl all all samenet scram-sha-256\n")
        tls = f"-c ssl=on -c ssl_cert_file={self.folder}/server.crt -c ssl_key_file={self.folder}/server.key"
        options = f"-k {self.folder} -c listen_addresses={self._host} -p {self.port} -c max_connections=300 {tls}"
        self._control("-o", options, "-l", str(self.folder / "log"), "start")
        self._run(
            "psql",
            "-h",
            str(self.folder),
            "-p",
            str(self.port),
            "-U",
            "postgres",
            "-c",
            f"CREATE USER schedviz SUPERUSER PASSWORD '{PASSWORD}'",
        )


class TlsRedis:
    """A Redis that listens only on TLS and has one user."""

    def __init__(self, binary: str, keys: Path, host: str = "127.0.0.1") -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="schedviz-tls-"))
        self._host = host
        self._keys = keys
        self._binary = binary
        self.port = free_port()
        self.address = f"rediss://schedviz:{PASSWORD}@{host}:{self.port}/0"
        self.verified = f"{self.address}?ssl_ca_certs={keys / 'ca.crt'}"

    def start(self) -> None:
        (self._folder / "users.acl").write_text(f"user default off\n{ACL}\n")
        tls = ("--tls-cert-file", "server.crt", "--tls-key-file", "server.key", "--tls-ca-cert-file", "ca.crt", "--tls-auth-clients", "no")
        options = [str(self._keys / word) if word.endswith((".crt", ".key")) else word for word in tls]
        command = [self._binary, "--bind", self._host, "--port", "0", "--tls-port", str(self.port), *options]
        command += ["--aclfile", str(self._folder / "users.acl")]
        self._process = subprocess.Popen([*command, "--save", "", "--dir", str(self._folder)], stdout=subprocess.DEVNULL)
        until(self._is_responding)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _is_responding(self) -> bool:
        try:
            return bool(redis.Redis.from_url(self.verified).ping())
        except redis.ConnectionError:
            return False
