"""Quantities behave as upstream's. The tables follow apimachinery's quantity_test.go."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedviz.kube.quantity import MILLI, Quantity, QuantityError, from_number, of_int, of_milli, parse


@pytest.mark.parametrize(
    ("text", "amount", "quantity_format"),
    [
        ("0", "0", "DecimalSI"),
        ("0n", "0", "DecimalSI"),
        ("0Ki", "0", "BinarySI"),
        ("0e3", "0", "DecimalExponent"),
        ("1Ki", "1024", "BinarySI"),
        ("8Ki", "8192", "BinarySI"),
        ("7Mi", "7340032", "BinarySI"),
        ("6Gi", "6442450944", "BinarySI"),
        ("5Ti", "5497558138880", "BinarySI"),
        ("4Pi", "4503599627370496", "BinarySI"),
        ("3Ei", "3458764513820540928", "BinarySI"),
        ("10Ti", "10995116277760", "BinarySI"),
        ("100Ti", "109951162777600", "BinarySI"),
        ("5n", "5e-9", "DecimalSI"),
        ("4u", "4e-6", "DecimalSI"),
        ("3m", "3e-3", "DecimalSI"),
        ("9", "9", "DecimalSI"),
        ("8k", "8000", "DecimalSI"),
        ("50k", "50000", "DecimalSI"),
        ("7M", "7000000", "DecimalSI"),
        ("6G", "6000000000", "DecimalSI"),
        ("5T", "5000000000000", "DecimalSI"),
        ("40P", "40000000000000000", "DecimalSI"),
        ("3E", "3000000000000000000", "DecimalSI"),
        ("1E", "1000000000000000000", "DecimalSI"),
        ("1e3", "1000", "DecimalExponent"),
        ("1E6", "1000000", "DecimalExponent"),
        ("1e-3", "1e-3", "DecimalExponent"),
        ("1E+3", "1000", "DecimalExponent"),
        ("100.035k", "100035", "DecimalSI"),
        ("0.001", "1e-3", "DecimalSI"),
        ("0.0001k", "0.1", "DecimalSI"),
        ("12.34G", "12340000000", "DecimalSI"),
        ("1.5Gi", "1610612736", "BinarySI"),
        (".5", "0.5", "DecimalSI"),
        ("1.", "1", "DecimalSI"),
        ("+100m", "0.1", "DecimalSI"),
        ("-1", "-1", "DecimalSI"),
        ("-3.01e3", "-3010", "DecimalExponent"),
        ("00500m", "0.5", "DecimalSI"),
    ],
)
def test_a_quantity_is_parsed_as_by_upstream(text, amount, quantity_format):
    quantity = parse(text)
    assert Fraction(quantity.unscaled) * Fraction(10) ** quantity.exponent == Fraction(amount)
    assert quantity.format == quantity_format


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1.1.M",
        "1+1.0M",
        "0.1mi",
        "0.1am",
        "aoeu",
        ".5i",
        "1i",
        "-3.01i",
        "-3.01e-",
        " 1",
        "1 ",
        " 1\n",
        "1e",
        "1.5Kib",
        "٣",
        "0x10",
        "1_000",
    ],
)
def test_texts_that_upstream_refuses_are_refused(text):
    with pytest.raises(QuantityError) as caught:
        parse(text)
    assert str(caught.value).endswith("is not a quantity")


def test_the_message_shows_the_text():
    with pytest.raises(QuantityError) as caught:
        parse("10x")
    assert str(caught.value) == '"10x" is not a quantity'


@pytest.mark.parametrize("text", ["1e1001", "1e-1001", "1e99999999999", "9" * 257, "9" * 1_000_000 + "x"])
def test_numbers_of_absurd_length_are_refused_at_once(text):
    with pytest.raises(QuantityError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1Ki", "1Ki"),
        ("1Mi", "1Mi"),
        ("1Gi", "1Gi"),
        ("1024Mi", "1Gi"),
        ("307200Ki", "300Mi"),
        ("1025024Mi", "1001Gi"),
        ("1000M", "1G"),
        (".001Ki", "1024m"),
        (".000001Ki", "1024u"),
        (".000000001Ki", "1024n"),
        (".000000000001Ki", "2n"),
        ("5000m", "5"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1.5Gi", "1536Mi"),
        ("1000e6", "1e9"),
        ("1080e-3", "1080e-3"),
        ("0.1n", "1n"),
        ("0.00000000001", "1n"),
        ("8Ei", "9223372036854775807"),
        ("1100e5", "110e6"),
        ("0.0", "0"),
    ],
)
def test_the_canonical_form_is_upstreams(text, canonical):
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [
        ("500m", 1, 500),
        ("1500m", 2, 1500),
        ("1001u", 1, 2),
        ("1n", 1, 1),
        ("-1500m", -2, -1500),
        ("2Gi", 2147483648, 2147483648000),
        ("1.1Ki", 1127, 1126400),
        ("1e3", 1000, 1_000_000),
        ("9E", 9_000_000_000_000_000_000, 0),  # upstream's int64 overflows to 0
        ("8Ei", (1 << 63) - 1, -1000),  # upstream's decimal wraps
    ],
)
def test_value_and_milli_value_round_up_and_overflow_as_upstream(text, value, milli):
    assert (parse(text).value, parse(text).milli_value) == (value, milli)


def test_an_amount_that_upstream_prints_without_its_suffix_keeps_it():
    assert str(parse("1000E")) == "1e21"
    assert parse(str(parse("1000E"))).compare(parse("1000E")) == 0


def test_rounding_up_to_thousandths_leaves_coarser_amounts_alone():
    assert str(parse("1234567n").round_up(MILLI)) == "2m"
    assert str(parse("-9u").round_up(MILLI)) == "-1m"
    whole = parse("2Gi")
    assert whole.round_up(MILLI) is whole


def test_json_numbers_are_quantities():
    assert str(from_number(2)) == "2"
    assert str(from_number(0.5)) == "500m"
    assert from_number(1e21).value == 0  # an int64 overflow, as upstream
    with pytest.raises(QuantityError):
        from_number(float("nan"))


def test_equal_quantities_have_the_same_canonical_form():
    assert parse("1") == parse("1000m")
    assert hash(parse("1")) == hash(parse("1000m"))
    assert parse("1Gi") != parse("1073741824")
    assert parse("1Gi").compare(parse("1073741824")) == 0
    assert parse("1").compare(parse("2")) == -1


_quantities = st.one_of(
    st.builds(of_int, st.integers(-(1 << 62), 1 << 62), st.sampled_from(["DecimalSI", "BinarySI", "DecimalExponent"])),
    st.builds(of_milli, st.integers(-(1 << 50), 1 << 50), st.sampled_from(["DecimalSI", "BinarySI", "DecimalExponent"])),
)


@given(_quantities)
def test_the_canonical_form_reads_back_as_the_same_amount(quantity: Quantity):
    again = parse(str(quantity))
    assert again.compare(quantity) == 0
    # Upstream too prints 25000 bytes as "25000" when they were written in a binary unit, and as "25k" when that is read again.
    assert str(again) == str(quantity) or quantity.format == "BinarySI"
    assert str(parse(str(again))) == str(again)


@given(st.integers(0, 10**14), st.sampled_from(["", "m", "k", "M", "Ki", "Mi", "Gi", "e2"]))
def test_value_and_milli_value_are_rounded_up_if_they_fit(number, suffix):
    quantity = parse(f"{number}{suffix}")
    exact = Fraction(quantity.unscaled) * Fraction(10) ** quantity.exponent
    if exact < 1 << 50:
        assert quantity.value == -(-exact // 1)
        assert quantity.milli_value == -(-exact * 1000 // 1)


@given(st.text(alphabet="0123456789.eEinumkKMGTP+-", max_size=12))
def test_any_text_is_refused_or_gives_a_quantity_that_can_be_written(text):
    try:
        quantity = parse(text)
    except QuantityError:
        return
    assert parse(str(quantity)).compare(quantity) == 0
