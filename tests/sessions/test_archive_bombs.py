"""A real worker refuses archives that expand too much, and its memory returns to the earlier size."""

from __future__ import annotations

import psutil
import pytest
from django.core.files.base import ContentFile

from schedviz.sessions.models import Session
from schedviz.sessions.transfer import create
from tests.conftest import RedisServer, Worker, until
from tests.ingest.bombs import zip_of_empty_objects, zip_of_zeros
from tests.sessions.conftest import dump

pytestmark = [pytest.mark.any_database, pytest.mark.usefixtures("transactional_db")]
_MEGABYTES = 100


def _megabytes(worker: Worker) -> float:
    """The total memory of the worker's processes."""
    parent = psutil.Process(worker.process.pid)
    return sum(each.memory_info().rss for each in (parent, *parent.children(recursive=True))) / 1e6


def _ended(data: bytes, name: str) -> Session:
    session = create.create_session(None, "a bomb", create.Files([ContentFile(data, name=name)]))
    until(lambda: Session.objects.exclude(status=Session.Status.IMPORTING).filter(pk=session.pk).exists())
    session.refresh_from_db()
    return session


@pytest.mark.parametrize(
    ("bomb", "limit"),
    [
        (lambda: zip_of_zeros(60, 50), "unpacked_bytes"),
        (lambda: zip_of_zeros(40, 100), "unpacked_bytes"),
        (lambda: zip_of_empty_objects(100_000), "archive_files"),
        (lambda: zip_of_empty_objects(20_000), "20000 files: it contains no Kubernetes objects"),
    ],
    ids=["60 x 50 MB", "40 x 100 MB", "100,000 files", "20,000 files"],
)
def test_an_archive_bomb_is_refused_and_its_memory_is_freed(bomb, limit: str, redis: RedisServer, io_worker: Worker) -> None:
    assert _ended(dump(2, 2), "cluster.json").status == Session.Status.READY
    before = _megabytes(io_worker)

    session = _ended(bomb(), "bomb.zip")

    assert session.status == Session.Status.FAILED
    assert limit in session.message
    until(lambda: _megabytes(io_worker) < before + _MEGABYTES, seconds=5)
