"""The configuration of the web server process."""

from __future__ import annotations

import pytest
from django.test import override_settings

from schedviz.up.web_server import configuration


@pytest.mark.parametrize("limit", [1024, 1_000_000])
def test_the_maximum_websocket_message_size_comes_from_the_settings(limit: int) -> None:
    with override_settings(SOCKET_MESSAGE_BYTES=limit):
        assert configuration().ws_max_size == limit
