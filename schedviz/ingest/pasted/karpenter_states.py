"""Reads what Karpenter says about its NodeClaims, NodePools and node classes: conditions of a described object or in YAML, and log lines.

Each is a message in one form: `NodeClaim default-x7k2p: Registered=Unknown (NodeNotFound): Node not registered with cluster`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from schedviz.ingest.scheduler_messages import PodMessage

#: The conditions on the way to a node, or to a NodePool that can be used, in the order in which Karpenter sets them.
_CONDITIONS: Final = {
    "NodeClaim": ("Launched", "Registered", "Initialized"),
    "NodePool": ("ValidationSucceeded", "NodeClassReady", "NodeRegistrationHealthy"),
    "EC2NodeClass": ("SubnetsReady", "SecurityGroupsReady", "AMIsReady", "InstanceProfileReady", "ValidationSucceeded", "Ready"),
}
#: A condition that only one kind has.
_TELLING: Final = {
    "Launched": "NodeClaim",
    "Registered": "NodeClaim",
    "NodeClassReady": "NodePool",
    "SubnetsReady": "EC2NodeClass",
    "AMIsReady": "EC2NodeClass",
    "InstanceProfileReady": "EC2NodeClass",
}
_FIELD: Final = re.compile(
    r"^[ \t]*+(?P<first>-[ \t]++)?(?P<name>[Mm]essage|[Rr]eason|[Ss]tatus|[Tt]ype|[Ll]ast ?[Tt]ransition ?[Tt]ime"
    r"|[Oo]bserved ?[Gg]eneration):"
    r"(?:[ \t]++(?P<value>[^\n]*+))?$"
)
_START: Final = re.compile(r"^[ \t]*+Conditions:[ \t]*+$|^[ \t]*+conditions:[ \t]*+$", re.MULTILINE)
_DESCRIBED_NAME: Final = re.compile(r"^Name:[ \t]++(?P<name>\S++)", re.MULTILINE)
_YAML_NAME: Final = re.compile(r"^ {2}name:[ \t]++(?P<name>\S++)", re.MULTILINE)
_KIND: Final = re.compile(r"^[Kk]ind:[ \t]++(?P<kind>NodeClaim|NodePool|EC2NodeClass)\b", re.MULTILINE)
#: A line of the log about a NodeClaim, or about a NodePool that is not used.
_NODE_CLAIM: Final = re.compile(r'"(?:nodeclaim|NodeClaim|machine)": ?(?:\{"name": ?)?"(?P<name>[a-z0-9*][a-z0-9.*-]*+)"')
_NODE_POOL: Final = re.compile(r'"(?:nodepool|Node\s?Pool|provisioner)": ?(?:\{"name": ?)?"(?P<name>[a-z0-9*][a-z0-9.*-]*+)"')
_ERROR_LINE: Final = re.compile(r'"level": ?"ERROR"|\tERROR\t|[ \t]ERROR[ \t]')
_MESSAGE: Final = re.compile(r'"message": ?"(?P<text>(?:[^"\\\n]|\\.)++)"')
_ERROR: Final = re.compile(r'"error": ?"(?P<text>(?:[^"\\\n]|\\.)++)"')
_NOT_READY: Final = re.compile(r'"?(?:nodePool not ready|ignoring nodepool, not ready)"?')
_NO_POOLS: Final = re.compile(r"\bno (?P<kind>nodepools|provisioners) found\b")
#: The words of Karpenter about a NodeClaim that does not become a node.
_FAILS: Final = re.compile(r"launch|insufficient capacity|creat\w+ (?:instance|nodeclaim|machine)|regist|unavailable", re.IGNORECASE)
_MAX_LENGTH: Final = 600
_MAX_FOUND: Final = 50
#: A list of conditions has no more lines, nor characters.
_MAX_LINES: Final = 120
_MAX_CHARACTERS: Final = 30_000
_LINE: Final = re.compile(r"\n([^\n]*+)")


class _Condition(NamedTuple):
    type: str
    status: str
    reason: str
    message: str


def karpenter_states(text: str, *, is_alone: bool) -> Iterator[PodMessage]:
    """The messages, each once. `is_alone`: the text has no message about a pod, so each is about the object that it names."""
    seen: set[str] = set()
    for kind, name, said in (*_states_of_conditions(text), *_states_of_log(text)):
        message = f"{kind} {name}: {said}" if name else f"{kind}: {said}"
        if message not in seen and len(seen) < _MAX_FOUND:
            seen.add(message)
            yield PodMessage(f"{kind.lower()}/{name}" if name and is_alone else "", message[:_MAX_LENGTH])


def _states_of_conditions(text: str) -> Iterator[tuple[str, str, str]]:
    """The first condition of each object that is not true, with the object's kind and name."""
    names: _Names | None = None
    for start in _START.finditer(text):
        found = list(_conditions(text, start.end()))
        kinds = {_TELLING[each.type] for each in found if each.type in _TELLING}
        if len(kinds) != 1:
            continue
        [kind] = kinds
        by_type = {each.type: each for each in found}
        failing = next((by_type[name] for name in _CONDITIONS[kind] if name in by_type and by_type[name].status != "True"), None)
        if failing is not None:
            reason = f" ({failing.reason})" if failing.reason else ""
            why = f": {failing.message}" if failing.message else ""
            names = names or _Names(text)
            yield kind, names.of(kind, start.start()), f"{failing.type}={failing.status}{reason}{why}"


def _conditions(text: str, start: int) -> Iterator[_Condition]:
    """The conditions after an offset: each has its fields in the order of the alphabet, so `Type` is the last one."""
    fields: dict[str, str] = {}
    for line in islice(_LINE.finditer(text, start, start + _MAX_CHARACTERS), _MAX_LINES - 1):
        field = _FIELD.match(line[1])
        if field is None:
            if line[1].strip():
                return
            continue
        name = field["name"].lower()
        fields[name] = (field["value"] or "").strip().strip("\"'")
        if name == "type":
            yield _Condition(fields["type"], fields.get("status", ""), fields.get("reason", ""), fields.get("message", ""))
            fields = {}


class _Names:
    """The names in a text, found once: a text may have many lists of conditions."""

    def __init__(self, text: str) -> None:
        self._described = list(_DESCRIBED_NAME.finditer(text))
        self._in_yaml = list(_YAML_NAME.finditer(text))
        self._kinds: dict[str, list[re.Match[str]]] = {}
        for match in _KIND.finditer(text):
            self._kinds.setdefault(match["kind"], []).append(match)

    def of(self, kind: str, before: int) -> str:
        """The name of the object whose status begins at an offset; "": the text does not have it."""
        if number := _count_before(self._described, before):
            return self._described[number - 1]["name"]
        of_kind = self._kinds.get(kind, [])
        if not (number := _count_before(of_kind, before)):
            return ""
        number = _count_before(self._in_yaml, of_kind[number - 1].end())
        return self._in_yaml[number]["name"] if number < _count_before(self._in_yaml, before) else ""


def _count_before(matches: Sequence[re.Match[str]], offset: int) -> int:
    return bisect_left(matches, offset, key=lambda match: match.start())


def _states_of_log(text: str) -> Iterator[tuple[str, str, str]]:
    """What log lines say about NodeClaims that fail, and NodePools that Karpenter does not use."""
    if (
        "odePool not ready" not in text
        and "nodepool" not in text
        and "odeclaim" not in text
        and "achine" not in text
        and "no prov" not in text
    ):
        return
    # An editor may have broken a long line.
    is_of_pools = False
    for line in re.sub(r'"Node\nPool"', '"NodePool"', text).split("\n"):
        if _NOT_READY.search(line) is not None and (pool := _NODE_POOL.search(line)) is not None:
            is_of_pools = True
            yield "NodePool", pool["name"], "not ready"
        elif _ERROR_LINE.search(line) is not None and (claim := _NODE_CLAIM.search(line)) is not None:
            said = [match["text"].replace('\\"', '"') for match in (_MESSAGE.search(line), _ERROR.search(line)) if match is not None]
            if said and _FAILS.search(" ".join(said)) is not None:
                yield "NodeClaim", claim["name"], said[-1]
    if not is_of_pools and "schedule pod" not in text and (none := _NO_POOLS.search(text)) is not None and '"message"' in text:
        yield "NodePool" if none["kind"] == "nodepools" else "Provisioner", "", "none found"
