from __future__ import annotations

import pytest

from schedviz.trace import commands
from schedviz.trace.commands import AnyCommand, decode_command, encode_command


@pytest.mark.parametrize("command", [commands.Run(max=3), commands.Pause(), commands.Delete(kind="Pod", namespace="default", name="p")])
def test_op_is_the_first_member_of_a_stored_command(command: AnyCommand) -> None:
    body = encode_command(command)
    op = type(command).__struct_config__.tag

    assert body.startswith(f'{{"op":"{op}"'.encode())
    assert decode_command(body) == command
