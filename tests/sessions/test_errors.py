"""The errors about sessions."""

from __future__ import annotations

from schedviz.sessions.errors import CommandRefused


def test_a_refused_command_has_its_path_beside_its_message() -> None:
    error = CommandRefused('"10x" is not a quantity', path="spec.cpu")
    assert (str(error), error.path, error.message) == ('spec.cpu: "10x" is not a quantity', "spec.cpu", '"10x" is not a quantity')
    assert str(error.inside("object")) == 'object.spec.cpu: "10x" is not a quantity'


def test_a_refused_command_without_a_path_has_that_of_the_document_that_it_is_in() -> None:
    error = CommandRefused("expected one of: drop, reconnect")
    assert (str(error), error.path) == ("expected one of: drop, reconnect", "")
    assert str(error.inside("steps[2]")) == "steps[2]: expected one of: drop, reconnect"
