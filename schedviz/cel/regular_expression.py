"""Regular expressions in RE2's syntax that take linear time, whatever the pattern: Python's `re` can take exponential time.

Without Unicode classes (`\\p{…}`) and `\\Q…\\E`. Upstream: Go's regexp, which cel-go uses
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

#: The largest program, and the largest number in `{n,m}`, as in RE2.
MAX_INSTRUCTIONS: Final = 20_000
MAX_REPEAT: Final = 1000

Test = Callable[[str], bool]


class PatternError(ValueError):
    """A pattern that RE2 would refuse. The text is Go's, without its prefix."""


class Flags(NamedTuple):
    """Flags of a part of a pattern: `(?ims)`."""

    ignore_case: bool = False
    multi_line: bool = False
    dot_matches_newline: bool = False


class Instruction(NamedTuple):
    """One step of a program: test a character, branch, check a position, or match."""

    kind: str
    test: Test | None = None
    #: The next instructions; of a branch, the preferred one first.
    first: int = 0
    second: int = 0


#: A part of a pattern: appends its instructions, after which execution continues.
Part = Callable[[list[Instruction]], None]


class RegularExpression:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Raises `PatternError`."""
        part = _Parser(pattern).parse()
        self._program: list[Instruction] = []
        part(self._program)
        self._program.append(Instruction("match"))

    @property
    def size(self) -> int:
        """The number of instructions; a search takes at most as many steps for each character."""
        return len(self._program)

    def find(self, text: str, start: int = 0) -> tuple[int, int] | None:
        """The first match from a position on: where it begins and ends."""
        threads: list[tuple[int, int]] = []
        longest: tuple[int, int] | None = None
        for start_at in range(start, len(text) + 1):
            seen: set[int] = set()
            current: list[tuple[int, int]] = []
            for step, begin in threads:
                self._follow(step, begin, text, start_at, seen, current)
            if longest is None:
                self._follow(0, start_at, text, start_at, seen, current)
            threads = []
            for step, begin in current:
                instruction = self._program[step]
                if instruction.kind == "match":
                    # Threads behind this one are less preferred.
                    longest = (begin, start_at)
                    break
                if start_at < len(text) and instruction.test is not None and instruction.test(text[start_at]):
                    threads.append((step + 1, begin))
            if not threads and longest is not None:
                break
        return longest

    def find_all(self, text: str) -> Iterator[tuple[int, int]]:
        """All matches that do not overlap. Upstream: Go's Regexp.allMatches"""
        position, last_end = 0, -1
        while position <= len(text):
            match = self.find(text, position)
            if match is None:
                return
            begin, end = match
            if end > begin or begin != last_end:
                yield match
            last_end = end
            position = end if end > position else position + 1

    def _follow(self, step: int, begin: int, text: str, position: int, seen: set[int], results: list[tuple[int, int]]) -> None:
        """Follow branches to the characters and matches that they lead to, in order of preference."""
        stack = [step]
        while stack:
            at = stack.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = self._program[at]
            if instruction.kind == "branch":
                stack += (instruction.second, instruction.first)
            elif instruction.kind == "jump":
                stack.append(instruction.first)
            elif instruction.kind in _POSITIONS:
                if _POSITIONS[instruction.kind](text, position):
                    stack.append(at + 1)
            else:
                results.append((at, begin))


def _is_word(text: str, index: int) -> bool:
    return 0 <= index < len(text) and _WORD(text[index])


_POSITIONS: Final[dict[str, Callable[[str, int], bool]]] = {
    "begin": lambda _text, position: position == 0,
    "end": lambda text, position: position == len(text),
    "line begin": lambda text, position: position == 0 or text[position - 1] == "\n",
    "line end": lambda text, position: position == len(text) or text[position] == "\n",
    "word boundary": lambda text, position: _is_word(text, position - 1) != _is_word(text, position),
    "no word boundary": lambda text, position: _is_word(text, position - 1) == _is_word(text, position),
}


def _within(*ranges: str) -> Test:
    """A test for characters; each range is its first and last character."""
    return lambda character: any(range_[0] <= character <= range_[1] for range_ in ranges)


def _not(test: Test) -> Test:
    return lambda character: not test(character)


def _any_of(tests: Sequence[Test]) -> Test:
    return lambda character: any(test(character) for test in tests)


_DIGIT: Final = _within("09")
_WORD: Final = _within("09", "AZ", "az", "__")
_SPACE: Final = _within("\t\n", "\f\r", "  ")
_CLASSES: Final[dict[str, Test]] = {
    "d": _DIGIT,
    "D": _not(_DIGIT),
    "w": _WORD,
    "W": _not(_WORD),
    "s": _SPACE,
    "S": _not(_SPACE),
}
_NAMED: Final[dict[str, Test]] = {
    "alnum": _within("09", "AZ", "az"),
    "alpha": _within("AZ", "az"),
    "ascii": _within("\x00\x7f"),
    "blank": _within("\t\t", "  "),
    "cntrl": _within("\x00\x1f", "\x7f\x7f"),
    "digit": _DIGIT,
    "graph": _within("!~"),
    "lower": _within("az"),
    "print": _within(" ~"),
    "punct": _within("!/", ":@", "[`", "{~"),
    "space": _within("\t\r", "  "),
    "upper": _within("AZ"),
    "word": _WORD,
    "xdigit": _within("09", "AF", "af"),
}
_ESCAPED: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ESCAPED_POSITIONS: Final = {"A": "begin", "z": "end", "b": "word boundary", "B": "no word boundary"}


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._flags = Flags()

    def parse(self) -> Part:
        part = self._alternatives()
        if self._at < len(self._pattern):
            raise PatternError(f"unexpected ): `{self._pattern}`")
        return part

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _accept(self, text: str) -> bool:
        if not self._pattern.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _take(self) -> str:
        character = self._peek()
        self._at += 1
        return character

    def _alternatives(self) -> Part:
        part = self._sequence()
        while self._accept("|"):
            part = _alternative(part, self._sequence())
        return part

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self._peek() not in ("", "|", ")"):
            part = self._atom()
            if part is not None:
                parts.append(self._repeated(part))
        return _all_of(parts)

    def _repeated(self, part: Part) -> Part:
        start = self._at
        bounds = self._bounds()
        if bounds is None:
            return part
        is_greedy = not self._accept("?")
        if self._peek() in ("*", "+", "?"):
            raise PatternError(f"invalid nested repetition operator: `{self._pattern[start : self._at + 1]}`")
        return _repetition(part, *bounds, is_greedy=is_greedy)

    def _bounds(self) -> tuple[int, int | None] | None:
        """How often the part before may be repeated; None: it is not."""
        for operator, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._accept(operator):
                return bounds
        if self._peek() != "{":
            return None
        end = self._pattern.find("}", self._at)
        least, comma, most = self._pattern[self._at + 1 : end].partition(",") if end > 0 else ("", "", "")
        if not (least.isascii() and least.isdigit()) or (most and not (most.isascii() and most.isdigit())):
            return None
        if max(len(least), len(most)) > len(str(MAX_REPEAT)):
            raise PatternError(f"invalid repeat count: `{self._pattern[self._at : end + 1]}`")
        low = int(least)
        high = (int(most) if most else None) if comma else low
        if low > MAX_REPEAT or (high is not None and (high > MAX_REPEAT or high < low)):
            raise PatternError(f"invalid repeat count: `{self._pattern[self._at : end + 1]}`")
        self._at = end + 1
        return low, high

    def _atom(self) -> Part | None:
        """The next part; None: only flags were set."""
        character = self._take()
        match character:
            case "(":
                return self._group()
            case "[":
                return _character(self._folded(self._character_class()))
            case ".":
                return _character((lambda _each: True) if self._flags.dot_matches_newline else (lambda each: each != "\n"))
            case "^":
                return _position("line begin" if self._flags.multi_line else "begin")
            case "$":
                return _position("line end" if self._flags.multi_line else "end")
            case "*" | "+" | "?":
                raise PatternError(f"missing argument to repetition operator: `{character}`")
            case "\\":
                return self._escape()
        return _character(self._folded(_within(character * 2)))

    def _escape(self) -> Part:
        if self._peek() in _ESCAPED_POSITIONS and self._peek():
            return _position(_ESCAPED_POSITIONS[self._take()])
        return _character(self._folded(self._escaped()))

    def _escaped(self) -> Test:
        """The characters that an escape stands for."""
        character = self._take()
        if not character:
            raise PatternError("trailing backslash at end of expression: ``")
        if character in _CLASSES:
            return _CLASSES[character]
        if character == "x":
            return _within(self._hexadecimal() * 2)
        if character.isalnum() and character not in _ESCAPED:
            raise PatternError(f"invalid escape sequence: `\\{character}`")
        return _within(_ESCAPED.get(character, character) * 2)

    def _hexadecimal(self) -> str:
        """The character of `\\x41` or `\\x{1F600}`."""
        if self._accept("{"):
            digits = self._pattern[self._at :].partition("}")[0]
            self._at += len(digits) + 1
        else:
            digits = self._pattern[self._at : self._at + 2]
            self._at += 2
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            raise PatternError(f"invalid escape sequence: `\\x{digits}`") from None

    def _folded(self, test: Test) -> Test:
        if not self._flags.ignore_case:
            return test
        return lambda character: test(character) or test(character.lower()) or test(character.upper())

    def _group(self) -> Part | None:
        outer = self._flags
        if self._accept("?"):
            if self._accept("P<") or self._accept("<"):
                self._at = self._pattern.find(">", self._at) + 1
            elif self._set_flags():
                return None
        part = self._alternatives()
        if not self._accept(")"):
            raise PatternError(f"missing closing ): `{self._pattern}`")
        self._flags = outer
        return part

    def _set_flags(self) -> bool:
        """Parse flags. True: they apply to the rest of the enclosing group; False: to the group that they open."""
        value = True
        while (character := self._take()) not in (":", ")"):
            name = {"i": "ignore_case", "m": "multi_line", "s": "dot_matches_newline"}.get(character)
            if character == "-":
                value = False
            elif name is None:
                raise PatternError(f"invalid or unsupported Perl syntax: `(?{character}`")
            else:
                self._flags = self._flags._replace(**{name: value})
        return character == ")"

    def _character_class(self) -> Test:
        is_negated = self._accept("^")
        tests: list[Test] = []
        start = self._at
        while self._peek() != "]" or self._at == start:
            if not self._peek():
                raise PatternError(f"missing closing ]: `{self._pattern[start - 1 :]}`")
            tests.append(self._member())
        self._at += 1
        return _not(_any_of(tests)) if is_negated else _any_of(tests)

    def _member(self) -> Test:
        if self._accept("[:"):
            name, closed, _ = self._pattern[self._at :].partition(":]")
            test = _NAMED.get(name.removeprefix("^"))
            if not closed or test is None:
                raise PatternError(f"invalid character class range: `[:{name}:]`")
            self._at += len(name) + 2
            return _not(test) if name.startswith("^") else test
        first = self._member_character()
        if not isinstance(first, str):
            return first
        rest = self._pattern[self._at : self._at + 2]
        if not rest.startswith("-") or rest in ("-", "-]"):
            return _within(first * 2)
        self._at += 1
        last = self._member_character()
        if not isinstance(last, str) or last < first:
            raise PatternError(f"invalid character class range: `{first}-{last if isinstance(last, str) else ''}`")
        return _within(first + last)

    def _member_character(self) -> str | Test:
        """A character, or a test for a class of them."""
        character = self._take()
        if character != "\\":
            return character
        if self._peek() in _CLASSES:
            return _CLASSES[self._take()]
        escaped = self._take()
        return _ESCAPED.get(escaped, escaped)


def _all_of(parts: Sequence[Part]) -> Part:
    def emit(program: list[Instruction]) -> None:
        for part in parts:
            part(program)

    return emit


def _character(test: Test) -> Part:
    return lambda program: _emit(program, Instruction("character", test))


def _position(kind: str) -> Part:
    return lambda program: _emit(program, Instruction(kind))


def _emit(program: list[Instruction], instruction: Instruction) -> None:
    if len(program) >= MAX_INSTRUCTIONS:
        raise PatternError("expression too large")
    program.append(instruction)


def _alternative(first: Part, second: Part) -> Part:
    def emit(program: list[Instruction]) -> None:
        branch = len(program)
        _emit(program, Instruction("branch"))
        first(program)
        jump = len(program)
        _emit(program, Instruction("jump"))
        program[branch] = Instruction("branch", first=branch + 1, second=len(program))
        second(program)
        program[jump] = Instruction("jump", first=len(program))

    return emit


def _repetition(part: Part, least: int, most: int | None, *, is_greedy: bool) -> Part:
    def branch(program: list[Instruction], address: int, inside: int, outside: int) -> None:
        first, second = (inside, outside) if is_greedy else (outside, inside)
        program[address] = Instruction("branch", first=first, second=second)

    def emit(program: list[Instruction]) -> None:
        before = len(program)
        for _ in range(least):
            part(program)
            if len(program) == before:
                # It matches only the empty text: repetitions of it, which may be nested, would never come to the limit of instructions.
                return
        if most is None:
            address = len(program)
            _emit(program, Instruction("branch"))
            part(program)
            _emit(program, Instruction("jump", first=address))
            branch(program, address, address + 1, len(program))
            return
        branches: list[int] = []
        for _ in range(most - least):
            branches.append(len(program))
            _emit(program, Instruction("branch"))
            part(program)
        for address in branches:
            branch(program, address, address + 1, len(program))

    return emit
