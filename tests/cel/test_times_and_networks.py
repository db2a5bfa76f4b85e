"""CEL: durations, timestamps, formatting, sorting by keys, and the addresses and URLs that Kubernetes adds."""

from __future__ import annotations

import pytest

from schedviz.cel.library.formatting import RULES
from tests.cel.expressions import WITHOUT_VARIABLES

PARSE_ERROR = "network address parse error during conversion from string: "


@pytest.mark.parametrize(
    "expression",
    [
        "duration('1h30m') == duration('90m') && duration('1.5s') + duration('500ms') == duration('2s')",
        "duration('1h').getMinutes() == 60 && duration('-90s').getMinutes() == -1 && duration('1234ms').getMilliseconds() == 1234",
        "string(duration('1h45m47s')) == '6347s' && string(duration('1500ms')) == '1.5s' && int(duration('1s')) == 1000000000",
        "timestamp('2023-02-03T23:31:20+02:00') == timestamp('2023-02-03T21:31:20Z')",
        "string(timestamp('2023-02-03T23:31:20.5+02:00')) == '2023-02-03T23:31:20.5+02:00' && string(timestamp(0)) == '1970-01-01T00:00:00Z'",
        "timestamp('2023-03-01T00:00:00Z') - timestamp('2023-02-01T00:00:00Z') == duration('672h')",
        "timestamp('2024-02-28T12:00:00Z') + duration('24h') < timestamp('2024-03-01T00:00:00Z')",
        "timestamp('2024-02-29T12:34:56.789Z').getDate() == 29 && timestamp('2024-02-29T12:34:56.789Z').getMilliseconds() == 789",
        "timestamp('2024-02-29T12:34:56Z').getMonth() == 1 && timestamp('2024-02-29T12:34:56Z').getDayOfWeek() == 4",
        "timestamp('2024-12-31T23:00:00Z').getFullYear('+02:00') == 2025 && timestamp('2024-01-01T01:00:00Z').getHours('-08:30') == 16",
        "timestamp('2024-12-31T23:00:00Z').getDayOfYear() == 365 && int(timestamp('1970-01-01T00:01:00Z')) == 60",
        "[duration('2s'), duration('1s')].min() == duration('1s') && [timestamp(2), timestamp(1)].sort() == [timestamp(1), timestamp(2)]",
        "[duration('2s'), duration('1s')].sum() == duration('3s')",
        "[3, 1, 2].sortBy(e, -e) == [3, 2, 1] && ['bb', 'a'].sortBy(e, size(e)) == ['a', 'bb'] && [1, 2].map(e, e).sortBy(e, e) == [1, 2]",
        "'%s is %d of %s'.format([dyn('a'), 2, [dyn(1), 'x', {'k': true}]]) == 'a is 2 of [1, \"x\", {\"k\":true}]'",
        "'%s has %d'.format(['a', 1]) == 'a has 1' && '%s'.format([[1, 'a']]) == '[1, \"a\"]'",
        "'%f %.1f'.format([1234.5, 2.25]) == '1,234.500000 2.2' && '%%%b%x%X%o'.format([5, 26, 26, 30]) == '%1011a1A36'",
        "'%s %s %s'.format([dyn(null), duration('90s'), type(1)]) == 'null 90s int' && '%x'.format(['hi']) == '6869'",
        "'%e'.format([2.71828]) == '2.718280\\u202f\\u00d7\\u202f10\\u2070\\u2070'",
        "ip('192.168.0.1').family() == 4 && ip('::1').isLoopback() && !isIP('1.2.3') && ip.isCanonical('2001:db8::abcd')",
        "!ip.isCanonical('2001:DB8::ABCD') && ip('224.0.0.1').isLinkLocalMulticast() && ip('fe80::1').isLinkLocalUnicast()",
        "ip('10.0.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast() && string(ip('::0:1')) == '::1'",
        "cidr('192.168.0.0/16').containsIP('192.168.1.1') && !cidr('192.168.0.0/16').containsIP(ip('10.0.0.1'))",
        "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && !cidr('192.168.0.0/24').containsCIDR(cidr('192.168.0.0/23'))",
        "cidr('192.168.1.7/24').masked() == cidr('192.168.1.0/24') && cidr('::1/128').prefixLength() == 128 && isCIDR('::/0')",
        "cidr('192.168.1.7/24').ip() == ip('192.168.1.7') && cidr('192.168.1.7/24') != cidr('192.168.1.0/24')",
        "url('https://user@example.com:80/path').getHost() == 'example.com:80' && url('https://[::1]:80/').getHostname() == '::1'",
        "url('https://example.com:80/').getPort() == '80' && url('https://example.com/').getPort() == '' && url('/p').getScheme() == ''",
        "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/' && url('http://a/p#b').getEscapedPath() == '/p'",
        "url('https://example.com/?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']} && !isURL('../relative') && isURL('/p')",
    ],
)
def test_times_texts_addresses_and_urls_are_as_in_kubernetes(expression: str) -> None:
    assert WITHOUT_VARIABLES.value(expression) is True


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("duration('x' + '') == duration('1s')", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        ("timestamp('2023' + '') == timestamp(0)", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
        ("timestamp([253402300800][0]) == timestamp(0)", "timestamp overflow"),
        ("duration('2562047h') + duration('2562047h') == duration('0')", "duration overflow"),
        ("timestamp(0).getHours('Nowhere/Town') == 0", "unknown time zone Nowhere/Town"),
        ("['%d'][0].format(['a']) == ''", "error during formatting: decimal clause can only be used on integers, was given string"),
        ("['%s'][0].format([]) == ''", "index 0 out of range"),
        ("['%q'][0].format([1]) == ''", 'could not parse formatting clause: unrecognized formatting clause "q"'),
        (
            "ip('1.2.3.256').family() == 4",
            'IP Address "1.2.3.256" parse error during conversion from string: ParseAddr("1.2.3.256"): IPv4 field has value >255',
        ),
        ("ip('fe80::1%en0').family() == 6", 'IP address "fe80::1%en0" with zone value is not allowed'),
        ("ip('::ffff:1.2.3.4').family() == 6", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        (
            "cidr('10.0.0.0').prefixLength() == 1",
            f"{PARSE_ERROR}{PARSE_ERROR}netip.ParsePrefix(\"10.0.0.0\"): no '/'",
        ),
        ("url('x').getHost() == ''", 'URL parse error during conversion from string: parse "x": invalid URI for request'),
        (
            "url('http://a:b/').getHost() == ''",
            'URL parse error during conversion from string: parse "http://a:b/": invalid port ":b" after host',
        ),
    ],
)
def test_malformed_values_give_the_messages_of_kubernetes(expression: str, message: str) -> None:
    assert WITHOUT_VARIABLES.error(expression) == message


@pytest.mark.parametrize("function", ["duration", "timestamp"])
def test_a_malformed_constant_is_rejected_when_the_expression_is_compiled(function: str) -> None:
    assert f"invalid {function} argument" in WITHOUT_VARIABLES.compile_error(f"{function}('x') == {function}('y')")


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("'%d'.format(['a']) == ''", 14, "error during formatting: decimal clause can only be used on integers, was given string"),
        ("'%d%x'.format([1, [1]]) == ''", 19, f"error during formatting: {RULES['x']}, was given list"),
        ("'%s'.format(['a', 1]) == ''", 12, "too many arguments supplied to string.format (expected 1, got 2)"),
        ("'%s'.format([{'k': ip('::1')}]) == ''", 22, f"error during formatting: {RULES['s']}, was given net.IP"),
        ("'%s %s'.format(['a']) == ''", 15, "index 1 out of range"),
        ("'%'.format([]) == ''", 11, "unexpected end of string"),
        ("'%%'.format([1]) == ''", 12, "too many arguments supplied to string.format (expected 0, got 1)"),
        ("'%q'.format([1]) == ''", 12, 'could not parse formatting clause: unrecognized formatting clause "q"'),
    ],
)
def test_a_constant_format_is_checked_when_the_expression_is_compiled(expression: str, column: int, message: str) -> None:
    assert WITHOUT_VARIABLES.compile_error(expression).startswith(f"ERROR: <input>:1:{column}: {message}\n")
