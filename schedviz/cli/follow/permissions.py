"""Checks before anything is listed which of the needed permissions the cluster denies, so that all of them are named at once.

The check is a SelfSubjectAccessReview, as in `kubectl auth can-i`. It is the only request that is not a GET, and it stores nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Literal

from schedviz.cli.follow.cluster_api import ClusterApi
from schedviz.cli.follow.errors import FollowError, Forbidden
from schedviz.kube.kinds import Kind

_VERBS: Final[tuple[Literal["list", "watch"], ...]] = ("list", "watch")
#: Reviews at a time.
_MAX_PARALLEL_REVIEWS: Final = 8
#: Kinds without which nothing can be followed.
_ESSENTIAL: Final = frozenset({"nodes", "pods"})


def denied(api: ClusterApi, kinds: Sequence[Kind]) -> list[tuple[Kind, Forbidden]]:
    """The denied verbs of the kinds, in order. Empty if the cluster does not review access; listing then shows what is denied.

    Raises `Unavailable` and `FollowError`.
    """
    permissions = [(kind, verb) for kind in kinds for verb in _VERBS]
    first = api.may(*permissions[0])
    if first is None:
        return []
    with ThreadPoolExecutor(_MAX_PARALLEL_REVIEWS) as pool:
        allowed = [first, *pool.map(lambda permission: api.may(*permission), permissions[1:])]
    return [
        (kind, Forbidden(verb, api.qualified(kind), "denied by a SelfSubjectAccessReview."))
        for (kind, verb), may in zip(permissions, allowed, strict=True)
        if may is False
    ]


def missing_permissions(errors: Sequence[Forbidden]) -> FollowError:
    """One sentence for all missing permissions, so that the user can request them together."""
    verbs = ", ".join(f"{error.verb} {error.resource}" for error in errors)
    resources = dict.fromkeys(error.resource.partition(".")[0] for error in errors)
    optional = [resource for resource in resources if resource not in _ESSENTIAL]
    hint = ""
    if len(optional) == len(resources):
        names = " ".join(f"--without {resource}" for resource in optional)
        hint = f" Or leave them out with {names}: decisions that depend on them then differ."
    return FollowError(
        f"no permission to {verbs}. The cluster says: {errors[0].reason} docs/follow.md has a ClusterRole with all that is needed.{hint}"
    )
