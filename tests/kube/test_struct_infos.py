"""Structs are looked at before threads read them."""

from __future__ import annotations

import subprocess
import sys

import pytest

READ_BY_THREADS = """
import sys, threading
import msgspec
from schedviz.kube.struct_infos import prepare_structs

sys.setswitchinterval(1e-6)
STRUCTS = []
for number in range(60):
    inner = msgspec.defstruct("Inner", [(f"member_{n}", "int | None", None) for n in range(30)])
    STRUCTS.append(msgspec.defstruct("Outer", [("inner", inner | None, None), ("all", list[inner], [])]))
if "prepared" in sys.argv:
    prepare_structs()
together = threading.Barrier(4)

def read_all():
    for struct in STRUCTS:
        together.wait()
        msgspec.convert({"inner": {"member_1": 1}, "all": [{"member_29": 1}]}, struct)

threads = [threading.Thread(target=read_all) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""


def test_threads_that_read_a_struct_for_the_first_time_together_do_not_end_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", READ_BY_THREADS, "prepared"], check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr


INACCESSIBLE = """
import django
django.setup()
import schedviz.asgi
import schedviz.sessions.hosting.worker_loop
from schedviz.kube.struct_infos import prepare_structs

print(*sorted(struct.__name__ for struct in prepare_structs() if struct.__module__.startswith("schedviz.")))
"""


@pytest.mark.slow
def test_only_unread_fields_of_servers_and_engine_workers_are_inaccessible() -> None:
    done = subprocess.run([sys.executable, "-c", INACCESSIBLE], check=False, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {"ApiCall", "Kind", "UpdateObject", "SliceContents"}
