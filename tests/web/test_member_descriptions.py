"""The `#:` comments of structs describe the members in OpenAPI and in the wire schema."""

from __future__ import annotations

import msgspec

from schedviz.web.member_descriptions import describe_members


class Base(msgspec.Struct, rename="camel"):
    #: In virtual
    #: seconds.
    clock_seconds: float
    plain: int


class Nested(msgspec.Struct, rename="camel"):
    #: Milli-cpus.
    free_cpu: int


class Whole(Base):
    nodes: dict[str, tuple[Nested, ...]]
    #: Inherited comments are replaced.
    plain: int


def described() -> dict[str, dict[str, object]]:
    _, definitions = msgspec.json.schema_components([Whole])
    describe_members(definitions, [Whole])
    return {name: {member: kind.get("description") for member, kind in each["properties"].items()} for name, each in definitions.items()}


def test_members_are_described_by_the_comments_of_their_struct_and_of_its_base() -> None:
    assert described()["Whole"] == {
        "clockSeconds": "In virtual seconds.",
        "plain": "Inherited comments are replaced.",
        "nodes": None,
    }


def test_nested_structs_are_described() -> None:
    assert described()["Nested"] == {"freeCpu": "Milli-cpus."}
