"""Parses text into a syntax tree.

Messages are those of cel-go's generated parser for what people get wrong; for rarer mistakes its list of what it expected may differ.
Upstream: cel-go parser/parser.go, parser/gen/CEL.g4
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Never

from schedviz.cel import lexer, macros
from schedviz.cel.errors import CompileError, EscapeError, Issue
from schedviz.cel.lexer import END, Token
from schedviz.cel.syntax import Call, Identifier, ListLiteral, Literal, MapLiteral, Node, Select
from schedviz.cel.values import MAX_INT, MAX_UINT, MIN_INT, Uint

#: Upstream: the defaults of cel-go, and the API's limit for the length of an expression
MAX_DEPTH: Final = 250
MAX_LENGTH: Final = 100_000

_TOO_DEEP: Final = f"expression recursion limit exceeded: {MAX_DEPTH}"

_OPERAND: Final = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
_BEGINS_OPERAND: Final = frozenset(
    ["[", "{", "(", ".", "-", "!", "true", "false", "null", "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER"]
)
_FIELD: Final = "{'?', IDENTIFIER, ESC_IDENTIFIER}"
_OPTIONAL_FIELD: Final = "{IDENTIFIER, ESC_IDENTIFIER}"
_RELATIONS: Final = {
    "==": "_==_",
    "!=": "_!=_",
    "<": "_<_",
    "<=": "_<=_",
    ">": "_>_",
    ">=": "_>=_",
    "in": "@in",
}
_SUMS: Final = {"+": "_+_", "-": "_-_"}
_PRODUCTS: Final = {"*": "_*_", "/": "_/_", "%": "_%_"}


def parse(source: str) -> Node:
    """The tree of an expression. Raises `CompileError`."""
    return _Parser(source).parse()


class _Failed(Exception):
    """The first problem of the source; nothing after it is read."""


class _Parser:
    def __init__(self, source: str) -> None:
        self._source = source
        self._tokens, self._issues = lexer.tokens(source[: MAX_LENGTH + 1])
        self._position = 0
        self._depth = 0

    def parse(self) -> Node:
        if len(self._source) > MAX_LENGTH:
            message = f"expression code point size exceeds limit: size: {len(self._source)}, limit {MAX_LENGTH}"
            raise CompileError(self._source, [Issue(message, 1, 0)])
        try:
            tree = self._whole()
            if self._next.kind != END:
                is_last = self._tokens[self._position + 1].kind == END
                self._fail(self._next, f"{'extraneous' if is_last else 'mismatched'} input '{self._next.text}' expecting {END}")
        except _Failed:
            tree = None
        except macros.MacroError as error:
            self._report(error.node.offset, str(error))
            tree = None
        if tree is None or self._issues:
            raise CompileError(self._source, self._issues)
        return tree

    def _whole(self) -> Node:
        try:
            return self._expression()
        except RecursionError:
            self._report(self._next.offset, _TOO_DEEP)
            raise _Failed from None

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def _take(self) -> Token:
        token = self._next
        self._position += 1
        return token

    def _accept(self, *kinds: str) -> Token | None:
        return self._take() if self._next.kind in kinds else None

    def _expect(self, kind: str, expected: str = "") -> Token:
        token = self._accept(kind)
        if token is None:
            self._fail(self._next, self._mismatch(kind, expected or _shown(kind)))
        return token

    def _mismatch(self, kind: str, expected: str) -> str:
        """What is wrong where a token of a kind should be. Upstream: antlr DefaultErrorStrategy RecoverInline"""
        found = self._next
        if found.kind == END and expected in ("')'", "']'") and self._open_brackets() == 1:
            return f"missing {expected} at '{found.text}'"
        is_extra = found.kind != END and self._tokens[self._position + 1].kind == kind
        if kind == ":" and not is_extra and found.kind in _BEGINS_OPERAND:
            return f"missing {expected} at '{found.text}'"
        return f"{'extraneous' if is_extra else 'mismatched'} input '{found.text}' expecting {expected}"

    def _open_brackets(self) -> int:
        kinds = [token.kind for token in self._tokens[: self._position]]
        return sum(map(kinds.count, "([{")) - sum(map(kinds.count, ")]}"))

    def _fail(self, token: Token, message: str) -> Never:
        self._report(token.offset, f"Syntax error: {message}")
        raise _Failed

    def _report(self, offset: int, message: str) -> None:
        line, column = lexer.place(self._source, offset)
        self._issues.append(Issue(message, line, column))

    def _expression(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._report(self._next.offset, _TOO_DEEP)
            raise _Failed
        condition = self._disjunction()
        question = self._accept("?")
        if question is not None:
            first = self._disjunction()
            self._expect(":")
            condition = Call(question.offset, "_?_:_", (condition, first, self._expression()))
        self._depth -= 1
        return condition

    def _disjunction(self) -> Node:
        return self._logic("||", lambda: self._logic("&&", self._relation))

    def _logic(self, operator: str, operand: Callable[[], Node]) -> Node:
        """Operands with a logical operator between them, as a balanced tree, because conditions can be long.

        Upstream: parser/helper.go balancer
        """
        operands, offsets = [operand()], []
        while (token := self._accept(operator)) is not None:
            offsets.append(token.offset)
            operands.append(operand())
        return _balanced(f"_{operator}_", operands, offsets)

    def _chain(self, operators: tuple[str, ...], functions: dict[str, str], operand: Callable[[], Node]) -> Node:
        """Operands with operators of one precedence between them, which group from the left."""
        left = operand()
        while (token := self._accept(*operators)) is not None:
            left = Call(token.offset, functions[token.kind], (left, operand()))
        return left

    def _relation(self) -> Node:
        return self._chain(tuple(_RELATIONS), _RELATIONS, self._sum)

    def _sum(self) -> Node:
        return self._chain(tuple(_SUMS), _SUMS, lambda: self._chain(tuple(_PRODUCTS), _PRODUCTS, self._unary))

    def _unary(self) -> Node:
        first = self._next
        if first.kind not in ("!", "-"):
            return self._member()
        if first.kind == "-" and self._tokens[self._position + 1].kind in ("NUM_INT", "NUM_FLOAT"):
            return self._member()
        count = 0
        while self._accept(first.kind) is not None:
            count += 1
        operand = self._member()
        return operand if count % 2 == 0 else Call(first.offset, "!_" if first.kind == "!" else "-_", (operand,))

    def _member(self) -> Node:
        node = self._primary()
        while (token := self._accept(".", "[")) is not None:
            node = self._index(node, token) if token.kind == "[" else self._field(node, token)
        return node

    def _index(self, node: Node, bracket: Token) -> Node:
        function = "_[?_]" if self._accept("?") is not None else "_[_]"
        index = self._expression()
        self._expect("]")
        return Call(bracket.offset, function, (node, index))

    def _field(self, node: Node, dot: Token) -> Node:
        is_optional = self._accept("?") is not None
        escaped = self._accept("ESC_IDENTIFIER")
        name = escaped.text[1:-1] if escaped is not None else self._expect("IDENTIFIER", _OPTIONAL_FIELD if is_optional else _FIELD).text
        if is_optional:
            return Call(dot.offset, "_?._", (node, Literal(dot.offset, name)))
        parenthesis = None if escaped is not None else self._accept("(")
        if parenthesis is None:
            return Select(dot.offset, node, name)
        arguments = self._arguments()
        return self._called(parenthesis.offset, name, node, arguments)

    def _called(self, offset: int, function: str, target: Node | None, arguments: tuple[Node, ...]) -> Node:
        return macros.expand(offset, function, target, arguments) or Call(offset, function, arguments, target)

    def _arguments(self) -> tuple[Node, ...]:
        if self._accept(")") is not None:
            return ()
        arguments = [self._expression()]
        while self._accept(",") is not None:
            arguments.append(self._expression())
        self._expect(")")
        return tuple(arguments)

    def _primary(self) -> Node:
        token = self._take()
        node = self._begun_by(token)
        if node is None:
            self._fail(token, f"mismatched input '{token.text}' expecting {_OPERAND}")
        return node

    def _begun_by(self, token: Token) -> Node | None:
        """The operand that a token begins; None: no operand begins with it."""
        match token.kind:
            case "IDENTIFIER":
                return self._named(token, "")
            case ".":
                return self._named(self._expect("IDENTIFIER"), ".")
            case "(":
                inner = self._expression()
                self._expect(")")
                return inner
            case "[":
                return self._list(token)
            case "{":
                return self._map(token)
            case "true" | "false":
                return Literal(token.offset, token.kind == "true")
            case "null":
                return Literal(token.offset, None)
            case "STRING" | "BYTES":
                return self._quoted(token)
            case "NUM_INT" | "NUM_UINT" | "NUM_FLOAT":
                return self._number(token, 1)
            case "-":
                return self._number(self._take(), -1)
        return None

    def _quoted(self, token: Token) -> Node:
        try:
            return Literal(token.offset, lexer.unquoted(token.text) if token.kind == "STRING" else lexer.unquoted_bytes(token.text))
        except EscapeError as error:
            self._report(token.offset, str(error))
            return Literal(token.offset, "")

    def _named(self, token: Token, dot: str) -> Node:
        if token.text in lexer.RESERVED:
            self._report(token.offset, f"reserved identifier: {token.text}")
        parenthesis = self._accept("(")
        if parenthesis is None:
            return Identifier(token.offset, dot + token.text)
        return self._called(parenthesis.offset, token.text, None, self._arguments())

    def _number(self, token: Token, sign: int) -> Node:
        text = token.text
        if token.kind == "NUM_FLOAT":
            return Literal(token.offset, sign * float(text))
        number = sign * _whole_number(text.rstrip("uU"))
        if token.kind == "NUM_UINT":
            if number > MAX_UINT:
                self._report(token.offset, "invalid uint literal")
            return Literal(token.offset, Uint(number))
        if not MIN_INT <= number <= MAX_INT:
            self._report(token.offset, "invalid int literal")
        return Literal(token.offset, number)

    def _list(self, bracket: Token) -> Node:
        elements: list[Node] = []
        optional: set[int] = set()
        while self._next.kind != "]":
            if self._accept("?") is not None:
                optional.add(len(elements))
            elements.append(self._expression())
            if self._accept(",") is None:
                break
        self._expect("]", "{']', ','}")
        return ListLiteral(bracket.offset, tuple(elements), frozenset(optional))

    def _map(self, brace: Token) -> Node:
        entries: list[tuple[Node, Node]] = []
        optional: set[int] = set()
        while self._next.kind != "}":
            if self._accept("?") is not None:
                optional.add(len(entries))
            key = self._expression()
            self._expect(":")
            entries.append((key, self._expression()))
            if self._accept(",") is None:
                break
        self._expect("}", "{'}', ','}")
        return MapLiteral(brace.offset, tuple(entries), frozenset(optional))


def _whole_number(text: str) -> int:
    """The number; of one that is far too large, the first digits, because Python limits the digits that it converts."""
    if text.startswith("0x"):
        return int(text, 16)
    digits = text.lstrip("0") or "0"
    return int(digits[: len(str(MAX_UINT)) + 1])


def _balanced(function: str, operands: Sequence[Node], offsets: Sequence[int]) -> Node:
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) - 1) // 2
    left = _balanced(function, operands[: middle + 1], offsets[:middle])
    right = _balanced(function, operands[middle + 1 :], offsets[middle + 1 :])
    return Call(offsets[middle], function, (left, right))


def _shown(kind: str) -> str:
    return kind if kind.isupper() else f"'{kind}'"
