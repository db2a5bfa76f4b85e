"""All of schemathesis' checks of a response, and the permitted exceptions with their reasons. SECURITY.md links here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from schemathesis import Case
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup

load_all_checks()
#: No worker runs for these, or it takes longer than the test waits.
LATE = {"answer_late", "detail_late"}


class Allowed(NamedTuple):
    """A permitted failure with its reason. `applies` takes the failure's message, the case, the response, and its problem document."""

    kind: str
    reason: str
    applies: Callable[[str, Case, Any, dict[str, Any]], bool]


#: Request members with a syntax or meaning that JSON Schema cannot express: the response names the position and the fault.
_OWN_LANGUAGE = re.compile(
    r"(?s)(?:\$\.)?(commands\[\d+\]\.)?(object|config|when|generate|trace|settings|policies|pod|kind|watch|seconds|user|session|lesson|events|message|name|plan|text|file)\b.*"
    r"|\$(\.commands)?|\?(selector|at|from|stop|after|before)|settings.*|policies.*|file|name|Idempotency-Key|If-Match"
)
EXCEPTIONS = (
    Allowed(
        "IgnoredAuth",
        "Who may not see a session gets 404, as for one that does not exist: nobody learns that it is there.",
        lambda message, *_: "got `404" in message,
    ),
    Allowed(
        "IgnoredAuth",
        "A request without its token is refused as malformed first.",
        lambda message, *_: "got `400" in message,
    ),
    Allowed(
        "RejectedPositiveData",
        "The member has a language of its own (Kubernetes objects, breakpoints, selectors, configurations), or names what must exist.",
        lambda _message, _case, response, problem: (
            response.status_code in (400, 413) and bool(_OWN_LANGUAGE.fullmatch(str(problem.get("path", ""))))
        ),
    ),
    Allowed(
        "RejectedPositiveData",
        "Whole numbers are written without a decimal point; JSON Schema takes 1.0 for one.",
        lambda _message, _case, _response, problem: bool(re.fullmatch(r"-?[0-9.e+]+", str(problem.get("found", "")))),
    ),
    Allowed(
        "RejectedPositiveData",
        "If-Match: the session is not as it was seen.",
        lambda _message, _case, response, _problem: response.status_code == 412,
    ),
    Allowed(
        "AcceptedNegativeData",
        "If-Match is looked at before the body.",
        lambda _message, _case, response, _problem: response.status_code == 412,
    ),
    Allowed(
        "AcceptedNegativeData",
        "In a form every value is a text, whatever it was before it was written there.",
        lambda message, case, *_: str(case.media_type) == "multipart/form-data" and "violates `type`" in message,
    ),
    Allowed(
        "AcceptedNegativeData",
        "The header is for streams (Last-Event-ID), a wish that may be ignored (Prefer, RFC 7240), or was replaced by the test's own token; "
        "the session in the address was put there by the test.",
        lambda message, *_: (
            not _components(message) - {"Last-Event-ID", "Prefer", "Authorization", "session_id", "schedviz_login", "If-Match"}
        ),
    ),
)


def _components(message: str) -> set[str]:
    """The members of a request that schemathesis made wrong."""
    results = set(re.findall(r"/properties/([\w-]+)", message))
    results = {"schedviz_login" if name.startswith("schedviz_login") else name for name in results}
    return results or {"the body" if "body" in message else message}


def failures(case: Case, response: Any) -> dict[str, str]:
    """Failures of the checks that no exception permits, by kind."""
    problem = response.json() if response.status_code >= 400 and "problem+json" in response.headers.get("content-type", [""])[0] else {}
    if response.status_code == 503 and problem.get("code") in LATE:
        return {}
    try:
        case.validate_response(response, checks=CHECKS.get_all())
    except FailureGroup as group:
        return {
            type(exception).__name__: f"{exception.message}\n{case.as_curl_command()}\n{response.status_code} {response.text[:1000]}"
            for exception in group.exceptions
            if not any(
                allowed.kind == type(exception).__name__ and allowed.applies(exception.message, case, response, problem)
                for allowed in EXCEPTIONS
            )
        }
    return {}
