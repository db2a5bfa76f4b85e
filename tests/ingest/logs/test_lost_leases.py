"""A log says that its scheduler has lost the lease of the leader."""

from __future__ import annotations

import pytest

from schedviz.explain.pasted.reader import read_text
from schedviz.ingest.pasted.message_times import seconds_of_age
from tests.ingest.pasted.found_messages import found_messages

RENEW = "I1126 02:56:40.200933       1 leaderelection.go:285] failed to renew lease kube-system/kube-scheduler: timed out waiting\n"
LOST = 'E1126 02:56:40.201072       1 server.go:242] "Leaderelection lost"\n'
ACQUIRED = "I1126 02:57:01.000000       1 leaderelection.go:260] successfully acquired lease kube-system/kube-scheduler\n"


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (RENEW + LOST, "failed to renew lease kube-system/kube-scheduler: timed out waiting; Leaderelection lost"),
        (LOST, "Leaderelection lost"),
        ("E1126 02:56:40.201072       1 server.go:100] leaderelection lost\n", "Leaderelection lost"),
        (
            'I1126 02:56:40.200933       1 leaderelection.go:296] "Failed to renew lease" lock="kube-system/kube-scheduler" err="timed out"\n',
            "failed to renew lease kube-system/kube-scheduler",
        ),
        (ACQUIRED + RENEW + LOST, "failed to renew lease kube-system/kube-scheduler: timed out waiting; Leaderelection lost"),
    ],
)
def test_the_loss_is_a_message_about_the_lease_with_its_meaning(log: str, message: str) -> None:
    found = found_messages(log)
    assert [(each.pod, each.message, each.at) for each in found] == [("kube-system/kube-scheduler", message, "11-26 02:56:40")]
    [clause] = read_text(found, (), {}, seconds_of_age).messages[0].message.clauses
    assert clause.headline.startswith("the kube-scheduler that wrote this log lost its lease and stopped")


@pytest.mark.parametrize(
    "log",
    [
        RENEW + LOST + ACQUIRED,
        RENEW.replace("kube-scheduler", "kube-controller-manager") + LOST,
        "E1126 02:56:40.201072       1 controllermanager.go:332] leaderelection lost\n",
    ],
)
def test_a_lease_that_was_reacquired_or_is_not_a_schedulers_is_no_message(log: str) -> None:
    assert found_messages(log) == []
