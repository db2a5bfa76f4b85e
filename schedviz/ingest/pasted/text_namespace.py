"""`namespace_of`: the namespace that the heading or the commands of a copied text name."""

from __future__ import annotations

import re
from typing import Final

_NAMESPACE: Final = re.compile(r"^Namespace:[ \t]++(?P<namespace>[a-z0-9][a-z0-9-]{0,62})[ \t]*+$", re.MULTILINE)
_NAME: Final = re.compile(r"^Name:[ \t]", re.MULTILINE)
#: A command whose output, a table without the column NAMESPACE, follows it.
_COMMAND: Final = re.compile(
    r"^[ \t`]*+(?:[^\n|]{0,80}?[$#%>;][ \t]*+)?(?:kubectl|oc|k)[ \t](?=[^\n|]{0,200}?\bget[ \t]++(?:pods?|po|events?|ev)\b)"
    r"[^\n|]{0,200}?(?:-n|--namespace)(?:[ \t]++|=)(?P<namespace>[a-z0-9][a-z0-9-]{0,62})[^\n]{0,200}+\n(?:[ \t]*+\n){0,9}"
    r"(?:NAME[ \t]|LAST SEEN[ \t]|[a-z0-9][a-z0-9.-]*+[ \t]++\d++/\d++[ \t])",
    re.MULTILINE,
)
#: The same of a description without its head, such as that of an owner of pods.
_DESCRIBE_COMMAND: Final = re.compile(
    r"^[ \t`]*+(?:[^\n|]{0,80}?[$#%>;][ \t]*+)?(?:kubectl|oc|k)[ \t](?=[^\n|]{0,200}?\bdescribe[ \t])"
    r"[^\n|]{0,200}?(?:-n|--namespace)(?:[ \t]++|=)(?P<namespace>[a-z0-9][a-z0-9-]{0,62})[^\n]{0,200}+\n(?:[ \t]*+\n){0,9}"
    r"(?:\.\.\.|\[|Events:)",
    re.MULTILINE,
)
#: A row of a table of events without the column NAMESPACE, whose message names the namespace of its pod.
_ASSIGNED: Final = re.compile(
    r"^[ \t]*+(?:\d++[smhdy])++[ \t]++Normal[ \t]++Scheduled[ \t]++[Pp]od/(?P<name>\S++)[ \t][^\n]{0,200}?"
    r"Successfully assigned (?P<namespace>[a-z0-9][a-z0-9-]{0,62})/(?P=name) ",
    re.MULTILINE,
)
#: What names the namespace of each pod.
_EACH: Final = re.compile(r"^[ \t]*+NAMESPACE[ \t]|\bdefault/", re.MULTILINE)


def namespace_of(text: str) -> str:
    """The namespace in the heading or the commands of a text; "": it names none, or several, or each pod has its own."""
    if _EACH.search(text) is not None:
        return ""
    headings = list(_NAMESPACE.finditer(text))
    name = _NAME.search(text)
    namespaces = {each["namespace"] for each in headings} | {
        each["namespace"] for pattern in (_COMMAND, _DESCRIBE_COMMAND, _ASSIGNED) for each in pattern.finditer(text)
    }
    if len(namespaces) != 1:
        return ""
    is_heading = bool(headings) and (name is None or headings[0].start() < name.start())
    return namespaces.pop() if is_heading or not headings else ""
