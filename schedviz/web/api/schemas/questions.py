"""What is asked about pods and nodes."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from schedviz.web.api.schemas.body import Body


class MessageBody(Body, frozen=True, forbid_unknown_fields=True):
    """A text with `0/N nodes are available: …` in it, as an event, a log or `kubectl describe` has it."""

    text: Annotated[str, Meta(min_length=1, max_length=20_000)]
    #: `namespace/name`: the pod of which it was said.
    pod: Annotated[str, Meta(max_length=512)] = ""


class WhatIfBody(Body, frozen=True, forbid_unknown_fields=True):
    """Copies of a pod that are tried on the newest state."""

    #: A Pod as `kubectl get pod -o json` prints it, or as one would write it.
    pod: dict[str, Any]
    copies: Annotated[int, Meta(ge=1, le=10_000)] = 1


class NamesBody(Body, frozen=True):
    """Objects by what they are called: `namespace/name`, or the name alone where the kind has no namespaces."""

    names: list[str]
