"""The command line of `schedviz follow`."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from schedviz.cli.release_options import BY_CLUSTER, ChosenRelease, release_options
from schedviz.cli.rest_client import HOW_TO_AUTHENTICATE, RestClient, server_option, token_option
from schedviz.terminal import say

if TYPE_CHECKING:
    from schedviz.cli.follow.cluster_api import ClusterApi
    from schedviz.cli.follow.kubeconfig import Access
    from schedviz.cli.follow.throttled_printer import ThrottledPrinter

_READY_SECONDS = 120.0
#: The exit code of --dry-run when something that is needed cannot be read.
EXIT_FORBIDDEN = 1


@click.command()
@click.option("--context", "context", metavar="NAME", help="The kubeconfig context; default: the current one.")
@click.option(
    "--kubeconfig", type=click.Path(path_type=Path, dir_okay=False), help="The kubeconfig file; default: KUBECONFIG, or ~/.kube/config."
)
@click.option("--session", "session", metavar="ID", help="An empty session, or one that followed this cluster before; default: a new one.")
@click.option("--resume", is_flag=True, help="Continue the newest session of this source, or make one: for a process that is restarted.")
@click.option("--name", default="", help="The name of a new session; default: the source.")
@click.option("--source", default="", metavar="NAME", help="The name of the cluster in the session; default: the context.")
@click.option(
    "--pseudonyms",
    "secret",
    metavar="SECRET",
    envvar="SCHEDVIZ_PSEUDONYMS",
    help="Replace names with words derived from them with this secret; the same secret gives the same words.",
)
@click.option("--without", multiple=True, metavar="RESOURCE", help="Do not read this resource, such as csinodes; repeatable.")
@click.option(
    "--scheduler-log",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="The log of the cluster's kube-scheduler (-v=3 or more), as it is written (-: standard input), for the order of its decisions.",
)
@click.option("--once", is_flag=True, help="List once, push the differences and exit.")
@click.option("--dry-run", is_flag=True, help="Send nothing; list once and show what would be imported and what would be skipped.")
@release_options(BY_CLUSTER)
@server_option
@token_option
def follow(
    *,
    context: str | None,
    kubeconfig: Path | None,
    session: str | None,
    resume: bool,
    name: str,
    source: str,
    secret: str | None,
    without: tuple[str, ...],
    scheduler_log: Path | None,
    once: bool,
    dry_run: bool,
    server: str,
    token: str,
    chosen: ChosenRelease,
) -> None:
    """Make a session follow a real cluster, which is listed and watched from this machine with your credentials and never written to.

    Only fields that the scheduler reads are sent (docs/follow.md, which also has the required ClusterRole). Ctrl-C ends it; starting it
    again with the same --session continues.
    """
    from schedviz.cli.follow.cluster_api import ClusterApi
    from schedviz.cli.follow.cluster_version import version_of, with_release
    from schedviz.cli.follow.following import Following, resources_without_gate
    from schedviz.cli.follow.pushing import Pusher
    from schedviz.cli.follow.redaction import Redaction
    from schedviz.cli.follow.status import Status
    from schedviz.cli.follow.throttled_printer import ThrottledPrinter

    _validate_options(secret, without, session, resume=resume, chosen=chosen)
    access = _access(context, kubeconfig)
    api = ClusterApi(access)
    if dry_run:
        if not _show(api, secret, (*without, *resources_without_gate(chosen.feature_gates or {}))):
            raise SystemExit(EXIT_FORBIDDEN)
        return
    # A context's name may also identify the owner of the cluster.
    source = source or ("cluster" if secret else re.sub(r"[^!-~]", "-", access.context)[:100])
    connection = RestClient(server, token)
    printer = ThrottledPrinter()
    if session is None and resume:
        session = _session_of(connection, source)
    is_new = session is None
    gates = _gates_of(connection, session) if session else chosen.feature_gates or {}
    without = (*without, *resources_without_gate(gates))
    without = (*without, *_not_permitted(api, without, printer))
    version = version_of(api)
    if session is None:
        chosen, sentence = with_release(chosen, version)
        if sentence:
            printer.say(sentence)
        session = _new_session(connection, name or source, chosen)
    pusher = Pusher(connection, session, source, version=version, say=printer.say)
    following = Following(api, pusher, Redaction(secret), without=without, scheduler_log=scheduler_log, say=printer.say)
    status = printer.status = Status(connection, session, pusher, following.outage)
    try:
        counts = following.list_all()
    except click.ClickException:
        if is_new:
            connection.delete(f"sessions/{session}/")
        raise
    listed = ", ".join(f"{count} {resource}" for resource, count in counts.items() if count)
    say(f"{session}: {source} is in the session ({listed or 'it is empty'}).")
    if not once:
        say(f"Watching; Ctrl-C ends it, `schedviz follow --session {session}` goes on.", err=True)
        status.start()
        try:
            following.watch()
        finally:
            status.stop()


def _validate_options(secret: str | None, without: tuple[str, ...], session: str | None, *, resume: bool, chosen: ChosenRelease) -> None:
    """Raises `click.UsageError` for options that contradict each other."""
    from schedviz.cli.follow.following import resources
    from schedviz.cli.follow.scheduling_events import RESOURCE as EVENTS

    if secret == "":
        raise click.UsageError("--pseudonyms needs a secret: without one, anybody who guesses a name could verify it.")
    if unknown := sorted(set(without) - {*resources(), EVENTS}):
        raise click.UsageError(f"--without {unknown[0]}: expected one of {', '.join([*resources(), EVENTS])}.")
    if session and resume:
        raise click.UsageError("--resume finds the session by its source: leave out --session.")
    if session and chosen.members():
        raise click.UsageError("--release and --feature-gates are for a new session: the one of --session has its own release.")


def _access(context: str | None, kubeconfig: Path | None) -> Access:
    """The cluster of the kubeconfig or, in a pod without one, the pod's own."""
    from schedviz.cli.follow import in_cluster
    from schedviz.cli.follow import kubeconfig as config

    files = config.paths(kubeconfig)
    # As kubectl: a kubeconfig goes first, and in a pod there usually is none.
    in_pod = context is None and kubeconfig is None and not any(path.exists() for path in files) and in_cluster.is_in_cluster()
    return in_cluster.access() if in_pod else config.access(files, context)


def _not_permitted(api: ClusterApi, without: tuple[str, ...], printer: ThrottledPrinter) -> list[str]:
    """Resources to leave out because the role, made for an earlier version, does not permit them. Raises `FollowError` for others."""
    from schedviz.cli.follow.errors import FollowError, Unavailable
    from schedviz.cli.follow.following import kinds
    from schedviz.cli.follow.permissions import denied, missing_permissions

    try:
        denied_kinds = denied(api, kinds(without))
    except Unavailable as error:
        raise FollowError(str(error)) from None
    if needed := [missing for kind, missing in denied_kinds if not kind.is_ignored_by_v1_27]:
        raise missing_permissions(needed)
    for _, missing in denied_kinds:
        printer.say(f"{missing} It is left out.")
    return list(dict.fromkeys(kind.resource for kind, _ in denied_kinds))


def _gates_of(server: RestClient, session: str) -> dict[str, bool]:
    """The feature gates of a session that differ from the defaults; none if it cannot be read, which the first push reports."""
    try:
        response = server.request(f"sessions/{session}/")
    except OSError:
        return {}
    gates: dict[str, bool] = response.json()["featureGates"] if response.status == 200 else {}
    return gates


def _session_of(server: RestClient, source: str) -> str | None:
    """The newest session that follows this source and can be written to; None: there is none. Raises `click.ClickException`."""
    query: dict[str, str] = {"limit": "1000"}
    while True:
        page = server.get_json("sessions/", query)
        for row in page["results"]:
            follows = row["follows"]
            if follows and not follows["detached"] and follows["source"] == source and row["role"] != "viewer":
                return str(row["id"])
        if page["next"] is None:
            return None
        query["after"] = page["next"]


def _new_session(server: RestClient, name: str, chosen: ChosenRelease) -> str:
    """Create an empty session. Raises `click.ClickException`."""
    from schedviz.cli.follow.errors import FollowError

    body = {"name": name, "trace": {"format": "schedviz-trace/1", "name": name, "steps": []}, **chosen.body()}
    try:
        response = server.request("sessions/", body)
        if response.status != 201:
            hint = HOW_TO_AUTHENTICATE if response.status == 401 else ""
            raise FollowError(f"{server.address}: {response.message} (HTTP {response.status}){hint}")
        session = str(response.json()["id"])
        until = time.monotonic() + _READY_SECONDS
        while (status := server.request(f"sessions/{session}/").json()["status"]) == "importing":
            if time.monotonic() > until:
                raise FollowError(f"{server.address} has not made the session {session} within {_READY_SECONDS:g} s; are its workers up?")
            time.sleep(0.2)
    except OSError as error:
        raise FollowError(f"{server.address} does not respond: {error}. Is `schedviz up` running there?") from None
    if status == "failed":
        raise FollowError(f"{server.address} could not make an empty session ({session}).")
    return session


def _show(api: ClusterApi, secret: str | None, without: tuple[str, ...]) -> bool:
    """Print what would be sent; returns whether everything that is needed can be read."""
    from schedviz.cli.follow.errors import Expired, FollowError, NotServed, Unavailable
    from schedviz.cli.follow.following import kinds
    from schedviz.cli.follow.permissions import denied
    from schedviz.cli.follow.redaction import Redaction
    from schedviz.ingest.dropped_fields import DroppedFields
    from schedviz.kube.errors import KubeError

    left_out = DroppedFields()
    redaction = Redaction(secret, left_out=left_out)
    complete = True
    try:
        for kind, missing in denied(api, kinds(without)):
            say(f"{kind.resource}: {missing}")
            complete = complete and kind.is_ignored_by_v1_27
    except (FollowError, Unavailable):
        # Listing has the same error for each kind.
        pass
    for kind in kinds(without):
        try:
            items, _ = api.list(kind)
        except (FollowError, Expired, Unavailable) as error:
            say(f"{kind.resource}: {error}")
            complete = complete and (kind.is_ignored_by_v1_27 or isinstance(error, NotServed))
            continue
        size = 0
        for item in items:
            try:
                size += len(json.dumps(redaction.redact(item, kind).object))
            except KubeError as error:
                say(f"{kind.resource}: an object would be left out: {error}")
        say(f"{kind.resource}: {len(items)} objects, {sum(map(len, items)):,} bytes here, {size:,} would be sent")
    if lines := left_out.lines():
        say()
        say("fields that are not kept (a digest of them is, so that changes are detected):")
        for path, count in lines:
            say(f"  {count:>7} {path}")
    return complete
