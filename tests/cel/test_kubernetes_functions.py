"""CEL: quantities and semantic versions, which Kubernetes adds."""

from __future__ import annotations

import pytest

from schedviz.cel import CostLimitError
from tests.cel.expressions import WITHOUT_VARIABLES


@pytest.mark.parametrize(
    "expression",
    [
        "quantity('1Gi') == quantity('1024Mi') && quantity('1Gi').compareTo(quantity('1G')) == 1",
        "quantity('50k').isLessThan(quantity('1M')) && quantity('1.5').isGreaterThan(quantity('1'))",
        "quantity('5k').add(quantity('1k')) == quantity('6k') && quantity('5').sub(2) == quantity('3') && sign(quantity('-1')) == -1",
        "quantity('50k').isInteger() && !quantity('1.5').isInteger() && quantity('50k').asInteger() == 50000",
        "isQuantity('1Ki') && !isQuantity('1Kx') && quantity('500m').asApproximateFloat() == 0.5",
        "semver('1.2.3').isGreaterThan(semver('1.2.3-rc.1')) && semver('1.2.3-2').isLessThan(semver('1.2.3-10'))",
        "semver('1.2.3-1').isLessThan(semver('1.2.3-a')) && semver('1.2.3+a') == semver('1.2.3+b')",
        "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
        "semver('v1.02', true) == semver('1.2.0') && isSemver('v1', true) && !isSemver('v1.0.0') && !isSemver('1.0')",
        "semver('1.0.0').compareTo(semver('2.0.0')) == -1",
    ],
)
def test_quantities_and_versions_are_compared_by_value(expression: str) -> None:
    assert WITHOUT_VARIABLES.value(expression) is True


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("semver('1.2')", "No Major.Minor.Patch elements found"),
        ("semver('01.2.3')", 'Major number must not contain leading zeroes "01"'),
        ("semver('1.x.3')", 'Invalid character(s) found in minor number "x"'),
        ("semver('1.2-a', true)", "short version cannot contain PreRelease/Build meta data"),
        ("quantity('1.5').asInteger()", "cannot convert value to integer"),
        ("quantity('x')", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
    ],
)
def test_malformed_values_give_the_message_of_kubernetes(expression: str, message: str) -> None:
    assert WITHOUT_VARIABLES.error(expression) == message


@pytest.mark.parametrize("value", ["semver('1.0.0')", "quantity('1')", "ip('10.0.0.1')", "cidr('10.0.0.0/8')", "url('http://a/')"])
def test_values_of_kubernetes_cannot_be_compared_with_those_of_other_types(value: str) -> None:
    assert WITHOUT_VARIABLES.error(f"dyn({value}) == 'a'") == "no such overload"
    # It depends on the side, and everything else takes it for a difference.
    assert WITHOUT_VARIABLES.value(f"dyn('a') != {value} && dyn({value}) != 'a' && !(dyn({value}) in [dyn('a')] + [dyn('b')])") is True
    assert WITHOUT_VARIABLES.value(f"dyn({value}) == {value} && dyn({value}) != null") is True


def test_a_version_cannot_be_looked_up_in_a_list_of_constants() -> None:
    program = WITHOUT_VARIABLES.environment.compile("dyn(semver('1.0.0')) in ['1.0.0', '2.0.0'] || true")

    with pytest.raises(CostLimitError, match=r"^internal error: runtime error: hash of unhashable type cel\.Semver$"):
        program.evaluate({}, cost_limit=100)


def test_lists_with_elements_that_cannot_be_compared_are_equal_as_upstream() -> None:
    assert WITHOUT_VARIABLES.value("[dyn(semver('1.0.0'))] == [dyn('a')]") is True
    assert WITHOUT_VARIABLES.value("[dyn('a')] == [dyn(semver('1.0.0'))]") is False


def test_a_quantity_has_no_fields() -> None:
    message = WITHOUT_VARIABLES.compile_error("quantity('1').value == 1")

    assert message.startswith("ERROR: <input>:1:14: unexpected failed resolution of 'kubernetes.Quantity'\n")
