"""The Common Expression Language: compiles and evaluates the expressions that Kubernetes objects have.

`Environment` declares variables and functions, `Environment.compile` gives a `Program`, and a program is evaluated with values for the
variables. Type checking, errors and costs follow cel-go, which the API server and the scheduler use. The decision record 0017 says which
libraries are there and which are not.
"""

from schedviz.cel.environment import Environment
from schedviz.cel.errors import CelError, CompileError, CostLimitError
from schedviz.cel.program import Program

__all__ = ["CelError", "CompileError", "CostLimitError", "Environment", "Program"]
