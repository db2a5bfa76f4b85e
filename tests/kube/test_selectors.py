"""Label selectors select and complain as upstream's."""

import pytest

from schedviz.kube.meta import LabelSelector, LabelSelectorRequirement
from schedviz.kube.selectors import EVERYTHING, NOTHING, SelectorError, label_selector, parse_int64, requirement, selector_from_set


def expression(key, operator, *values):
    return LabelSelector(match_expressions=(LabelSelectorRequirement(key=key, operator=operator, values=values),))


def test_an_absent_selector_selects_nothing_and_an_empty_one_everything():
    assert label_selector(None) is NOTHING
    assert not NOTHING.matches({"a": "b"})
    assert label_selector(LabelSelector()).matches({})
    assert label_selector(LabelSelector()).is_empty
    assert not NOTHING.is_empty


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        (LabelSelector(match_labels={"app": "web"}), {"app": "web", "x": "y"}, True),
        (LabelSelector(match_labels={"app": "web"}), {"app": "api"}, False),
        (LabelSelector(match_labels={"app": "web"}), {}, False),
        (LabelSelector(match_labels={"app": ""}), {}, False),
        (LabelSelector(match_labels={"app": ""}), {"app": ""}, True),
        (expression("app", "In", "web", "api"), {"app": "api"}, True),
        (expression("app", "In", "web"), {}, False),
        (expression("app", "NotIn", "web"), {}, True),
        (expression("app", "NotIn", "web"), {"app": "web"}, False),
        (expression("app", "Exists"), {"app": "x"}, True),
        (expression("app", "Exists"), {}, False),
        (expression("app", "DoesNotExist"), {}, True),
        (expression("app", "DoesNotExist"), {"app": ""}, False),
    ],
)
def test_labels_are_selected(selector, labels, selected):
    assert label_selector(selector).matches(labels) is selected


def test_requirements_are_sorted_by_key_and_written_as_kubectl_does():
    selector = label_selector(
        LabelSelector(
            match_labels={"z": "1"},
            match_expressions=(
                LabelSelectorRequirement("b", "In", ("y", "x")),
                LabelSelectorRequirement("a", "DoesNotExist"),
                LabelSelectorRequirement("c", "Exists"),
            ),
        )
    )
    assert str(selector) == "!a,b in (x,y),c,z=1"


def test_narrowing_a_selector_adds_requirements_unless_it_selects_nothing():
    narrowed = EVERYTHING.with_requirements(requirement("app", "=", ["web"]))
    assert not narrowed.matches({})
    assert NOTHING.with_requirements(requirement("app", "exists", [])) is NOTHING


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (expression("app", "Near", "web"), '"Near" is not a valid label selector operator'),
        (expression("app", "In"), "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty"),
        (
            expression("app", "Exists", "a", "b"),
            'values: Invalid value: []string{"a", "b"}: values set must be empty for exists and does not exist',
        ),
        (
            expression("a/b/c", "Exists"),
            (
                "key: Invalid value: \"a/b/c\": a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start "
                "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
                "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ),
        ),
        (
            LabelSelector(match_labels={"app": "-bad-"}),
            (
                "values[0][app]: Invalid value: \"-bad-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
                "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
                "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ),
        ),
        (LabelSelector(match_labels={"app": "x" * 64}), f'values[0][app]: Invalid value: "{"x" * 64}": must be no more than 63 characters'),
    ],
)
def test_errors_have_the_texts_of_upstream(selector, message):
    with pytest.raises(SelectorError) as caught:
        label_selector(selector)
    assert str(caught.value) == message


def test_several_errors_are_one_list():
    with pytest.raises(SelectorError) as caught:
        requirement("app", "gt", ["a", "b"], path="terms[0]")
    assert str(caught.value) == (
        "[terms[0].values: Invalid value: []string{\"a\", \"b\"}: for 'Gt', 'Lt' operators, exactly one value is required, "
        "terms[0].values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer, "
        "terms[0].values[1]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer]"
    )


def test_a_selector_from_a_set_is_not_checked():
    assert selector_from_set({"-bad-": "-bad-"}).matches({"-bad-": "-bad-"})


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5),
        ("+5", 5),
        ("-5", -5),
        ("007", 7),
        ("9223372036854775807", (1 << 63) - 1),
        ("9223372036854775808", None),
        ("1_0", None),
        ("", None),
        ("٣", None),
        (None, None),
    ],
)
def test_integers_are_parsed_as_in_go(text, number):
    assert parse_int64(text) == number


def test_many_values_are_looked_up_in_a_set_and_are_otherwise_a_tuple() -> None:
    values = [f"v{number}" for number in range(1000)]
    many = requirement("key", "in", values)
    assert "v999" in many.values._set  # type: ignore[attr-defined]  # a ManyValues
    assert many.matches({"key": "v999"})
    assert not many.matches({"key": "w"})
    assert requirement("key", "notin", values).matches({"key": "w"})
    assert many.values == tuple(values)
    assert many == requirement("key", "in", values)
    assert hash(many) == hash(requirement("key", "in", values))
