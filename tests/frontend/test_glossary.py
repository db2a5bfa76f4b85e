"""The page explains terms as docs/glossary.md does."""

from __future__ import annotations

from frontend.scripts.generate_glossary import TARGET, generate, terms


def test_the_terms_of_the_page_are_those_of_the_glossary() -> None:
    assert TARGET.read_text("utf-8") == generate()


def test_a_row_has_its_names_in_both_languages_and_the_short_forms_of_labels() -> None:
    page = "## Kubernetes and kube-scheduler\n\n| English | 中文 | meaning · 含义 |\n|---|---|---|\n| assumed pod | 假定的 Pod(假定) | a pod · 一个 Pod |\n"
    (term,) = terms(page)
    assert term == {
        "title": {"en": "assumed pod", "zh-CN": "假定的 Pod(假定)"},
        "names": ["assumed pod", "assumed", "假定的 Pod", "假定"],
        "meaning": {"en": "a pod", "zh-CN": "一个 Pod"},
        "inSentences": True,
    }
