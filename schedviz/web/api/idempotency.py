"""`Idempotency-Key`: a retried request gets the first response, and creates its resource once.

A key belongs to a user and is kept for a day, unless the user has used many since. It is stored before the request runs, and its response
is stored with it. If the request is refused, its key is deleted, so that a corrected request can use it. Commands and forks store their
keys permanently.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, TypeVar, cast
from uuid import UUID

import msgspec
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions import keyed_digest
from schedviz.web.api.access import actor_for, session_for
from schedviz.web.api.errors import ApiError
from schedviz.web.api.idempotency_outcomes import StoredResponse, store_outcome
from schedviz.web.api.models import AnsweredRequest
from schedviz.web.auth.actors import Verb
from schedviz.web.auth.permissions import actor_of

MAX_KEY_LENGTH = 150
KEY_LIFETIME = timedelta(days=1)
#: Of one user; the oldest ones are deleted. They are about a megabyte, which counts for no quota.
MAX_KEYS = 1000
#: A request that has run for this long ended with a crash of its server.
_MAX_REQUEST_TIME = timedelta(minutes=10)
#: How often a key is reserved that others have just released.
_MAX_ATTEMPTS = 3
_encoder = msgspec.json.Encoder(enc_hook=str)

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description=f"1 to {MAX_KEY_LENGTH} characters of your choice, such as a UUID. A request that is retried with its key runs once.",
)

View = TypeVar("View", bound=Callable[..., Response])


def key_of(request: Request) -> str:
    """The request's key; "" if it has none. Raises `ApiError` 400."""
    key = request.headers.get("Idempotency-Key", "").strip().strip('"')
    if not key:
        return ""
    if len(key) > MAX_KEY_LENGTH or not key.isascii() or not key.isprintable():
        expected = f"1 to {MAX_KEY_LENGTH} printable ASCII characters"
        raise ApiError(400, "invalid", f"Idempotency-Key: {expected} are expected.", path="Idempotency-Key", expected=expected)
    return key


def idempotent(view: View) -> View:
    """Decorates a `post` that creates a resource, so that it runs once for each `Idempotency-Key` of a user. With a `session_id` in its
    address, it needs the permission to command the session, otherwise that to create something.
    """

    @functools.wraps(view)
    def post(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key, user_id = key_of(request), actor_of(request).user_id
        if not key or user_id is None:
            return view(self, request, *args, **kwargs)
        _require_permission(request, kwargs.get("session_id"))
        digest = _digest(request)
        reserved, is_new = _reserve_key(user_id, key, digest)
        if not is_new:
            return _replayed(reserved, digest)
        try:
            response = view(self, request, *args, **kwargs)
        except BaseException:
            store_outcome(reserved.pk, None)
            raise
        stored = StoredResponse(status=response.status_code, location=response.get("Location", ""), body=_encoder.encode(response.data))
        store_outcome(reserved.pk, stored)
        return response

    return cast("View", post)


def _require_permission(request: Request, session_id: UUID | None) -> None:
    """A repeated request needs the permission that the first one had. Raises `ApiError` 403 or 404."""
    if session_id is None:
        actor_for(request, Verb.CREATE)
    else:
        session_for(request, session_id, Verb.COMMAND)


def _reserve_key(user_id: int, key: str, digest: str) -> tuple[AnsweredRequest, bool]:
    """The request with this key, and whether it is this one, which must run; otherwise an earlier one has, or has not yet, a response."""
    now = timezone.now()
    own_requests = AnsweredRequest.objects.filter(user_id=user_id)
    own_requests.filter(created_at__lt=now - KEY_LIFETIME).delete()
    if (surplus := own_requests.order_by("-pk").values_list("pk", flat=True)[MAX_KEYS - 1 : MAX_KEYS].first()) is not None:
        own_requests.filter(pk__lte=surplus).delete()
    # A start time in the future is from before the clock was set back.
    begun_now = Q(created_at__range=(now - _MAX_REQUEST_TIME, now + _MAX_REQUEST_TIME))
    own_requests.filter(key=key, status=0).exclude(begun_now).delete()
    for _ in range(_MAX_ATTEMPTS):
        try:
            with transaction.atomic():
                return AnsweredRequest.objects.create(user_id=user_id, key=key, digest=keyed_digest.keyed(digest)), True
        except IntegrityError:
            # It is gone if that request has just been refused.
            if (earlier := own_requests.filter(key=key).first()) is not None:
                return earlier, False
    raise _in_progress()


def _in_progress() -> ApiError:
    return ApiError(409, "in_progress", "The same request is still running. Try again in a moment.", headers={"Retry-After": "1"})


def _replayed(earlier: AnsweredRequest, digest: str) -> Response:
    if not keyed_digest.is_same(earlier.digest, digest):
        raise ApiError(
            409,
            "key_reused",
            f"Idempotency-Key {earlier.key!r} was used before, for another request. Use a new key for each request.",
            path="Idempotency-Key",
        )
    if earlier.status == 0:
        raise _in_progress()
    headers = {"Idempotent-Replayed": "true"} | ({"Location": earlier.location} if earlier.location else {})
    return Response(msgspec.Raw(bytes(earlier.body)), status=earlier.status, headers=headers)


def _digest(request: Request) -> str:
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    data = request.data
    fields = data if not hasattr(data, "lists") else {name: values for name, values in data.lists() if name not in request.FILES}
    digest.update(msgspec.json.encode(fields, enc_hook=str, order="sorted"))
    for file in cast("Iterable[UploadedFile[bytes]]", request.FILES.getlist("file")):
        digest.update(f"\n{file.name} {file.size}\n".encode())
        for chunk in file.chunks():
            digest.update(chunk)
        file.seek(0)
    return digest.hexdigest()
