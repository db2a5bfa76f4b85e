"""Cards as Markdown: complete, and inert whatever names and messages contain."""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec
import pytest
from markdown_it import MarkdownIt

from schedviz.explain.card.build import card_of_message, card_of_overview, card_of_pod
from schedviz.explain.card.html import html_of
from schedviz.explain.card.markdown import block, code, markdown_of, text, with_code
from schedviz.explain.card.model import Card
from schedviz.explain.card.png import png_of
from schedviz.explain.changes import smallest_change
from schedviz.explain.messages.message import parse_message
from schedviz.explain.messages.parsed_message import ParsedMessage, newest_of_each_source
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from schedviz.ingest.pasted.message_times import seconds_of_age
from schedviz.sessions.analysis.pasted_text_job import explain_text
from tests.explain.small_clusters import cluster, do, node, pod


def test_an_explanation_has_message_numbers_nodes_and_a_verified_change() -> None:
    simulation = cluster(node("n1"), node("n2", cordoned=True), pod("p", cpu="3"), pod("a", cpu="2", on="n1"))
    explanation = why_pending(simulation, "default/p")
    lines = markdown_of(card_of_pod(explanation, smallest_change(simulation, "default/p", explanation))).splitlines()
    assert lines[0] == "### Why `default/p` is pending"
    assert any(
        line.startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: 0/2") for line in lines
    )
    assert (
        "The pod requests 3 CPU, but n1 has only 2 of its 4 CPU free; n2 has 4 free but is cordoned. Neither node can run the pod."
    ) in lines
    # The sentence above says it in words.
    assert "**kube-scheduler:** `1 Insufficient cpu` (NodeResourcesFit)" in lines
    assert "- on `n1`" in lines
    assert (
        "- Uncordon n2. Fits on 1 node. Note: The node may be under maintenance, and other pods can then also be scheduled on it."
    ) in lines
    assert "  `kubectl uncordon n2`" in lines


def test_a_card_has_what_to_do_and_where_it_comes_from() -> None:
    simulation = cluster(node("n1"), pod("a", cpu="2", on="n1"), pod("p", cpu="3"))
    card = card_of_pod(why_pending(simulation, "default/p"), None, origin="shop, 2026-11-25 10:00 UTC")
    lines = markdown_of(card).splitlines()
    [todo] = [line for line in lines if line.startswith("- **Next step:** ")]
    assert "`kubectl describe node n1`" in todo
    assert lines[-1] == "_shop, 2026-11-25 10:00 UTC, explained by schedviz_"
    page = html_of(card)
    assert "<b>Next step:</b>" in page
    assert "<code>kubectl describe node n1</code>" in page
    assert "<footer>shop, 2026-11-25 10:00 UTC · schedviz" in page


def test_a_message_of_the_simulated_scheduler_is_not_that_of_a_cluster() -> None:
    simulation = cluster(node("n1"), pod("p", cpu="9"))
    do(simulation, "run")
    explanation = why_pending(simulation, "default/p")
    assert explanation.said == explanation.message
    card = card_of_pod(explanation, None)
    for written in (markdown_of(card), html_of(card)):
        assert "reported the same message" not in written
        assert "n your cluster" not in written
    assert "In the simulation:" in markdown_of(card)


def test_the_overview_has_each_reason_with_its_groups() -> None:
    result = markdown_of(card_of_overview(overview(cluster(node("n1"), pod("a", cpu="64"), pod("b", cpu="64"), pod("c", cpu="9")))))
    assert result.splitlines() == [
        "### 3 pods are pending, for 1 reason",
        "",
        "**3 pods: The pods request more CPU than any node has**",
        "",
        "- kube-scheduler: `Insufficient cpu`",
        "- `default/a`, `default/b`: the pod requests 64 CPU, but the largest node has only 4 CPU",
        "- `default/c`: the pod requests 9 CPU, but the largest node has only 4 CPU",
        "- **Next step:** Lower the pod's request, or add a larger node: not even an empty node is large enough.",
    ]


def test_the_overview_has_the_command_the_yaml_and_the_caution_of_its_changes() -> None:
    simulation = cluster(node("n1"), node("n2", cordoned=True), pod("a", cpu="2", on="n1"), pod("p", cpu="3"), pod("q", cpu="3"))
    lines = markdown_of(card_of_overview(overview(simulation, with_changes=True))).splitlines()
    at = next(
        number for number, line in enumerate(lines) if line.startswith("- **Next step:** Uncordon n2; this is enough for only 1 of 2 pods")
    )
    assert lines[at + 1 : at + 3] == [
        "  `kubectl uncordon n2`",
        "- **Note:** The node may be under maintenance, and other pods can then also be scheduled on it.",
    ]
    tainted = cluster(node("n1", taints=("gpu=a:NoSchedule",)), pod("p"))
    for card in (
        card_of_overview(overview(tainted, with_changes=True)),
        card_of_pod(why_pending(tainted, "default/p"), smallest_change(tainted, "default/p")),
    ):
        assert '  - key: "gpu"' in markdown_of(card).splitlines()
        assert "- key: &quot;gpu&quot;" in html_of(card)
        assert png_of(card, "light").startswith(b"\x89PNG")


def test_markup_in_names_and_messages_is_escaped() -> None:
    assert text("<img src=x> [a](b) **c** # d") == r"\<img src=x\> \[a\](b) \*\*c\*\* \# d"
    assert code("a`b") == "`` a`b ``"
    # A line of its own would be a heading, a list or a block.
    assert text("not today\n\n1. click\r\n---") == "not today 1. click ---"
    assert code("a\n\n# b") == "`a  # b`"
    assert block("a ``` b\nc") == ["````", "a ``` b", "c", "````"]
    # Chats and issues make links of addresses.
    assert text("https://evil.example www.evil.example &lt;b") == r"https\://evil.example www\.evil.example \&lt;b"


def test_characters_that_reorder_or_hide_text_are_shown() -> None:
    tainted = node("n1", taints=["a\u202eb\u200b=c\u2028d:NoSchedule"])
    simulation = cluster(tainted, pod("p"))
    result = markdown_of(card_of_pod(why_pending(simulation, "default/p"), None))

    assert r"`a\u202eb\u200b=c\u2028d`" in result
    assert {letter for letter in result if not letter.isprintable()} == {"\n"}


def test_a_name_that_looks_like_a_mention_is_code_and_notifies_nobody() -> None:
    assert text("Node @here is tainted, see a/b#12, #3 and x@y.z") == "Node `@here` is tainted, see `a/b#12,` `#3` and `x@y.z`"
    assert text("@a`b @c`") == "`` @a`b `` `` @c` ``"
    assert with_code("ask @kubernetes about `kubectl get @all` and @here") == "ask `@kubernetes` about `kubectl get @all` and `@here`"


def html_tags(markdown: str) -> list[str]:
    """The parts of a Markdown text that a renderer passes on as HTML, or makes a link or an image of."""
    blocks = MarkdownIt("commonmark").parse(markdown)
    return [
        token.type for block_ in blocks for token in (block_, *(block_.children or ())) if token.type.startswith(("html", "link", "image"))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("marked", [with_code, text, code])
def test_no_combination_of_backticks_makes_html_of_names(marked: Callable[[str], str]) -> None:
    pieces = ("`", "``", "<img src=x>", "<b>", "@", "#1", "\\", " ", "a", "&lt;", "[a](b)", "`<i>`")
    chosen = random.Random(1)
    for _ in range(3000):
        words = "".join(chosen.choices(pieces, k=chosen.randrange(1, 9)))
        assert html_tags(f"- **Next step:** {marked(words)}") == [], words


def test_a_taint_with_backticks_stays_text_in_what_to_do() -> None:
    taint = "``b`<img alt>```"
    words = f"tolerate the taint {taint}, or run `kubectl describe node n1`"
    assert with_code(words).endswith(", or run `kubectl describe node n1`")
    assert html_tags(with_code(words)) == []
    simulation = cluster(node("n1", taints=(f"{taint}=a:NoSchedule",)), pod("p"))
    for card in (card_of_overview(overview(simulation)), card_of_overview(overview(simulation, with_changes=True))):
        result = markdown_of(card)
        assert "img alt" in result
        assert html_tags(result) == []


@pytest.mark.parametrize("draw", [markdown_of, html_of])
def test_a_card_shows_the_message_of_the_cluster_instead_of_a_different_simulated_one(draw: Callable[[Card], str]) -> None:
    card = card_of_pod(why_pending(cluster(node("n1"), pod("p", cpu="64")), "default/p"), None)
    simulated = card.message.partition(" preemption")[0]
    assert simulated == "0/1 nodes are available: 1 Insufficient cpu."
    alone = draw(card)
    assert "In the simulation" in alone or "Message in the simulation" in alone
    assert simulated in alone
    beside = draw(msgspec.structs.replace(card, said="0/7 nodes are available: 7 Insufficient cpu."))
    assert "0/7 nodes are available: 7 Insufficient cpu." in beside
    assert simulated not in beside
    assert "n your cluster" in beside


def test_the_label_of_what_to_do_is_there_once_and_an_arrow_for_further_reasons() -> None:
    message = "0/9 nodes are available: 4 Insufficient memory, 3 node(s) had untolerated taint {team: data}, 2 Too many pods."
    card = card_of_message(ParsedMessage("", "", message, parse_message(message)))
    lines = markdown_of(card).splitlines()
    assert [line.partition(" ")[2][:13] for line in lines if line.startswith(("- **Next step:**", "- →"))] == [
        "**Next step:*",
        "→ If the pod ",
        "→ Add a node;",
    ]


def test_the_messages_of_a_scheduler_and_an_autoscaler_have_a_line_each_below_both_sentences() -> None:
    reading = explain_text(
        "  Type     Reason             Age   From                Message\n"
        "  ----     ------             ----  ----                -------\n"
        "  Warning  FailedScheduling   30s   default-scheduler   0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.\n"
        "  Normal   NotTriggerScaleUp  26s   cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached\n"
    )
    first, *others = newest_of_each_source(reading.messages, seconds_of_age)
    card = card_of_message(first, autoscaler_messages=others, answer=reading.answer_of(first.pod))
    lines = markdown_of(card).splitlines()
    sentence = "None of the 3 nodes can run the pod: 2 do not have enough free CPU and 1 is cordoned."
    assert lines[0].startswith(f"### {sentence} The cluster autoscaler did not add a node: ")
    assert "\n".join(lines).count(sentence) == 1
    assert f"<p>{sentence}" not in html_of(card)
    assert lines[lines.index("```") + 1 :][:3] == [
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.",
        "cluster-autoscaler: pod didn't trigger scale-up: 1 max node group size reached",
        "```",
    ]
