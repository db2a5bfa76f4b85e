"""Uploads are stored encrypted, and their keys only in memory: a key survives the loss of Redis or of the web server."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from django.core.files.base import ContentFile
from django.db import connection

from schedviz.sessions.hosting import lease, sweep
from schedviz.sessions.models import Session, Upload
from schedviz.sessions.redis import stream, wakeups
from schedviz.sessions.transfer import create, deletion, import_job
from schedviz.sessions.uploads import stored_files, upload_keys
from schedviz.sessions.uploads.encryption import OVERHEAD_BYTES, DecryptionError, UploadCipher, new_key
from schedviz.sessions.uploads.stored_files import StoredFiles
from tests.conftest import RedisServer, until
from tests.sessions.conftest import dump

pytestmark = pytest.mark.usefixtures("transactional_db", "redis")
DATA = dump(2, 3)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(upload_keys, "PATIENCE_SECONDS", 3.0)
    return


def uploaded() -> Session:
    return create.create_session(None, "a test", create.Files([ContentFile(DATA, name="cluster.json")]))


def imported(session: Session) -> Session:
    import_job.run_import(session.pk)
    session.refresh_from_db()
    return session


def in_redis(session_id: UUID) -> bytes | None:
    return stream.client().get(f"schedviz:upload-key:{session_id}")  # type: ignore[return-value]


def test_a_chunk_is_decrypted_only_with_its_key_and_at_its_position() -> None:
    key, session_id = new_key(), uuid4()
    cipher = UploadCipher(key, session_id)
    sealed = cipher.encrypt(b"data", 1, 2)

    assert len(sealed) == 4 + OVERHEAD_BYTES
    assert cipher.decrypt(sealed, 1, 2) == b"data"
    for other, file, number in (
        (cipher, 1, 3),
        (cipher, 2, 2),
        (UploadCipher(key, uuid4()), 1, 2),
        (UploadCipher(new_key(), session_id), 1, 2),
    ):
        with pytest.raises(DecryptionError):
            other.decrypt(sealed, file, number)


def test_an_upload_is_encrypted_in_the_database_and_decrypted_by_the_import() -> None:
    session = uploaded()

    (row,) = Upload.objects.filter(session=session)
    assert row.sealed
    assert b"node-1" not in bytes(row.data)
    assert b"".join(StoredFiles(session.pk).chunks_of(0)) == DATA
    assert StoredFiles(session.pk).sources()[0].size == len(DATA)
    assert imported(session).status == Session.Status.READY


@pytest.mark.parametrize("data", [DATA, b"{"], ids=["good", "bad"])
def test_the_key_is_deleted_when_the_import_has_ended(data: bytes) -> None:
    session = create.create_session(None, "a test", create.Files([ContentFile(data, name="cluster.json")]))
    assert in_redis(session.pk)

    imported(session)

    assert session.status in (Session.Status.READY, Session.Status.FAILED)
    assert in_redis(session.pk) is None
    assert upload_keys._KEY_REFRESHER.get(session.pk) is None


def test_the_key_of_a_deleted_session_or_an_abandoned_upload_is_deleted() -> None:
    deleted, forgotten = uploaded(), uploaded()
    deletion.delete_session(deleted.pk)
    Session.objects.filter(pk=forgotten.pk).update(uploaded=False, created_at="2020-01-01T00:00:00Z", updated_at="2020-01-01T00:00:00Z")
    sweep._periodic_interval.reset()
    sweep.sweep()

    assert in_redis(deleted.pk) is None
    assert in_redis(forgotten.pk) is None


def test_the_server_drops_the_key_when_another_process_has_imported_the_upload() -> None:
    session = uploaded()
    Session.objects.filter(pk=session.pk).update(status=Session.Status.READY)

    until(lambda: upload_keys._KEY_REFRESHER.get(session.pk) is None)
    until(lambda: in_redis(session.pk) is None)


def test_an_upload_survives_a_restart_of_its_web_server() -> None:
    session = uploaded()
    upload_keys.drop_all_keys()

    assert imported(session).status == Session.Status.READY


def test_an_upload_survives_the_loss_of_redis_data(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    session = uploaded()
    redis.kill()
    redis.start()
    assert upload_keys._KEY_REFRESHER.get(session.pk)
    until(lambda: in_redis(session.pk))
    # The import is in another process than the web server.
    monkeypatch.setattr(upload_keys._KeyRefresher, "get", lambda *_: None)

    assert imported(session).status == Session.Status.READY


def test_an_upload_received_while_redis_was_down_is_imported(redis: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    redis.kill()
    session = uploaded()
    monkeypatch.setattr(upload_keys._KeyRefresher, "get", lambda *_: None)
    # It is unknown whether a key exists.
    assert imported(session).status == Session.Status.IMPORTING
    redis.start()
    until(lambda: in_redis(session.pk))

    assert imported(session).status == Session.Status.READY


def test_an_import_without_any_copy_of_its_key_fails_and_says_what_to_do() -> None:
    session = uploaded()
    upload_keys.drop_all_keys()
    stream.client().flushall()

    assert imported(session).status == Session.Status.IMPORTING
    assert session.lease_owner == ""
    until(lambda: imported(session).status == Session.Status.FAILED)
    assert "Upload the files again" in session.message
    assert not Upload.objects.filter(session=session).exists()


def test_imports_that_await_their_keys_take_no_turn_and_fail_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    keyless = [uploaded() for _ in range(3)]
    upload_keys.drop_all_keys()
    stream.client().flushall()
    new = uploaded()
    notified: list[UUID] = []
    monkeypatch.setattr(wakeups, "notify_import", notified.append)

    sweep.sweep()
    assert notified == [new.pk]
    assert lease.acquire(new.pk, importing=True), "it has the only turn of the user"
    monkeypatch.setattr(upload_keys, "PATIENCE_SECONDS", 0.0)
    notified.clear()
    sweep.sweep()
    assert set(notified) == {session.pk for session in keyless}
    assert [imported(session).status for session in keyless] == [Session.Status.FAILED] * 3


def test_the_time_of_an_import_without_its_key_begins_when_all_are_first_missed() -> None:
    first, second = uploaded(), uploaded()
    upload_keys.drop_all_keys()
    stream.client().flushall()
    assert stored_files.missing_keys([first.pk, second.pk]) == {first.pk: False, second.pk: False}
    until(lambda: imported(first).status == Session.Status.FAILED)
    # Nobody has tried to import the second one meanwhile.
    assert imported(second).status == Session.Status.FAILED


def test_the_time_ends_when_a_web_server_restores_the_key() -> None:
    session = uploaded()
    stream.client().flushall()
    stream.client().set(f"schedviz:upload-key-missing:{session.pk}", b"1", ex=60)

    until(lambda: not stored_files.missing_keys([session.pk]))
    until(lambda: not stream.client().exists(f"schedviz:upload-key-missing:{session.pk}"))


def test_uploads_stored_by_the_previous_version_are_imported() -> None:
    session = Session.objects.create(name="old", source={"files": ["cluster.json"]}, uploaded=True)
    with connection.cursor() as cursor:
        # It knows nothing of the new column.
        columns = "session_id, file, name, number, data"
        cursor.execute(
            f"INSERT INTO {Upload._meta.db_table} ({columns}) VALUES (%s, 0, 'cluster.json', 0, %s)",
            [session.pk if connection.vendor == "postgresql" else session.pk.hex, DATA],
        )

    assert imported(session).status == Session.Status.READY


def test_no_key_is_in_the_database_or_in_a_message_to_workers() -> None:
    session = uploaded()
    key = in_redis(session.pk)
    assert key is not None
    for queue in ("io", "engine"):
        for message in stream.client().lrange(queue, 0, -1):  # type: ignore[union-attr]
            assert key.hex().encode() not in message
            assert re.search(rb"upload-key", message) is None
    session.refresh_from_db()
    assert key not in b"".join(bytes(row.data) for row in Upload.objects.filter(session=session))
    with contextlib.suppress(AttributeError):
        assert key.hex() not in str(session.__dict__)
