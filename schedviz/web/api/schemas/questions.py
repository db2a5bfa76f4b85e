"""Requests for explanations and what-ifs."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from schedviz.web.api.schemas.body import Body


class MessageBody(Body, frozen=True, forbid_unknown_fields=True):
    """A text that contains `0/N nodes are available: …`, from an event, a log or `kubectl describe`."""

    text: Annotated[str, Meta(min_length=1, max_length=20_000)]
    #: The pod that the text is about, as `namespace/name`.
    pod: Annotated[str, Meta(max_length=512)] = ""


class PastedTextBody(Body, frozen=True, forbid_unknown_fields=True):
    """A text that contains the scheduler's messages: output of kubectl, lines of a log, an issue or a chat."""

    text: Annotated[str, Meta(max_length=2_097_152)] = ""
    #: Instead of `text`, several texts, each read on its own.
    texts: Annotated[tuple[Annotated[str, Meta(max_length=2_097_152)], ...], Meta(max_length=8)] = ()
    #: Instead of `text`, the bytes of one file (Base64), perhaps compressed with gzip or xz. Without a card, the response has its `text`.
    file: Annotated[bytes, Meta(max_length=1_048_576)] = b""
    #: `namespace/name`: the pod of messages that name none, and that of a card if the text names several.
    pod: Annotated[str, Meta(max_length=512)] = ""


class WhatIfBody(Body, frozen=True, forbid_unknown_fields=True):
    """Copies of a pod to try on the state now or after the event `?at=`."""

    #: A Pod as `kubectl get pod -o json` prints it, or a manifest.
    pod: dict[str, Any]
    copies: Annotated[int, Meta(ge=1, le=10_000)] = 1


class NamesBody(Body, frozen=True):
    """Object names: `namespace/name`, or the name for kinds without namespaces."""

    names: list[str]
