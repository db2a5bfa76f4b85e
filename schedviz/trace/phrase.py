"""`Phrase`: a sentence as a template and its values, so that it can be translated where it is shown.

The English template is the key, as in gettext: it is written once, here. The page's other languages are in `zh-CN.explain.json`. The
scheduler's own messages are values, and are not translated.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Phrase(msgspec.Struct, frozen=True):
    """A template with `{names}`, and a value for each: a text, a number, or another phrase."""

    template: str
    values: dict[str, str | int | Phrase] = msgspec.field(default_factory=dict)

    @property
    def text(self) -> str:
        """The English text."""
        return self.template.format(**{name: _in_english(value) for name, value in self.values.items()})


def phrase(template: str, **values: str | int | Phrase) -> Phrase:
    """Shorthand for a Phrase."""
    return Phrase(template, values)


def counted(count: int, singular: str, plural: str) -> Phrase:
    """`{count} node` or `{count} nodes`."""
    return Phrase(singular if count == 1 else plural, {"count": count})


def some(names: Sequence[str], maximum: int = 3) -> str | Phrase:
    """The first few names, and the number of the others."""
    listed = ", ".join(names[:maximum])
    return listed if len(names) <= maximum else phrase("{names} and {count} more", names=listed, count=len(names) - maximum)


def joined(phrases: Sequence[Phrase], between: str = "{first}, {next}", maximum: int = 20) -> Phrase:
    """Chain the first few phrases, and count the others. Without a limit, translating a chain would exceed the depth of recursion."""
    chain, *others = phrases
    for other in others[: maximum - 1]:
        chain = Phrase(between, {"first": chain, "next": other})
    return chain if len(phrases) <= maximum else phrase("{names} and {count} more", names=chain, count=len(phrases) - maximum)


def as_sentence(text: str) -> str:
    """An English text with a capital first letter."""
    return text[:1].upper() + text[1:]


def whole_sentence(text: str) -> str:
    """An English text with a capital first letter and a full stop."""
    sentence = as_sentence(text)
    return sentence if not sentence or sentence[-1] in ".!?:…" else f"{sentence}."


def _in_english(value: str | int | Phrase) -> str:
    if isinstance(value, Phrase):
        return value.text
    return f"{value:,}" if isinstance(value, int) else value
