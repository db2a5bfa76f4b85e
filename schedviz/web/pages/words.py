"""The words of the pages that work before any script: signing in, and what is not there. The others are the front end's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.http import HttpRequest

#: The cookie in which the front end keeps the language that somebody chose.
COOKIE: Final = "schedviz_language"

ENGLISH: Final = MappingProxyType(
    {
        "sign_in": "Sign in",
        "lead": "See how the Kubernetes scheduler thinks.",
        "username": "Username",
        "password": "Password",
        "hint_before": "On your own machine, open the address that",
        "hint_after": "printed: it signs you in once.",
        "link_used": "This link was used before, or it is too old. Start schedviz up again for a new one.",
        "too_many": "Too many passwords were tried from here; wait a minute.",
        "wrong": "This name and password do not belong together.",
        "compare": "Compare",
        "not_found": "Not found",
        "not_found_text": "There is no such page, or it is not shared with you.",
        "not_embedded": "This may not be shown inside another site",
        "not_embedded_text": "A share link that works is needed, and this server must allow the other site (SCHEDVIZ_EMBED_ORIGINS).",
        "all_sessions": "All sessions",
        "sessions": "Sessions",
        "lessons": "Lessons",
        "rooms": "Rooms",
        "join_room": "Join a room",
        "not_built": "The front end is not built",
        "not_built_text": "Run make setup, then load this page again.",
        "no_script": "This page draws with JavaScript. The REST interface works without:",
        "change_password": "Change your password",
        "old_password": "Your password now",
        "new_password": "New password",
        "new_password_again": "New password, once more",
        "password_changed": "Your password is changed. Whoever was signed in elsewhere with the old one is signed out.",
        "no_password": "You sign in without a password here.",
        "invited": "You are invited",
        "invited_to_server": "You may make an account on this server.",
        "as_editor": "to look at it and to command it",
        "as_viewer": "to look at it",
        "accept": "Accept",
        "have_account": "Sign in with your account",
        "make_account": "Make an account",
        "too_many_made": "Too many were made from your address; try again in an hour.",
        "oidc_sign_in": "Sign in with",
        "oidc_failed": "Signing in did not work; try again.",
        "oidc_not_welcome": "You are known there, and have no account here. Ask whoever runs this server.",
        "sandbox": "Try it yourself",
        "sandbox_again": "Begin anew",
        "demo_text": "This is a demo that you look at.",
        "sandbox_text": "This is your sandbox. It is deleted after a while.",
        "demo_full": "All sandboxes are taken; try again in some minutes.",
    }
)

CHINESE: Final = MappingProxyType(
    {
        "sign_in": "登录",
        "lead": "看看 Kubernetes 调度器是怎样思考的。",
        "username": "用户名",
        "password": "密码",
        "hint_before": "在自己的机器上，打开",
        "hint_after": "打印的地址即可登录一次。",
        "link_used": "这个链接已经用过，或者太旧。重新运行 schedviz up 可得到新的链接。",
        "too_many": "从这里尝试的密码太多，请等一分钟。",
        "wrong": "用户名与密码不匹配。",
        "compare": "比较",
        "not_found": "没有找到",
        "not_found_text": "没有这个页面，或者它没有与你共享。",
        "not_embedded": "这里不能显示在其他网站中",
        "not_embedded_text": "需要有效的共享链接，并且此服务器要允许那个网站（SCHEDVIZ_EMBED_ORIGINS）。",
        "all_sessions": "全部会话",
        "sessions": "会话",
        "lessons": "课程",
        "rooms": "课堂",
        "join_room": "加入课堂",
        "not_built": "前端还没有构建",
        "not_built_text": "运行 make setup，然后重新加载此页。",
        "no_script": "此页面用 JavaScript 绘制。REST 接口无需脚本：",
        "change_password": "修改密码",
        "old_password": "当前密码",
        "new_password": "新密码",
        "new_password_again": "再次输入新密码",
        "password_changed": "密码已修改。用旧密码在别处登录的都已退出。",
        "no_password": "你在这里登录不用密码。",
        "invited": "你受到邀请",
        "invited_to_server": "你可以在此服务器上创建账户。",
        "as_editor": "可以查看并发送命令",
        "as_viewer": "可以查看",
        "accept": "接受",
        "have_account": "用已有的账户登录",
        "make_account": "创建账户",
        "too_many_made": "从你的地址创建得太多，请一小时后再试。",
        "oidc_sign_in": "登录方式：",
        "oidc_failed": "登录没有成功，请再试一次。",
        "oidc_not_welcome": "那里认识你，但你在这里没有账户。请联系此服务器的管理者。",
        "sandbox": "自己试试",
        "sandbox_again": "重新开始",
        "demo_text": "这是供查看的演示。",
        "sandbox_text": "这是你的沙盒，过一段时间会被删除。",
        "demo_full": "沙盒都已被占用，请几分钟后再试。",
    }
)

WORDS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({"en": ENGLISH, "zh-CN": CHINESE})

_TRADITIONAL: Final = {"hant", "tw", "hk", "mo"}


def language_of(request: HttpRequest) -> str:
    """The language that somebody chose in this browser, else the first that the browser asks for and that there is, else English."""
    chosen = request.COOKIES.get(COOKIE, "")
    if chosen in WORDS:
        return chosen
    for part in request.headers.get("Accept-Language", "").split(","):
        primary, *others = part.partition(";")[0].strip().lower().split("-")
        if primary == "en":
            return "en"
        if primary == "zh" and not _TRADITIONAL.intersection(others):
            return "zh-CN"
    return "en"


def words_of(request: HttpRequest) -> Mapping[str, str]:
    """The words in the reader's language."""
    return WORDS[language_of(request)]
