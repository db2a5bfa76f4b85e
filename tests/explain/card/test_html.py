"""Cards as HTML: one file that loads nothing, in which names and messages are text."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from schedviz.explain.card.build import card_of_overview, card_of_pod
from schedviz.explain.card.html import POLICY, html_of
from schedviz.explain.card.model import Bar, Card, Chart, Fix, Line, Reason
from schedviz.explain.changes import smallest_change
from schedviz.explain.messages.parsed_message import one_full_stop
from schedviz.explain.pending.overview import overview
from schedviz.explain.why import why_pending
from tests.explain.small_clusters import cluster, node, pod


class Parsed(HTMLParser):
    """The tags of a page, its attributes that load something, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [name for name, _ in attrs if name in ("src", "href", "style") or name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def with_everywhere(text: str) -> Card:
    chart = Chart("resource", 3, (Bar(text, 1, 2, text),))
    reason = Reason(3, text, plugin=text, lines=(Line(text, (text,)),), nodes=(text,), charts=(chart,))
    return Card(text, "pending", text, "nodes", (reason, reason), message=text, said=text, others=text, fixes=(Fix(text, text, (text,)),))


def test_a_page_has_the_sentence_the_numbers_a_bar_for_each_node_and_the_fix() -> None:
    simulation = cluster(node("n1"), node("n2", cordoned=True), pod("p", cpu="3"), pod("a", cpu="2", on="n1"))
    explanation = why_pending(simulation, "default/p")
    page = html_of(card_of_pod(explanation, smallest_change(simulation, "default/p", explanation)))
    found = Parsed(page)
    assert explanation.sentence.startswith("default/p is pending: the pod requests 3 CPU, ")
    assert any(text.startswith("The pod requests 3 CPU, but n1 has only 2 of its 4 CPU free") for text in found.texts)
    assert "1 node: Insufficient cpu" in found.texts
    assert "2 of 4 free" in found.texts
    assert page.count('role="img"') == 1
    assert "kubectl uncordon n2" in found.texts
    assert one_full_stop(explanation.message) in found.texts


def test_the_overview_has_each_reason_with_its_pods() -> None:
    found = Parsed(html_of(card_of_overview(overview(cluster(node("n1"), pod("a", cpu="64"), pod("b", cpu="64"))))))
    assert "2 pods are pending, for 1 reason" in found.texts
    assert "2 pods: The pod requests 64 CPU, but the largest node has only 4 CPU" in found.texts
    assert "kube-scheduler: Insufficient cpu" in found.texts
    assert {"default/a", "default/b"} <= set(found.texts)


def test_a_page_loads_nothing_and_allows_only_its_own_style() -> None:
    page = html_of(with_everywhere("a"))
    assert Parsed(page).loads == []
    assert "<script" not in page
    assert POLICY.startswith("default-src 'none'; style-src 'sha256-")


# Backticks mark code in the sentences of a card; those of names are replaced before it is built.
@given(
    st.text(st.characters(exclude_characters="`"), min_size=1)
    | st.sampled_from(["</style><script>alert(1)</script>", "\"onload='x'", "<!--", "&lt;", "]]>"])
)
def test_names_and_messages_are_escaped(text: str) -> None:
    plain, hostile = Parsed(html_of(with_everywhere("a"))), Parsed(html_of(with_everywhere(text)))
    assert hostile.tags == plain.tags
    assert hostile.loads == []
