import pytest

from schedviz.engine.framework.plugins.imagelocality.image_locality import normalized_image_name

MB = 1024 * 1024


def _image(name, size):
    return {"names": [name], "sizeBytes": size}


def test_a_node_that_has_a_large_image_scores_higher(world):
    world.node("has", images=[_image("app:latest", 500 * MB)])
    world.node("has-not")

    scores = world.scores_of(world.framework(), world.pod("p", image="app"), "ImageLocality")

    # The size is scaled by the share of nodes that have it: (250 - 23) / (1000 - 23)
    assert scores == {"has": 23, "has-not": 0}


def test_an_image_that_every_node_has_counts_in_full(world):
    for name in ("a", "b"):
        world.node(name, images=[_image("app:latest", 2000 * MB)])

    assert world.scores_of(world.framework(), world.pod("p", image="app"), "ImageLocality")["b"] == 100


@pytest.mark.parametrize(
    ("name", "normalized"),
    [("root:v1", "root:v1"), ("root", "root:latest"), ("gcr.io:5000/root", "gcr.io:5000/root:latest"), ("r@sha256:a", "r@sha256:a")],
)
def test_a_name_without_a_tag_is_the_latest(name, normalized):
    assert normalized_image_name(name) == normalized
