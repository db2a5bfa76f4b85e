"""The listening socket, and the errors when it is not available."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from schedviz.up import ports
from schedviz.up.errors import CannotStart


def test_a_port_in_use_is_refused_with_its_process_and_what_to_do():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(CannotStart) as refusal:
            ports.listen("127.0.0.1", port)

    assert f"Port {port} on 127.0.0.1 is in use" in str(refusal.value)
    assert "choose another port with --port" in str(refusal.value)
    if sys.platform == "linux":
        assert f"by process {os.getpid()} (" in str(refusal.value)


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(CannotStart, match="Give an address of this machine with --listen"):
        ports.listen("192.0.2.1", 0)


def test_an_invalid_listen_address_is_refused():
    with pytest.raises(CannotStart, match="--listen not an address"):
        ports.listen("not an address", 0)
