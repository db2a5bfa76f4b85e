"""The synchronous client is the asynchronous one without `async`: `tools/unasync.py` generates it."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

from schedviz.client import AsyncClient, AsyncSession, Client, Session, runtime

ROOT = Path(__file__).parents[2]


def test_the_synchronous_client_is_up_to_date_with_the_asynchronous_one() -> None:
    done = subprocess.run([sys.executable, "tools/unasync.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr


def test_both_clients_have_the_same_methods_except_those_that_use_a_default_server() -> None:
    def public(of: type) -> set[str]:
        return {name for name in dir(of) if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)
    assert public(Session) - public(AsyncSession) == {"from_files", "from_kubectl", "generate", "open"}


def test_an_unreferenced_client_closes_its_connections() -> None:
    client = Client("http://127.0.0.1:9", "token")
    http = client._http
    del client
    gc.collect()

    assert http.is_closed


def test_a_blocking_call_of_the_asynchronous_client_does_not_block_the_event_loop() -> None:
    import asyncio
    import threading

    assert runtime.run(threading.get_ident) == threading.get_ident()
    assert asyncio.run(runtime.async_run(threading.get_ident)) != threading.get_ident()
