"""Experiments on a server: each trial is counted once, and the results are byte-identical to those of the command line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from django.contrib.auth.models import User
from django.db.models import F

from schedviz.experiments.errors import Fault, PlanError
from schedviz.experiments.plans import validation
from schedviz.experiments.plans.plan_text import parse_plan
from schedviz.experiments.plans.validation import check_plan
from schedviz.experiments.plans.variants import Variant
from schedviz.experiments.results.document import encode_results, results_of
from schedviz.experiments.trials import run_trial as run_trial_module
from schedviz.experiments.trials.pool import run_all
from schedviz.experiments.trials.trial_result import TrialResult
from schedviz.sessions import quotas
from schedviz.sessions.experiments import (
    checking,
    dispatch,
    next_job,
    reading,
    requests,
    stop_check,
    trial_job,
    trial_lease,
    trial_session_job,
    trial_sessions,
)
from schedviz.sessions.hosting import lease, sweep
from schedviz.sessions.models import Experiment, ExperimentBase, ExperimentTrial, Session
from schedviz.sessions.quotas import QuotaReached
from schedviz.sessions.redis import clock as redis_clock
from schedviz.sessions.redis import stream
from schedviz.sessions.transfer import import_job
from schedviz.sessions.transfer.create import cancel_import
from tests.conftest import RedisServer
from tests.sessions.conftest import MakeSession, send, work_off

PLAN = """\
experiment: 1
name: small
base: {generate: {shape: mixed, nodes: 5, pods: 30}}
variants: [{name: a}, {name: b, percentageOfNodesToScore: 50}]
seeds: 2
"""


@pytest.fixture(autouse=True)
def here(transactional_db: None, redis: RedisServer) -> Iterator[None]:
    """No worker: the tests run the tasks themselves."""
    yield
    trial_job._runners.clear()


def begun(plan: str = PLAN, owner: User | None = None) -> Experiment:
    """An experiment whose plan has been checked."""
    experiment = requests.create_experiment(owner.pk if owner else None, plan)
    checking.check(experiment.pk)
    return again(experiment.pk)


def again(experiment_id: UUID) -> Experiment:
    return Experiment.objects.get(pk=experiment_id)


def run_all_trials(experiment: Experiment) -> None:
    for number in range(experiment.trials):
        trial_job.run(experiment.pk, number)


def statuses(experiment: Experiment) -> list[str]:
    return list(ExperimentTrial.objects.filter(experiment=experiment).order_by("number").values_list("status", flat=True))


def of_the_command_line(plan: str) -> bytes:
    checked = check_plan(parse_plan(plan), Path())
    return encode_results(results_of(checked.experiment, run_all(checked, jobs=1), volatile=False))


def test_a_held_experiment_is_checked_and_estimated_but_does_not_start() -> None:
    experiment = requests.create_experiment(None, PLAN, hold=True)
    checking.check(experiment.pk)
    held = again(experiment.pk)
    assert (held.status, held.trials, statuses(held)) == ("paused", 4, ["waiting"] * 4)
    assert held.estimate is not None
    assert held.estimate > 0
    requests.resume(experiment.pk)
    run_all_trials(held)
    assert again(experiment.pk).status == "finished"


def test_an_experiment_has_the_same_results_as_on_the_command_line() -> None:
    experiment = begun()
    assert (experiment.status, experiment.trials, experiment.nodes, experiment.pods) == ("running", 4, 5, 30)

    run_all_trials(experiment)

    assert again(experiment.pk).status == Experiment.Status.FINISHED
    assert encode_results(reading.results(again(experiment.pk), volatile=False)) == of_the_command_line(PLAN)


def test_trials_that_are_not_plotted_are_read_with_the_points_that_the_document_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedviz.experiments.results.document._MAX_POINTS", 200)
    plan = PLAN.replace("seeds: 2", "seeds: 7")
    experiment = begun(plan)
    run_all_trials(experiment)
    kept: list[TrialResult] = []

    def results_of_kept(described: Any, found: list[TrialResult], **options: Any) -> Any:
        kept.extend(found)
        return results_of(described, found, **options)

    monkeypatch.setattr(reading, "results_of", results_of_kept)
    document = encode_results(reading.results(again(experiment.pk), volatile=False))

    shown = {trial.number for trial in parse_plan(plan).trials if (trial.seed or 0) <= 5}
    points = {result.number: max(len(series.at) for series in result.series.values()) for result in kept}
    assert {number for number, length in points.items() if length > 2} == shown
    assert {result.number for result in kept if result.node_shares} == shown
    assert document == of_the_command_line(plan)


def test_a_malformed_plan_is_refused_immediately() -> None:
    with pytest.raises(PlanError, match="line 5: seeds"):
        requests.create_experiment(None, PLAN.replace("seeds: 2", "seeds: none"))
    assert not Experiment.objects.exists()


def test_a_plan_that_names_files_is_refused() -> None:
    with pytest.raises(PlanError, match="a server reads no files"):
        requests.create_experiment(None, "experiment: 1\nbase: {files: [/etc/passwd]}")


def test_a_plan_with_code_is_refused() -> None:
    with pytest.raises(PlanError, match="line 4: code: a server runs no code of plans"):
        requests.create_experiment(None, "experiment: 1\nbase: {generate: {}}\ncode:\n  plugins: {Mine: mine.py:Mine}")


def test_a_plan_with_credentials_is_refused() -> None:
    plan = "experiment: 1\nbase: {generate: {}}\ncommon:\n  config:\n    extenders:\n    - urlPrefix: https://ada:secret@extender/"
    with pytest.raises(PlanError, match=r"line 6: common\.config\.extenders\[0\]\.urlPrefix: it has credentials"):
        requests.create_experiment(None, plan)
    assert not Experiment.objects.exists()


def test_a_plan_with_a_search_is_refused() -> None:
    plan = "experiment: 1\nbase: {generate: {}}\ntune:\n  minimize: pending\n  space: {w: {set: weights.ImageLocality, from: 1, to: 9}}"
    with pytest.raises(PlanError, match="line 4: tune: a server does not search"):
        requests.create_experiment(None, plan)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("nodes: 5", "nodes: 15", "line 3: base.generate.nodes: is 15; SCHEDVIZ_GENERATE_NODES allows 10 on this server"),
        ("pods: 30", "pods: 300", "line 3: base.generate.pods: is 300; SCHEDVIZ_GENERATE_PODS allows 100 on this server"),
        ("name: a", "name: a, nodes: {count: 11}", "line 4: variants[0].nodes: is 11; SCHEDVIZ_GENERATE_NODES allows 10 on this server"),
        ("seeds: 2", "workload: {generate: {pods: 101}}", "line 5: workload.generate.pods: is 101; SCHEDVIZ_GENERATE_PODS allows 100"),
    ],
)
def test_the_limits_of_generated_clusters_apply(before: str, after: str, message: str, settings: Any) -> None:
    settings.GENERATE_NODES, settings.GENERATE_PODS = 10, 100
    with pytest.raises(PlanError, match=re.escape(message)):
        requests.create_experiment(None, PLAN.replace(before, after))


def test_the_limit_of_generated_pods_applies_to_pods_that_a_load_adds(settings: Any) -> None:
    settings.GENERATE_PODS = 100
    loaded = PLAN.replace("seeds: 2", "workload: {load: {resource: cpu, share: SHARE}}").replace("nodes: 5", "nodes: 10")
    assert begun(loaded.replace("SHARE", "0.9")).status == Experiment.Status.RUNNING
    refused = begun(loaded.replace("SHARE", "9"))
    assert refused.status == Experiment.Status.REFUSED
    assert [(fault["line"], fault["variant"]) for fault in refused.faults] == [(5, "a"), (5, "b")]
    assert "pods would be added to reach the share; SCHEDVIZ_GENERATE_PODS allows 100" in refused.faults[0]["message"]


def test_a_trial_that_takes_too_long_fails_with_the_setting(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    experiment = begun(PLAN.replace("pods: 30", "pods: 400"))
    settings.TRIAL_SECONDS = 1
    clock = itertools.count()
    monkeypatch.setattr(stop_check.time, "monotonic", lambda: float(next(clock)))
    run_all_trials(experiment)
    assert again(experiment.pk).status == Experiment.Status.FINISHED
    assert ExperimentTrial.objects.filter(experiment=experiment, error__contains="1 s, which SCHEDVIZ_TRIAL_SECONDS allows").count() == 4


def test_a_check_ends_when_its_experiment_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = requests.create_experiment(None, PLAN)
    monkeypatch.setattr(checking, "RENEWAL_SECONDS", 0.0)
    checked: list[str] = []

    def cancel_then_check(variant: Variant, _plan: object) -> list[Fault]:
        requests.cancel(experiment.pk)
        checked.append(variant.name)
        return []

    monkeypatch.setattr(validation, "faults_of", cancel_then_check)
    checking.check(experiment.pk)
    assert checked == ["a"]
    assert again(experiment.pk).status == Experiment.Status.CANCELLED


def test_a_plan_whose_check_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.TRIAL_SECONDS = 1
    clock = itertools.count()
    monkeypatch.setattr(stop_check.time, "monotonic", lambda: float(next(clock)))
    experiment = begun()
    assert experiment.status == Experiment.Status.REFUSED
    assert "SCHEDVIZ_TRIAL_SECONDS" in experiment.faults[0]["message"]


@pytest.mark.parametrize(
    ("error", "message"),
    [(MemoryError(), "SCHEDVIZ_IMPORT_MEGABYTES allows"), (OverflowError("too large"), "schedviz failed (OverflowError)")],
)
def test_a_plan_whose_check_fails_is_refused(monkeypatch: pytest.MonkeyPatch, error: Exception, message: str) -> None:
    def fail(*_: object) -> list[Fault]:
        raise error

    monkeypatch.setattr(validation, "faults_of", fail)
    experiment = begun()
    assert experiment.status == Experiment.Status.REFUSED
    assert message in experiment.faults[0]["message"]


@pytest.mark.parametrize("escape", ["\\0", "\\ud800"])
def test_text_that_a_database_cannot_store_is_refused(escape: str) -> None:
    with pytest.raises(PlanError, match=r"contains (?:U\+0000|a lone surrogate)|invalid Unicode"):
        requests.create_experiment(None, PLAN.replace("name: b", f'name: b, config: {{"a{escape}": 1}}'))


def test_the_bytes_of_experiments_count_towards_their_owners_quota(settings: Any) -> None:
    owner = User.objects.create_user("owner")

    def used() -> int:
        quotas.clear_cache()
        return next(quota.used for quota in quotas.quotas_of(owner.pk) if quota.kind == "bytes" and quota.is_own)

    experiment = requests.create_experiment(owner.pk, PLAN)
    assert used() == len(PLAN)
    checking.check(experiment.pk)
    base = ExperimentBase.objects.get(pk=experiment.pk).data
    assert used() == len(PLAN) + len(bytes(base))
    run_all_trials(experiment)
    results = sum(len(bytes(trial.result or b"")) + len(bytes(trial.detail or b"")) for trial in ExperimentTrial.objects.all())
    assert used() == len(PLAN) + len(bytes(base)) + results

    settings.BYTES_PER_USER = used() + len(PLAN)
    second = requests.create_experiment(owner.pk, PLAN)
    quotas.clear_cache()
    checking.check(second.pk)
    fault = again(second.pk).faults[0]
    assert (fault["path"], "Your sessions and experiments have" in fault["message"]) == ("base", True)
    with pytest.raises(QuotaReached, match="SCHEDVIZ_BYTES_PER_USER allows"):
        requests.create_experiment(owner.pk, PLAN)
    requests.delete(experiment.pk)
    assert used() == len(PLAN)


def test_an_experiment_of_an_owner_at_the_quota_is_paused_with_the_reason(settings: Any) -> None:
    owner = User.objects.create_user("owner")
    experiment = begun(owner=owner)
    trial_job.run(experiment.pk, 0)
    settings.BYTES_PER_USER = 1
    quotas.clear_cache()
    trial_job.run(experiment.pk, 1)
    paused = again(experiment.pk)
    assert (paused.status, statuses(paused)) == ("paused", ["done", "waiting", "waiting", "waiting"])
    assert "SCHEDVIZ_BYTES_PER_USER allows 1" in paused.faults[0]["message"]
    with pytest.raises(QuotaReached, match="SCHEDVIZ_BYTES_PER_USER"):
        requests.resume(experiment.pk)

    settings.BYTES_PER_USER = 0
    requests.resume(experiment.pk)
    run_all_trials(experiment)
    assert (again(experiment.pk).status, again(experiment.pk).faults) == ("finished", [])
    assert list(ExperimentTrial.objects.values_list("tries", flat=True).order_by("number")) == [1, 1, 1, 1]


def test_tracebacks_are_logged_and_not_returned_in_results(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    experiment = begun()
    monkeypatch.setattr(run_trial_module, "_measured", lambda run, _measures: TrialResult(run.trial.number, error="no", traceback="/opt/x"))
    run_all_trials(experiment)
    assert b"/opt/x" not in encode_results(reading.results(again(experiment.pk)))
    assert "/opt/x" in caplog.text


def test_an_experiment_with_an_invalid_variant_is_refused_with_its_line() -> None:
    experiment = begun(PLAN.replace("percentageOfNodesToScore: 50", "plugins: {Nothing: true}"))
    assert experiment.status == Experiment.Status.REFUSED
    assert [(fault["line"], fault["variant"]) for fault in experiment.faults] == [(4, "b")]


def test_a_trial_runs_once_regardless_of_how_many_tasks_it_has() -> None:
    experiment = begun()
    for _ in range(3):
        trial_job.run(experiment.pk, 1)
    row = ExperimentTrial.objects.get(experiment=experiment, number=1)
    assert (row.status, row.epoch, row.tries) == ("done", 1, 1)


def test_a_trial_with_a_live_owner_cannot_be_claimed() -> None:
    experiment = begun()
    assert trial_lease.claim(experiment.pk, 0) is not None
    assert trial_lease.claim(experiment.pk, 0) is None


def test_the_result_of_a_fenced_owner_is_dropped() -> None:
    experiment = begun()
    first = trial_lease.claim(experiment.pk, 0)
    assert first is not None
    ExperimentTrial.objects.filter(pk=first.pk).update(lease_until=0.0)
    second = trial_lease.claim(experiment.pk, 0)
    assert second is not None
    assert second.epoch == first.epoch + 1

    assert not trial_lease.renew(first)
    assert not trial_lease.store(first, result=b"first", volatile={}, error="", seconds=1.0)
    assert trial_lease.store(second, result=b"second", volatile={}, error="", seconds=1.0)
    assert not trial_lease.store(second, result=b"again", volatile={}, error="", seconds=1.0)
    assert bytes(ExperimentTrial.objects.get(pk=first.pk).result or b"") == b"second"


def test_a_trial_that_crashes_its_workers_fails_and_the_others_continue() -> None:
    experiment = begun()
    ExperimentTrial.objects.filter(experiment=experiment, number=2).update(tries=trial_lease.MAX_TRIES)
    run_all_trials(experiment)
    assert again(experiment.pk).status == Experiment.Status.FINISHED
    errors = ExperimentTrial.objects.filter(experiment=experiment).exclude(error="").values_list("number", "error")
    assert [(number, error[:9]) for number, error in errors] == [(2, "5 workers")]
    assert reading.progress_of([experiment.pk])[experiment.pk].failed == 1


def test_a_paused_trial_restarts_after_a_resume(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = begun(PLAN.replace("pods: 30", "pods: 400"))
    monkeypatch.setattr(trial_job, "RENEWAL_SECONDS", 0.0)
    real = trial_job._runner

    def pause_then_run(experiment_id: UUID) -> object:
        requests.pause(experiment_id)
        return real(experiment_id)

    monkeypatch.setattr(trial_job, "_runner", pause_then_run)
    trial_job.run(experiment.pk, 0)
    assert statuses(experiment)[0] == "waiting"
    assert ExperimentTrial.objects.get(experiment=experiment, number=0).tries == 0
    monkeypatch.setattr(trial_job, "_runner", real)

    trial_job.run(experiment.pk, 0)
    assert statuses(experiment)[0] == "waiting", "a paused experiment runs nothing"
    requests.resume(experiment.pk)
    trial_job.run(experiment.pk, 0)
    assert statuses(experiment)[0] == "done"


def test_a_cancelled_experiment_ends_and_keeps_its_results() -> None:
    experiment = begun()
    trial_job.run(experiment.pk, 0)
    requests.cancel(experiment.pk)
    run_all_trials(experiment)
    assert statuses(experiment) == ["done", "waiting", "waiting", "waiting"]
    assert len(reading.results(again(experiment.pk)).trials) == 1
    with pytest.raises(requests.NotPossible, match="The experiment is cancelled, so it cannot be paused"):
        requests.pause(experiment.pk)


def test_the_sweeper_enqueues_lost_tasks_again_and_finishes_completed_experiments() -> None:
    experiment = requests.create_experiment(None, PLAN)
    stream.client().delete(dispatch.QUEUE)
    dispatch.sweep(force=True)
    assert stream.client().llen(dispatch.QUEUE) == 1
    checking.check(experiment.pk)
    stream.client().delete(dispatch.QUEUE)
    dispatch.sweep(force=True)
    assert stream.client().llen(dispatch.QUEUE) == 4
    dispatch.sweep(force=True)
    assert stream.client().llen(dispatch.QUEUE) == 4, "tasks in the queue are not sent again"
    stream.client().delete(dispatch.QUEUE)
    ExperimentTrial.objects.filter(experiment=experiment).update(status="done")
    dispatch.sweep(force=True)
    assert again(experiment.pk).status == Experiment.Status.FINISHED


def test_clearing_a_crashed_owner_frees_its_trials_immediately() -> None:
    experiment = begun()
    lease = trial_lease.claim(experiment.pk, 0)
    assert lease is not None
    trial_lease.clear_owner(lease.owner.partition(".")[0], killed_externally=True)
    assert ExperimentTrial.objects.filter(pk=lease.pk, tries=0, lease_until=F("lease_until") * 0).exists()
    assert trial_lease.claim(experiment.pk, 0) is not None


def test_a_session_at_a_moment_can_be_a_base(make_session: MakeSession) -> None:
    session_id = make_session(nodes=3, pods=12)
    owner = User.objects.create_user("ada")
    Session.objects.filter(pk=session_id).update(owner=owner)
    send(session_id, "run", max=4)
    work_off(session_id)

    now = begun(f"experiment: 1\nbase: {{session: {session_id}}}", owner)
    earlier = begun(f"experiment: 1\nbase: {{session: {session_id}, event: 0}}", owner)

    assert (now.nodes, now.pods) == (3, 8)
    assert (earlier.nodes, earlier.pods) == (3, 12)


def test_a_session_of_another_user_cannot_be_a_base(make_session: MakeSession) -> None:
    session_id = make_session()
    experiment = begun(f"experiment: 1\nbase: {{session: {session_id}}}", User.objects.create_user("mallory"))
    assert experiment.status == Experiment.Status.REFUSED
    assert "there is no session" in experiment.faults[0]["message"]


def test_a_trial_can_be_opened_as_a_session_at_its_end() -> None:
    owner = User.objects.create_user("ada")
    experiment = begun(owner=owner)
    run_all_trials(experiment)
    trial = ExperimentTrial.objects.get(experiment=experiment, number=3)

    session = trial_sessions.open_trial(owner.pk, experiment, trial)
    trial_session_job.record(experiment.pk, 3, session.pk)
    import_job.run_import(session.pk)

    session = Session.objects.get(pk=session.pk)
    assert session.status == Session.Status.READY, session.message
    assert (session.name, session.nodes, session.pods) == ("small: b, seed 2", 5, 30)
    assert session.cycle == reading.unpack_result(bytes(trial.result or b"")).cycles


def opened(plan: str = PLAN) -> tuple[Experiment, Session]:
    """A session that waits for a trial."""
    owner = User.objects.create_user("ada")
    experiment = begun(plan, owner=owner)
    return experiment, trial_sessions.open_trial(owner.pk, experiment, ExperimentTrial.objects.get(experiment=experiment, number=0))


def test_the_sweeper_enqueues_a_recording_whose_worker_crashed_or_whose_task_was_lost() -> None:
    experiment, session = opened()
    stream.client().flushall()

    assert lease.acquire(session.pk, importing=True, uploaded=False) is not None
    sweep.sweep()
    assert stream.client().llen("io") == 0, "a live worker owns it"
    Session.objects.filter(pk=session.pk).update(lease_until=0.0)
    sweep.sweep()
    assert stream.client().llen("io") == 1

    trial_session_job.record(experiment.pk, 0, session.pk)
    import_job.run_import(session.pk)
    assert Session.objects.get(pk=session.pk).status == Session.Status.READY


def test_a_cancelled_recording_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment, session = opened(PLAN.replace("pods: 30", "pods: 400"))
    monkeypatch.setattr(trial_session_job, "_POLL_SECONDS", 0.0)
    cancel_import(session.pk)
    trial_session_job.record(experiment.pk, 0, session.pk)
    session.refresh_from_db()
    assert (session.status, session.message) == (Session.Status.FAILED, "The trial was cancelled.")


def test_a_recording_that_is_too_large_fails_with_the_setting(settings: Any) -> None:
    experiment, session = opened()
    settings.UPLOAD_BYTES = 100
    trial_session_job.record(experiment.pk, 0, session.pk)
    session.refresh_from_db()
    assert session.status == Session.Status.FAILED
    assert "SCHEDVIZ_UPLOAD_BYTES" in session.message


def test_a_recording_that_takes_too_long_fails_with_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(*_: Any, **__: Any) -> Iterator[bytes]:
        raise SoftTimeLimitExceeded

    experiment, session = opened()
    monkeypatch.setattr(trial_session_job, "trial_session", too_long)
    trial_session_job.record(experiment.pk, 0, session.pk)
    session.refresh_from_db()
    assert session.status == Session.Status.FAILED
    assert "SCHEDVIZ_IMPORT_SECONDS" in session.message


def test_deleting_an_experiment_deletes_its_trials() -> None:
    experiment = begun()
    requests.delete(experiment.pk)
    assert not ExperimentTrial.objects.exists()
    trial_job.run(experiment.pk, 0)


WITH_C = PLAN.replace("50}]", "50}, {name: c, nodes: {count: 2}}]")


@pytest.mark.parametrize("done", [2, 4])
def test_only_added_variants_run_and_the_results_are_those_of_the_new_plan(done: int) -> None:
    experiment = begun()
    for number in range(done):
        trial_job.run(experiment.pk, number)

    requests.add_variants(again(experiment.pk), WITH_C)
    assert stream.client().llen(dispatch.QUEUE)
    checking.check(experiment.pk)

    experiment = again(experiment.pk)
    assert (experiment.status, experiment.trials, experiment.added_plan) == ("running", 6, "")
    run_all_trials(experiment)
    assert again(experiment.pk).status == Experiment.Status.FINISHED
    assert list(ExperimentTrial.objects.filter(experiment=experiment).values_list("epoch", flat=True)) == [1] * 6
    assert encode_results(reading.results(again(experiment.pk), volatile=False)) == of_the_command_line(WITH_C)


def test_invalid_added_variants_leave_the_experiment_unchanged() -> None:
    experiment = begun()
    run_all_trials(experiment)
    requests.add_variants(again(experiment.pk), WITH_C.replace("nodes: {count: 2}", "plugins: {Nothing: true}"))
    checking.check(experiment.pk)
    experiment = again(experiment.pk)
    assert (experiment.status, experiment.trials, experiment.plan, experiment.added_plan) == ("finished", 4, PLAN, "")
    assert [fault["variant"] for fault in experiment.faults] == ["c"]


def test_variants_are_not_added_concurrently_or_to_a_cancelled_experiment() -> None:
    experiment = begun()
    requests.add_variants(again(experiment.pk), WITH_C)
    with pytest.raises(requests.NotPossible, match="are being added"):
        requests.add_variants(again(experiment.pk), WITH_C)
    requests.cancel(experiment.pk)
    checking.check(experiment.pk)
    assert (again(experiment.pk).trials, again(experiment.pk).added_plan) == (4, "")
    with pytest.raises(requests.NotPossible, match="The experiment is cancelled, so it cannot be given more variants"):
        requests.add_variants(again(experiment.pk), WITH_C)


def test_the_sweeper_enqueues_the_check_of_added_variants() -> None:
    experiment = begun()
    run_all_trials(experiment)
    requests.add_variants(again(experiment.pk), WITH_C)
    stream.client().delete(dispatch.QUEUE)
    dispatch.sweep(force=True)
    assert stream.client().llen(dispatch.QUEUE) == 1


def test_the_number_of_enqueued_tasks_is_limited_however_often_an_experiment_is_resumed() -> None:
    experiment = begun()
    stream.client().delete(dispatch.QUEUE)
    for _ in range(40):
        requests.pause(experiment.pk)
        requests.resume(experiment.pk)
    other = requests.create_experiment(None, PLAN)
    assert stream.client().llen(dispatch.QUEUE) == 64

    next_job.run_next()
    assert again(other.pk).status == Experiment.Status.RUNNING, "a task runs what is next, not what it was enqueued for"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock for the fair order of users; it advances by a second at the beginning and at the end of each turn."""
    now = [1000.0]

    def read() -> float:
        now[0] += 1
        return now[0]

    monkeypatch.setattr(next_job, "time", SimpleNamespace(monotonic=read))
    monkeypatch.setattr(redis_clock, "seconds", lambda: now[0])
    return now


@pytest.mark.usefixtures("clock")
def test_users_are_served_in_turn_regardless_of_their_number_of_tasks() -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    of_ada = [begun(owner=ada), begun(owner=ada)]
    of_bob = requests.create_experiment(bob.pk, PLAN)
    ran: list[tuple[str, list[str]]] = []
    # Ada's tasks are first in the queue.
    for _ in range(4):
        next_job.run_next()
        of_both = [*statuses(of_ada[0]), *statuses(of_ada[1])]
        ran.append((again(of_bob.pk).status, [str(of_both.count("done")), str(statuses(of_bob).count("done"))]))

    assert [status for status, _ in ran] == ["running"] * 4, "Bob's check comes first, because Ada's are done"
    assert [counts for _, counts in ran] == [["0", "0"], ["1", "0"], ["1", "1"], ["2", "1"]]
    for _ in range(12):
        next_job.run_next()
    assert {again(one.pk).status for one in (*of_ada, of_bob)} == {"finished"}


def test_plan_checks_of_one_user_get_no_more_time_than_trials_of_another(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    of_ada = begun(owner=ada)
    check = checking.check

    def check_slowly(experiment_id: UUID) -> bool:
        clock[0] += 10
        return check(experiment_id)

    monkeypatch.setattr(checking, "check", check_slowly)
    turns: list[str] = []
    for _ in range(6):
        of_bob = requests.create_experiment(bob.pk, PLAN, hold=True)
        done = statuses(of_ada).count("done")
        next_job.run_next()
        turns.append("ada" if statuses(of_ada).count("done") > done else "bob")
        requests.delete(of_bob.pk)

    assert turns == ["bob", "ada", "ada", "ada", "ada", "bob"]


def test_a_turn_that_was_stored_before_the_clock_was_set_back_is_ignored(clock: list[float]) -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    of_ada, of_bob = begun(owner=ada), begun(owner=bob)
    clock[0] += 3 * 3600
    next_job.run_next()
    assert (statuses(of_ada).count("done"), statuses(of_bob).count("done")) == (1, 0)
    clock[0] -= 3 * 3600
    for _ in range(2):
        next_job.run_next()

    assert (statuses(of_ada).count("done"), statuses(of_bob).count("done")) == (2, 1)


def test_the_next_free_worker_goes_to_a_user_without_running_trials() -> None:
    ada, bob = User.objects.create_user("ada"), User.objects.create_user("bob")
    of_ada, of_bob = begun(owner=ada), begun(owner=bob)
    assert trial_lease.claim(of_ada.pk, 0) is not None

    next_job.run_next()
    next_job.run_next()
    assert statuses(of_ada) == ["running", "waiting", "waiting", "waiting"]
    assert statuses(of_bob)[:2] == ["done", "done"]


def test_a_trial_that_another_worker_has_just_claimed_is_not_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = begun()
    own_claim, taken = trial_lease.claim, []

    def claim(experiment_id: UUID, number: int) -> trial_lease.TrialLease | None:
        if not taken:
            taken.append(own_claim(experiment_id, number))
        return own_claim(experiment_id, number)

    monkeypatch.setattr(trial_lease, "claim", claim)
    next_job.run_next()
    assert statuses(experiment) == ["running", "done", "waiting", "waiting"]
