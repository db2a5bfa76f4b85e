"""Compiles and evaluates expressions, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from schedviz.cel import CelError, CompileError, Environment


class Expressions:
    """The expressions of one environment."""

    def __init__(self, environment: Environment, variables: Mapping[str, Any]) -> None:
        self.environment = environment
        self.variables = variables

    def value(self, expression: str) -> Any:
        value, _cost = self.environment.compile(expression).evaluate(self.variables, cost_limit=1_000_000)
        return value

    def error(self, expression: str) -> str:
        """The error of evaluating it."""
        with pytest.raises(CelError) as caught:
            self.value(expression)
        return str(caught.value)

    def compile_error(self, expression: str) -> str:
        with pytest.raises(CompileError) as caught:
            self.environment.compile(expression)
        return str(caught.value)


WITHOUT_VARIABLES = Expressions(Environment({}), {})
