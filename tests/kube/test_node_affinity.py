"""Node selectors and preferred terms."""

import pytest

from schedviz.kube import codec
from schedviz.kube.node_affinity import (
    lazy_node_selector,
    node_selector,
    preferred_scheduling_terms,
    printed_node_selector,
    required_node_affinity,
)
from schedviz.kube.selectors import SelectorError


def node(name="node-1", **labels):
    return codec.from_dict({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}})


def pod(**spec):
    return codec.from_dict({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1"}, "spec": {"containers": [], **spec}})


def required(*terms):
    spec = pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}})
    return spec.spec.affinity.node_affinity.required


def preferred(*terms):
    return pod(
        affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": list(terms)}}
    ).spec.affinity.node_affinity.preferred


def label(key, operator, *values):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def field(operator, *values, key="metadata.name"):
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        ((label("disk", "In", "ssd"),), True),
        ((label("disk", "NotIn", "ssd"),), False),
        ((label("size", "Gt", "5"),), True),
        ((label("size", "Lt", "5"),), False),
        ((label("disk", "Gt", "5"),), False),
        ((field("In", "node-1"),), True),
        ((field("NotIn", "node-1"),), False),
        ((field("In", "x", key="metadata.uid"),), False),
        ((field("In", "node-2"), label("disk", "Exists")), True),
        (({**label("disk", "Exists"), **field("In", "node-2")},), False),
        (({},), False),
        ((), False),
    ],
)
def test_terms_are_ored_and_their_requirements_are_anded(terms, matches):
    assert lazy_node_selector(required(*terms)).match(node(disk="ssd", size="10")) is matches


def test_both_node_selector_and_affinity_must_match():
    wants = required_node_affinity(
        pod(
            nodeSelector={"disk": "ssd"},
            affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [label("zone", "Exists")]}}},
        )
    )
    assert wants.match(node(disk="ssd", zone="a"))
    assert not wants.match(node(disk="ssd"))
    assert not wants.match(node(zone="a"))
    assert required_node_affinity(pod()).match(node())


def test_an_invalid_term_is_reported_only_if_no_other_term_matches():
    selector = lazy_node_selector(required(label("size", "Gt", "big"), label("disk", "In", "ssd")))
    assert selector.match(node(disk="ssd"))
    with pytest.raises(SelectorError) as caught:
        selector.match(node(disk="hdd"))
    assert str(caught.value) == (
        "nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"big\": for 'Gt', 'Lt' operators, the value must be an integer"
    )


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (label("disk", "Near", "x"), 'nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Near"'),
        (field("Exists"), 'nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"'),
        (field("In"), "nodeSelectorTerms[0].matchFields[0].values: Invalid value: []string(nil): must have one element"),
        (field("In", "a", "b"), 'nodeSelectorTerms[0].matchFields[0].values: Invalid value: []string{"a", "b"}: must have one element'),
    ],
)
def test_an_invalid_required_selector_is_refused_with_upstreams_message(term, message):
    with pytest.raises(SelectorError) as caught:
        node_selector(required(term))
    assert str(caught.value) == message


def test_the_message_of_an_unsupported_operator_lists_the_others_in_v1_36():
    message = (
        'matchExpressions[0].operator: Unsupported value: "Near": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    )
    near = label("disk", "Near", "x")
    with pytest.raises(SelectorError) as of_required:
        node_selector(required(near), lists_operators=True)
    with pytest.raises(SelectorError) as of_preferred:
        preferred_scheduling_terms(preferred({"weight": 1, "preference": near}), lists_operators=True)
    assert str(of_required.value) == f"nodeSelectorTerms[0].{message}"
    assert str(of_preferred.value) == f"[0].{message}"


def test_a_node_selector_is_printed_as_go_prints_it():
    assert printed_node_selector(required(label("disk", "In", "a", "b"), field("In"))) == (
        "&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{"
        "NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{NodeSelectorRequirement{Key:disk,Operator:In,Values:[a b],},},"
        "MatchFields:[]NodeSelectorRequirement{},},"
        "NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{},"
        "MatchFields:[]NodeSelectorRequirement{NodeSelectorRequirement{Key:metadata.name,Operator:In,Values:[],},},},},}"
    )


def test_weights_of_matching_preferred_terms_add_up_and_empty_terms_do_not_count():
    terms = preferred_scheduling_terms(
        preferred(
            {"weight": 10, "preference": label("disk", "In", "ssd")},
            {"weight": 5, "preference": label("zone", "Exists")},
            {"weight": 0, "preference": label("zone", "Broken")},
            {"weight": 7, "preference": {}},
        )
    )
    assert terms.score(node(disk="ssd", zone="a")) == 15
    assert terms.score(node(disk="ssd")) == 10


def test_an_invalid_preferred_term_is_refused():
    with pytest.raises(SelectorError) as caught:
        preferred_scheduling_terms(preferred({"weight": 1, "preference": label("zone", "In")}))
    assert (
        str(caught.value)
        == "[0].matchExpressions[0].values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty"
    )
