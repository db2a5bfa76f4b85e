"""The entry point of the `schedviz` command: runs the subcommand, and reports every error as one sentence."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

import schedviz
from schedviz.cli.error_messages import MultilineError
from schedviz.cli.lazy import LazyCommand, LazyGroup
from schedviz.terminal import say, say_exact

#: Exit code: the command cannot be carried out because of bad arguments, bad input or the state of the system.
EXIT_REFUSED = 2
#: Exit code: a bug in schedviz (EX_SOFTWARE).
EXIT_BUG = 70
#: Exit code: ended by Ctrl-C, as in shells.
EXIT_INTERRUPTED = 130

COMMANDS = {
    "up": LazyCommand("schedviz.cli.up", "up", "Run everything on this machine and open the page."),
    "login": LazyCommand("schedviz.cli.login", "login", "Print a new login link for the server on this machine."),
    "trace": LazyCommand("schedviz.cli.trace", "trace", "Replay trace files and write what the engine observed."),
    "conformance": LazyCommand(
        "schedviz.cli.conformance.command", "conformance", "Compare the engine with recordings of the real scheduler."
    ),
    "config": LazyCommand("schedviz.cli.config", "config", "Check a scheduler configuration, or convert an older one."),
    "explain": LazyCommand("schedviz.cli.explain", "explain", "Explain why a pod is Pending, and what would place it."),
    "follow": LazyCommand("schedviz.cli.follow.command", "follow", "Follow a real cluster in a session."),
    "doctor": LazyCommand("schedviz.cli.doctor", "doctor", "Find differences between cache, API and a SIGUSR2 dump."),
    "generate": LazyCommand("schedviz.cli.remote.sessions", "generate", "Create a session with a generated cluster."),
    "import": LazyCommand("schedviz.cli.importing", "import_", "Create a session from files, or preview the import."),
    "sessions": LazyCommand("schedviz.cli.remote.sessions", "sessions", "List the sessions of a server."),
    "step": LazyCommand("schedviz.cli.remote.commands", "step", "Advance by scheduling cycles or stages."),
    "run": LazyCommand("schedviz.cli.remote.commands", "run", "Schedule until nothing more can be scheduled."),
    "send": LazyCommand("schedviz.cli.remote.commands", "send", "Send commands or create objects atomically."),
    "cancel": LazyCommand("schedviz.cli.remote.commands", "cancel", "Stop the import or the runs of a session."),
    "state": LazyCommand("schedviz.cli.remote.queries", "state", "Print the nodes, the pods or the queue of a session."),
    "cycles": LazyCommand("schedviz.cli.remote.queries", "cycles", "List the scheduling cycles of a session."),
    "events": LazyCommand("schedviz.cli.remote.queries", "events", "Print the scheduler's events, and follow them."),
    "what-if": LazyCommand("schedviz.cli.remote.queries", "what_if", "Calculate how many copies of a pod fit."),
    "fork": LazyCommand("schedviz.cli.remote.sessions", "fork", "Fork a session at an event."),
    "export": LazyCommand("schedviz.cli.remote.sessions", "export", "Write a session to a file."),
    "delete": LazyCommand("schedviz.cli.remote.sessions", "delete", "Delete a session."),
    "completion": LazyCommand("schedviz.cli.remote.completion", "completion", "Print the shell completion script."),
    "sample": LazyCommand("schedviz.cli.sample", "sample", "List the cases that ship with schedviz, or print one."),
    "experiment": LazyCommand("schedviz.cli.experiment", "experiment", "Measure variants of a scheduler on one workload."),
    "capacity": LazyCommand("schedviz.cli.capacity", "capacity", "Calculate what still fits, how many nodes can go, and N+1."),
    "compare": LazyCommand("schedviz.cli.compare", "compare", "Compare two runs: placements, divergence, scores, utilization, reasons."),
    "lesson": LazyCommand("schedviz.cli.lesson", "lesson", "Write, check and preview lessons."),
    "kit": LazyCommand("schedviz.cli.kit.command", "kit", "Build a folder that runs offline."),
    "dump": LazyCommand("schedviz.cli.dump", "dump", "Print the scheduler's SIGUSR2 dump."),
    "check": LazyCommand("schedviz.cli.check.command", "check", "Check the configuration and connections of a server."),
    "backup": LazyCommand("schedviz.cli.backup", "backup", "Back up the database to a file."),
    "restore": LazyCommand("schedviz.cli.backup", "restore", "Restore the database from a backup."),
    "token": LazyCommand("schedviz.cli.token", "token", "Create, list and revoke tokens for the REST API."),
    "bench": LazyCommand("schedviz.cli.bench", "bench", "Measure import, cycles and latency on this machine."),
}


def _print_version(ctx: click.Context, _param: click.Parameter, is_given: bool) -> None:  # noqa: FBT001 (click calls it)
    if not is_given or ctx.resilient_parsing:
        return
    say(f"schedviz {schedviz.__version__}")
    ctx.exit()


cli = LazyGroup(
    lazy=COMMANDS,
    help="See how the Kubernetes scheduler makes its decisions: queue, cycles and cache, live and step by step.",
    epilog="Commands that need a server use the `schedviz up` of this machine. SCHEDVIZ_SERVER and SCHEDVIZ_TOKEN select another one, "
    "SCHEDVIZ_DATA another data folder, SCHEDVIZ_SESSION the session. docs/readers.md lists the file formats.",
)
cli.params.append(
    click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version and exit."
    )
)


def main() -> None:
    """Run the command line. Exits with 0, 2 (refused, with a sentence), 130 (Ctrl-C), 70 (a bug) or the code of the command."""
    try:
        result = cli.main(prog_name="schedviz", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        say_exact(error.format_message() + "\n")
        sys.exit(EXIT_REFUSED)
    except click.MissingParameter as error:
        # click lists the values of a choice one per line.
        _refuse(" ".join(error.format_message().split()), help_hint=error.ctx.command_path if error.ctx else "schedviz")
    except click.UsageError as error:
        _refuse(error.format_message(), help_hint=error.ctx.command_path if error.ctx else "schedviz")
    except click.ClickException as error:
        # click's own errors have exit code 1 for a refusal; in ours, 1 has the meaning that the command documents.
        is_own_error = type(error).__module__.startswith("schedviz.")
        several = error.lines if isinstance(error, MultilineError) else (error.format_message(),)
        _refuse(*several, code=error.exit_code if is_own_error else EXIT_REFUSED)
    except BrokenPipeError:
        # The reader of our output (`head`, a closed pager) has ended, so nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 (this is the edge: no traceback ever reaches a person)
        from schedviz.cli.error_messages import explain, explain_bug

        sentence = explain(error)
        if sentence is not None:
            _refuse(sentence)
        say(f"schedviz: {explain_bug(error)}", err=True)
        sys.exit(EXIT_BUG)
    sys.exit(result if isinstance(result, int) else 0)


def _refuse(sentence: str, *more: str, help_hint: str = "", code: int = EXIT_REFUSED) -> NoReturn:
    say(f"schedviz: {sentence}", err=True)
    for line in more:
        say(line, err=True)
    if help_hint:
        say(f"Try: {help_hint} --help", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
