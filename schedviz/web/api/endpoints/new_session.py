"""Reads a request for a new session: a form with files, or JSON with a generator, a trace or a lesson."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from typing import Any, cast

import msgspec
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from rest_framework.request import Request

from schedviz import lessons
from schedviz.ingest.generate import parse_generate_spec
from schedviz.kube.errors import DecodeError, KubeError
from schedviz.kube.validation_errors import explain_validation_error
from schedviz.sessions.extenders import may_call_extenders
from schedviz.sessions.transfer import create
from schedviz.sessions.transfer.validation import ValidationUnavailable, validate_settings, validate_trace
from schedviz.trace.policies import Policies
from schedviz.trace.releases import RELEASES, unknown_release
from schedviz.web.api import schemas
from schedviz.web.api.access import body_as
from schedviz.web.api.endpoints.lessons import unreadable
from schedviz.web.api.errors import ApiError, struct_error
from schedviz.web.auth.permissions import user_of
from schedviz.web.redaction import printable
from schedviz.web.server.waiting_requests import requester, worker_waits

#: Settings that a request can have at its top level, too.
_TOP_LEVEL_SETTINGS = frozenset({"release", "featureGates"})


def source_of(request: Request) -> tuple[str, create.Source, dict[str, Any]]:
    """The name, the source and the settings of the new session. Raises `ApiError` 400, or 404 for an unknown lesson."""
    return _from_form(request) if _is_multipart(request) else _from_json(request)


def validated_settings(request: Request, engine_settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of the new session, as members of SimulationSettings. Raises as `validating`."""
    path, top_level = "settings" if _is_multipart(request) else "$.settings", _TOP_LEVEL_SETTINGS & set(request.data)
    with validating(path, top_level=top_level):
        return validate_settings(engine_settings, sender=requester.get())


def calls_extenders_of(request: Request) -> bool:
    """Whether the session may call its extenders. Raises `ApiError` 403 if the user has no permission for that."""
    value = request.data.get("callExtenders") if hasattr(request.data, "get") else None
    if value in (None, "", False, "false"):
        return False
    if value not in (True, "true"):
        raise ApiError(400, "invalid", "callExtenders: expected true or false.", path="callExtenders", expected="true or false")
    if not may_call_extenders(user_of(request)):
        raise ApiError(
            403,
            "extenders_not_allowed",
            "Your sessions may not call extenders: SCHEDVIZ_EXTENDER_USERS of this server does not include you.",
            hint="Declare their responses (fakeExtenders), or ask the operator.",
        )
    return True


@contextmanager
def validating(path: str, *, top_level: AbstractSet[str] = frozenset()) -> Iterator[None]:
    """Raises `ApiError` for what the validation of the request's member at `path` raises: 400, or 503 where no worker validates it.

    The members in `top_level` were sent beside `path`, not in it.
    """
    try:
        with worker_waits.slot():
            yield
    except DecodeError as error:
        is_top_level = error.path.partition(".")[0] in top_level
        fault = error.inside(path.rpartition(".")[0] if is_top_level else path)
        raise ApiError(400, "invalid", str(fault), path=fault.path, expected=fault.expected, found=fault.found) from error
    except ValidationUnavailable as error:
        raise ApiError(503, error.code, str(error), headers={"Retry-After": "2"}, path=path) from error


def lesson_source(name: str, wanted: str) -> tuple[str, create.Source, dict[str, Any]]:
    """The source and the settings of a lesson's session. Raises `ApiError` 404."""
    try:
        lesson = lessons.find(name)
    except lessons.UnknownLessonError as error:
        raise ApiError(404, "not_found", f"$.lesson: {error}", path="$.lesson", hint="GET /api/v1/lessons/ lists them.") from error
    except lessons.LessonError as error:
        raise unreadable(name, error) from error
    title = next((text.title for text in lesson.texts.values()), name)
    return wanted or title, create.LessonCluster(name, lesson.objects, lesson.version), lesson.settings


def _is_multipart(request: Request) -> bool:
    return str(request.content_type).startswith("multipart/form-data")


def _from_form(request: Request) -> tuple[str, create.Source, dict[str, Any]]:
    data = cast("QueryDict", request.data)
    unknown = sorted(set(data) - {"file", "name", "settings", "policies", "callExtenders", "releaseWithoutVersion", *_TOP_LEVEL_SETTINGS})
    if unknown:
        expected = "file (repeatable), name, settings, policies, release, releaseWithoutVersion, featureGates, callExtenders"
        hint = "A KubeSchedulerConfiguration is one of the files; as JSON it is settings.config." if unknown[0] == "config" else ""
        raise ApiError(400, "invalid", f"There is no field {unknown[0]!r}.", path=unknown[0], expected=expected, hint=hint)
    uploads = list(cast("Iterable[UploadedFile[bytes]]", request.FILES.getlist("file")))
    if not uploads:
        raise ApiError(
            400, "invalid", "No file was sent.", path="file", expected="one or more files", hint="curl -F file=@nodes-and-pods.json"
        )
    engine_settings = _json_field(data, "settings") or {}
    if (policies := _json_field(data, "policies")) is not None:
        engine_settings = {**engine_settings, "policies": _valid_policies(policies)}
    if release := data.get("release"):
        engine_settings = {**engine_settings, "release": release}
    if (gates := _json_field(data, "featureGates")) is not None:
        engine_settings = {**engine_settings, "featureGates": gates}
    return _name_in(data) or _name_of(uploads), create.Files(uploads, _release_without_version(data)), engine_settings


def _release_without_version(data: QueryDict) -> str:
    """The release for files that suggest none; "" if the form names none. Raises `ApiError` 400."""
    release = str(data.get("releaseWithoutVersion") or "")
    if release and release not in RELEASES:
        expected = " or ".join(RELEASES)
        raise ApiError(400, "invalid", unknown_release(release), path="releaseWithoutVersion", expected=expected, found=release)
    return release


def _name_in(data: QueryDict) -> str:
    """The name field of a form, checked as in JSON. Raises `ApiError` 400."""
    name = str(data.get("name") or "")
    try:
        return msgspec.convert(name, schemas.Title)
    except msgspec.ValidationError as error:
        raise struct_error(error, name, inside="name") from error


def _json_field(data: QueryDict, name: str) -> dict[str, Any] | None:
    raw = data.get(name)
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ApiError(400, "invalid", f"{name}: {error}", path=name, expected="a JSON object") from error


def _valid_policies(policies: dict[str, Any]) -> dict[str, Any]:
    """The policies, if they are valid. Raises `ApiError` 400."""
    try:
        msgspec.convert(policies, Policies)
    except msgspec.ValidationError as error:
        fault = explain_validation_error(error, policies, Policies)
        path = f"policies.{fault.path}" if fault.path else "policies"
        raise ApiError(400, "invalid", f"{path}: {fault.message}", path=path, expected=fault.expected, found=fault.found) from error
    return policies


def _name_of(files: list[UploadedFile[bytes]]) -> str:
    first = str(files[0].name or "files")
    return printable(first if len(files) == 1 else f"{first} and {len(files) - 1} more", schemas.MAX_TITLE_LENGTH)


def _from_json(request: Request) -> tuple[str, create.Source, dict[str, Any]]:
    new = body_as(schemas.NewSession, request)
    if sum(source is not None for source in (new.generate, new.trace, new.lesson)) != 1:
        raise ApiError(
            400,
            "invalid",
            "$: Expected one of generate, trace and lesson.",
            path="$",
            expected='{"generate": {...}}, {"trace": {...}} or {"lesson": "..."}',
            hint="Files are sent as multipart/form-data, in the field file.",
        )
    top_level = {"policies": new.policies, "release": new.release, "featureGates": new.feature_gates}
    engine_settings = {**new.settings, **{name: msgspec.to_builtins(value) for name, value in top_level.items() if value is not None}}
    if new.generate is not None:
        _require_allowed(new.generate)
        return new.name or "Generated cluster", create.Generate(new.generate), engine_settings
    if new.lesson is not None:
        return lesson_source(new.lesson, new.name)
    assert new.trace is not None
    with validating("$.trace"):
        validate_trace(new.trace, sender=requester.get())
    return new.name or printable(str(new.trace.get("name") or "Trace"), schemas.MAX_TITLE_LENGTH), create.Trace(new.trace), engine_settings


def _require_allowed(parameters: dict[str, Any]) -> None:
    """Raises `ApiError` 400 unless the generator and the limits of this server allow the parameters."""
    try:
        spec = parse_generate_spec(parameters)
    except KubeError as error:
        path, _, message = str(error).partition(": ")
        raise ApiError(400, "invalid", f"$.{path}: {message}", path=f"$.{path}") from error
    for member, limit in (("nodes", settings.GENERATE_NODES), ("pods", settings.GENERATE_PODS)):
        if (getattr(spec, member) or 0) > limit:
            setting = f"SCHEDVIZ_GENERATE_{member.upper()}"
            message = f"$.generate.{member}: more than {limit:,}, the limit {setting} of this server."
            raise ApiError(
                400, "invalid", message, path=f"$.generate.{member}", expected=f"at most {limit}", found=str(getattr(spec, member))
            )
