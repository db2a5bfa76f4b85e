"""Pages without a script are in the reader's language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schedviz.web.pages import words

pytestmark = pytest.mark.django_db

TEMPLATES = Path(words.__file__).resolve().parent.parent / "templates/web"


def test_every_language_has_the_same_texts():
    assert all(set(known) == set(words.ENGLISH) for known in words.WORDS.values())
    placeholder = re.compile(r"\{\w+\}")
    for known in words.WORDS.values():
        assert {key: placeholder.findall(text) for key, text in known.items()} == {
            key: placeholder.findall(text) for key, text in words.ENGLISH.items()
        }


def test_every_text_of_a_template_exists():
    used = {name for template in TEMPLATES.glob("*.html") for name in re.findall(r"words\.(?!py)(\w+)", template.read_text())}

    assert used <= set(words.ENGLISH)


@pytest.mark.parametrize(
    ("accept_language", "language", "lead"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN", "看看 Pod 为什么在等待"),
        ("de-DE,de;q=0.9", "en", "See why"),
        ("zh-TW,en;q=0.5", "en", "See why"),
        ("", "en", "See why"),
    ],
)
def test_the_login_page_is_in_the_language_that_the_browser_prefers(client, accept_language, language, lead):
    response = client.get("/login/", headers={"Accept-Language": accept_language})

    assert f'<html lang="{language}"' in response.content.decode()
    assert lead in response.content.decode()


def test_a_chosen_language_has_precedence(client):
    client.cookies[words.COOKIE] = "zh-CN"

    response = client.get("/nowhere/", headers={"Accept-Language": "en"})

    assert response.status_code == 404
    assert "未找到" in response.content.decode()


def test_a_wrong_password_is_reported_in_the_users_language(client):
    client.cookies[words.COOKIE] = "zh-CN"

    response = client.post("/login/", {"username": "nobody", "password": "wrong"})

    assert "用户名或密码不正确" in response.content.decode()
