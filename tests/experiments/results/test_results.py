"""Results: columns, means, paired differences, moves, and the forms in which they are written."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec

from schedviz.experiments.report import html_report
from schedviz.experiments.results.columnar import columnar
from schedviz.experiments.results.document import Column, decode_results, encode_results
from schedviz.experiments.results.table import csv_of, label, table
from tests.experiments.small_plans import node, pod, results, write_cluster

PLAN = """\
name: <b>sizes</b>
base: {generate: {shape: basic, nodes: 6, pods: 40}}
variants: [{name: six}, {name: two, nodes: {count: 2}}]
"""


def test_a_difference_is_paired_by_seed() -> None:
    result = results(PLAN + "seeds: 3\n")
    two = result.variant("two")
    by_seed = {(row.variant, row.seed): row.values["placed"] for row in result.trials}
    pairs = [by_seed["two", seed] - by_seed["six", seed] for seed in (1, 2, 3)]
    assert two.differences["placed"].mean == round(sum(pairs) / 3, 9)
    assert two.differences["placed"].count == 3
    assert result.variant("six").differences == {}


def test_a_reason_that_only_one_trial_has_counts_0_in_the_others() -> None:
    result = results(PLAN)
    assert [row.values["pendingReason.Insufficient cpu"] > 0 for row in result.trials] == [False, True]


def test_results_of_equal_plans_are_byte_identical_without_times() -> None:
    assert encode_results(results(PLAN)) == encode_results(results(PLAN))
    assert b"engineSeconds" in encode_results(results(PLAN, volatile=True))


def test_encoded_results_decode_to_equal_results() -> None:
    result = results(PLAN)
    assert decode_results(encode_results(result)) == result


def test_moves_count_pods_on_other_nodes_and_pending_pods(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1", cpu="1"), node("n2", cpu="1"), pod("a"), pod("b"))
    result = results("base: {files: [cluster.json]}\nvariants: [{name: both}, {name: one, nodes: {remove: [n1]}}]", tmp_path)
    assert result.moves is not None
    assert result.moves.counts[0][1] == result.moves.counts[1][0]
    assert result.moves.counts[0][1] in (1.0, 2.0)
    assert result.moves.counts[0][0] == 0.0


def test_the_table_has_a_row_for_each_variant_with_its_difference() -> None:
    head, six, two = table(results(PLAN))
    place = head.index("nodes used")
    assert six[place] == "6"
    assert two[place] == "2\n−4"


def test_the_table_shows_evenly_spaced_parts_of_a_measure_with_many() -> None:
    found = results(PLAN)
    curve = [Column(f"curve.{load}", "curve", "", "share", "lower") for load in range(101)]
    head, *_ = table(msgspec.structs.replace(found, columns=curve), keys=[column.key for column in curve])
    assert head[1:] == [f"curve · {load}" for load in (0, 14, 28, 42, 57, 71, 85, 100)]


def test_columnar_results_have_the_values_by_column() -> None:
    found = results(PLAN + "seeds: 2\n")
    drawn = columnar(found)
    place = [column.key for column in drawn.columns].index("placed")
    assert drawn.trials.values[place] == [row.values["placed"] for row in found.trials]
    assert [drawn.variants[variant].name for variant in drawn.trials.variants] == ["six", "six", "two", "two"]


def test_node_shares_are_sorted_means_over_the_seeds(tmp_path: Path) -> None:
    write_cluster(tmp_path, node("n1", cpu="4"), node("n2", cpu="4"), pod("a", cpu="3"), pod("b", cpu="1"))
    (variant,) = results("base: {files: [cluster.json]}\nseeds: 2", tmp_path).variants
    assert variant.node_shares["cpu"] == [0.75, 0.25]


def test_csv_has_a_row_for_each_trial_and_no_formulas() -> None:
    result = results(PLAN.replace("name: two", "name: =two"))
    rows = list(csv.reader(io.StringIO(csv_of(result))))
    assert [row[:3] for row in rows] == [["trial", "variant", "seed"], ["0", "six", ""], ["1", "'=two", ""]]
    # A spreadsheet whose separator is a semicolon reads no formula in a cell.
    assert '"six;\'=1+1"' in csv_of(results(PLAN.replace("name: six", "name: six;=1+1")))


def test_a_label_is_readable_text() -> None:
    assert label("nodesUsed") == "nodes used"
    assert label("nodeSpread.mean") == "mean node spread"
    assert label("utilization.example.com/gpu") == "example.com/gpu utilization of all nodes"


def test_a_report_has_the_plan_and_the_results_and_escapes_names() -> None:
    result = results(PLAN)
    text = html_report(result)
    assert "<b>sizes" not in text
    assert "&lt;b&gt;sizes" in text
    assert "default-src 'none'" in text
    assert "<script src" not in text
    assert "src=" not in text.partition("<script type=")[0]


def test_a_report_shows_characters_that_reorder_or_hide_text() -> None:
    text = html_report(results(PLAN.replace("name: six", 'name: "six\u202e"').replace("<b>sizes</b>", "a\u202eb\u200b")))
    data = json.loads(text.split("id='results'>", 1)[1].split("</script>", 1)[0])

    assert r"<h1>a\u202eb\u200b</h1>" in text
    assert r"<td>six\u202e</td>" in text
    assert data["variants"][0]["name"] == r"six\u202e"
    assert not {"\u202e", "\u200b"} & set(text.partition("</script>")[0])
