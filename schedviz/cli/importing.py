"""`schedviz import FILE...`: create a session from files. Only the fields that the scheduler reads are sent; `--dry-run` shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from schedviz.cli.loading import is_session_file
from schedviz.cli.release_options import BY_FILES, ChosenRelease, release_options
from schedviz.cli.rest_client import RestClient, server_option, token_option
from schedviz.terminal import say, say_json
from schedviz.trace.releases import DEFAULT_RELEASE, RELEASE_OF_FILES

if TYPE_CHECKING:
    from schedviz.ingest.dropped_fields import DroppedFields
    from schedviz.ingest.load import Import
    from schedviz.ingest.report import Report

#: Omitted fields that are listed.
_MAX_LISTED_FIELDS = 40


@click.command(name="import")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Send nothing; show what would be imported from which file and what would be skipped.")
@click.option(
    "--pseudonyms",
    "secret",
    metavar="SECRET",
    help="Replace names with words derived from them with this secret; the same secret gives the same words.",
)
@click.option(
    "--write",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the objects that would be sent to FILE, as a List.",
)
@click.option("--name", default="", help="The name of the session; default: the names of the files.")
@click.option("--wait", is_flag=True, help="Wait for the import, then print the session's ID; exit with 1 if the import failed.")
@click.option("-o", "--output", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format.")
@release_options(BY_FILES)
@server_option
@token_option
def import_(
    paths: tuple[Path, ...],
    *,
    dry_run: bool,
    secret: str | None,
    target: Path | None,
    name: str,
    wait: bool,
    form: Literal["text", "json"],
    server: str,
    token: str,
    chosen: ChosenRelease,
) -> None:
    """Create a session from FILE... (docs/readers.md lists the formats). Only the fields that the scheduler reads are sent.

    Logs are not sent; use `schedviz doctor` for the dumps in them. `.schedviz` files, traces and recordings are sent unchanged.
    """
    import msgspec

    from schedviz.ingest.release_evidence import with_release

    needs_objects = dry_run or secret is not None or target is not None
    if is_session_file(paths[0]):
        files = _unchanged(paths, "a session file", needs_objects=needs_objects)
    else:
        found, left_out = _read(paths)
        named = chosen.release if chosen.feature_gates is None else chosen.release or DEFAULT_RELEASE
        otherwise = RELEASE_OF_FILES if found.trace is None else DEFAULT_RELEASE
        found = msgspec.structs.replace(found, report=with_release(found.report, named, found.evidence, otherwise))
        if found.trace is not None:
            files = _unchanged(paths, "a trace or a recording", needs_objects=needs_objects)
        else:
            objects, replaced = _renamed(found, secret)
            body = _encoded_list(objects)
            if target is not None:
                target.write_bytes(body)
            if dry_run or target is not None:
                _print_report(found, left_out, len(body), replaced, form)
                return
            for remark in _remarks(found.report):
                say(remark, err=True)
            # The server does not get the kubelets' versions, which are not among the fields that the scheduler reads.
            chosen = ChosenRelease(found.report.release, chosen.feature_gates)
            files = {"objects.json": body}
            if found.config is not None:
                files["kube-scheduler.json"] = json.dumps(found.config).encode()
    fields = {"name": name or ", ".join(path.name for path in paths)[:200], **chosen.fields()}
    response = RestClient(server, token).post_files("sessions/", files, fields)
    if wait:
        from schedviz.cli.remote.waiting import imported

        response = imported(server, token, response["id"])
    if form == "text":
        say(response["id"])
    else:
        say_json(json.dumps(response, indent=2))


def _unchanged(paths: tuple[Path, ...], what: str, *, needs_objects: bool) -> dict[str, bytes]:
    """The files themselves, which are `what`. Raises `click.ClickException` if an option of the command `needs_objects`."""
    if needs_objects:
        raise click.ClickException(
            f"{paths[0]}: this is {what}, which is sent unchanged; --dry-run, --write and --pseudonyms are for objects."
        )
    if not all(path.is_file() for path in paths):
        raise click.ClickException(f"This is {what}; pass it as a file.")
    return {path.name: path.read_bytes() for path in paths}


def _read(paths: tuple[Path, ...]) -> tuple[Import, DroppedFields]:
    from schedviz.cli.loading import loaded
    from schedviz.ingest.dropped_fields import DroppedFields

    left_out = DroppedFields()
    return loaded(paths, on_object=left_out.add), left_out


def _renamed(imported: Import, secret: str | None) -> tuple[list[Any], int]:
    """The objects, with pseudonyms if there is a secret, and how many names were replaced."""
    if secret is None:
        return list(imported.objects), 0
    from schedviz.ingest.pseudonyms import Pseudonyms

    if not secret:
        raise click.UsageError("--pseudonyms needs a secret: without one, anybody who guesses a name could verify it.")
    pseudonyms = Pseudonyms(secret)
    return list(pseudonyms.objects(imported.objects)), pseudonyms.count


def _encoded_list(objects: list[Any]) -> bytes:
    """A List of the objects as JSON, with a line for each."""
    from schedviz.kube import codec

    items = b",\n".join(codec.encode(obj) for obj in objects)
    return b'{"apiVersion":"v1","kind":"List","items":[\n' + items + b"\n]}\n"


def _print_report(imported: Import, left_out: DroppedFields, size: int, replaced: int, form: str) -> None:
    import msgspec

    report = imported.report
    if form == "json":
        report_json = {
            **msgspec.to_builtins(report),
            "bytes": size,
            "namesReplaced": replaced,
            "leftOut": dict(left_out.lines()),
            "origins": {f"{type(obj).__name__} {obj.key}": origin for obj, origin in zip(imported.objects, imported.origins, strict=True)},
        }
        say_json(json.dumps(report_json, indent=2, ensure_ascii=False))
        return
    for file in report.files:
        more = "".join(
            f", {_counted(count, noun)}" for count, noun in ((file.dumps, "dump"), (file.messages, "message about pods")) if count
        )
        say(f"{file.name}: {file.format}, {_counted(file.objects, 'object')}{more}")
    say(f"kept: {', '.join(f'{count} {kind}' for kind, count in report.kinds.items())} ({size:,} bytes of JSON)")
    if replaced:
        say(f"names replaced: {replaced}")
    if report.configuration:
        say(f"configuration: {report.configuration}")
    say(f"kube-scheduler: {report.release}")
    for remark in _remarks(report):
        say(remark)
    _print_fields(left_out)


def _remarks(report: Report) -> Iterator[str]:
    """What is left out of the files, and warnings about the rest."""
    for drop in report.dropped:
        some = f" ({', '.join(drop.examples)}{', …' if drop.count > len(drop.examples) else ''})" if drop.examples else ""
        yield f"left out: {drop.count} × {drop.kind}: {drop.reason}{some}"
    for warning in report.warnings:
        yield f"warning: {warning}"


def _counted(count: int, noun: str) -> str:
    """`1 object`, `2 objects`, `2 messages about pods`."""
    first, space, rest = noun.partition(" ")
    return f"{count:,} {first}{'' if count == 1 else 's'}{space}{rest}"


def _print_fields(left_out: DroppedFields) -> None:
    lines = left_out.lines()
    if lines:
        say()
        say("fields that are not kept (a digest of them is, so that changes are detected):")
    for path, count in lines[:_MAX_LISTED_FIELDS]:
        say(f"  {count:>7} {path}")
    if len(lines) > _MAX_LISTED_FIELDS:
        say(f"  and {len(lines) - _MAX_LISTED_FIELDS} more; -o json lists all")
