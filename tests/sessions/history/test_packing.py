"""Packed history: small, and read by every later version."""

from __future__ import annotations

import hashlib
import threading
import zlib
from pathlib import Path

import zstandard

from schedviz.sessions.history import packing

#: A dictionary that history may be packed with is never changed.
DIGESTS = {1: "0281d753995d86ee035874515d4e3de31e6fc768a0df98805b7b5418a731765b"}
EVENTS = (
    b'[{"t":"stageEnded","event":31,"at":0.016,"cycle":1,"stage":"PreFilter","statuses":[{"plugin":"NodePorts","code":"Success"}]}]' * 3
)


def test_packed_data_is_restored_by_unpacking() -> None:
    for data in (b"", EVENTS, bytes(5 << 20)):
        assert packing.unpack(packing.pack(data)) == data
        assert packing.unpack(packing.pack_large(data)) == data
        assert packing.unpack(zlib.compress(data)) == data
        assert packing.unpack(zstandard.compress(data)) == data


def test_a_few_events_are_packed_smaller_than_by_zlib() -> None:
    assert len(packing.pack(EVENTS)) < len(zlib.compress(EVENTS, 9)) / 1.5


def test_threads_pack_concurrently() -> None:
    wrong: list[bytes] = []

    def work() -> None:
        for number in range(300):
            data = EVENTS * (number % 7) + bytes([number % 256])
            if packing.unpack(packing.pack(data)) != data:
                wrong.append(data)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wrong


def test_released_dictionaries_are_unchanged() -> None:
    folder = Path(packing.__file__).with_name("dictionaries")

    assert {int(path.stem.split("-")[1]): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()} == DIGESTS
