"""`schedviz config` reports errors of a configuration with upstream's messages, and converts older ones to v1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from schedviz.cli.config import config

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def _run(folder: Path, text: str, *options: str):
    path = folder / "c.yaml"
    path.write_text(text)
    return CliRunner().invoke(config, [str(path), *options])


def test_a_valid_configuration_exits_with_0(tmp_path: Path) -> None:
    result = _run(tmp_path, f"{V1}parallelism: 4\n")
    assert (result.exit_code, result.output) == (0, f"{tmp_path / 'c.yaml'}: valid\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{V1}percentageOfNodesToScore: 101\n", "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"),
        (f"{V1}foo: 1\n", 'strict decoding error: unknown field "foo"'),
        (f"{V1}parallelism: 1\nparallelism: 2\n", 'line 4: key "parallelism" already set in map'),
        (V1.replace("/v1", "/v1alpha2"), 'is registered for version "kubescheduler.config.k8s.io/v1alpha2"'),
        (
            f"{V1}profiles:\n- plugins:\n    filter:\n      enabled:\n      - name: Nope\n",
            'creating profile for scheduler name default-scheduler: FilterPlugin "Nope" does not exist',
        ),
    ],
)
def test_an_invalid_configuration_exits_with_2_and_prints_its_error(tmp_path: Path, text: str, message: str) -> None:
    result = _run(tmp_path, text)
    assert result.exit_code == 2
    assert message in result.output


def test_an_older_configuration_is_converted_to_v1(tmp_path: Path) -> None:
    text = V1.replace("/v1", "/v1beta2") + "healthzBindAddress: ''\nhealthzBindAddress2: 1\n"
    result = _run(tmp_path, text, "--convert", "--json")
    assert result.exit_code == 2
    assert "dropped healthzBindAddress: " in result.stderr
    assert 'unknown field "healthzBindAddress2"' in result.stderr
    assert json.loads(result.stdout)["apiVersion"] == "kubescheduler.config.k8s.io/v1"

    result = _run(tmp_path, V1.replace("/v1", "/v1beta3"), "--convert")
    assert (result.exit_code, result.stdout) == (0, V1)


def test_only_convert_reads_json_with_comments(tmp_path: Path) -> None:
    text = '{"apiVersion": "kubescheduler.config.k8s.io/v1", // here\n"kind": "KubeSchedulerConfiguration"}'
    assert "try --convert" in _run(tmp_path, text).output
    assert _run(tmp_path, text, "--convert").exit_code == 0


@pytest.mark.parametrize(
    ("value", "message"), [("-9223372036854775809", "an integer of more than 64 bits"), (r'"\ud800"', "a lone surrogate")]
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_cannot_be_written_is_not_converted(tmp_path: Path, value: str, message: str, options: tuple[str, ...]) -> None:
    text = (
        f'{{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "clientConnection": {{"qps": {value}}}}}'
    )
    result = _run(tmp_path, text, "--convert", *options)
    assert result.exit_code != 0
    assert result.stdout == ""
    assert message in result.stderr
