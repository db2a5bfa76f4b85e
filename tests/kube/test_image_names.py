"""The default pull policy follows from the tag of an image's name."""

from __future__ import annotations

import pytest

from schedviz.kube.image_names import pull_policy

DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("img", "Always"),
        ("img:latest", "Always"),
        ("registry.local:5000/team/app", "Always"),
        ("localhost/app:latest", "Always"),
        (f"img:latest{DIGEST}", "Always"),
        ("img:1.0", "IfNotPresent"),
        ("registry.local:5000/team/app:v1", "IfNotPresent"),
        (f"img{DIGEST}", "IfNotPresent"),
        ("", "IfNotPresent"),
        ("Not A Name", "IfNotPresent"),
        ("a" * 64, "IfNotPresent"),
    ],
)
def test_only_the_tag_latest_is_pulled_always(image: str, policy: str) -> None:
    assert pull_policy(image) == policy
