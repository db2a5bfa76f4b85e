"""The texts of the pages that work without scripts: login and error pages. The front end has all others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from django.http import HttpRequest

#: The cookie with the language that was chosen in the front end.
COOKIE: Final = "schedviz_language"

ENGLISH: Final = MappingProxyType(
    {
        "sign_in": "Sign in",
        "lead": "See why a pod is pending, and how the Kubernetes scheduler makes its decisions.",
        "username": "Username",
        "password": "Password",
        "hint_before": "On your own machine, open the URL printed by",
        "hint_after": "to sign in. It works once. Restart schedviz to get a new one.",
        "link_used": "This sign-in link was already used or has expired. Restart schedviz to get a new one.",
        "too_many": "Too many sign-in attempts from your address. Try again in a minute.",
        "too_many_for_account": (
            "Too many wrong passwords for this account. Try again in an hour, or from a network where you signed in recently."
        ),
        "wrong": "Incorrect username or password.",
        "compare": "Compare",
        "not_found": "Not found",
        "not_found_text": "This page does not exist, or it is not shared with you.",
        "not_embedded": "This page cannot be embedded here",
        "not_embedded_text": "Embedding requires an active share link, and the site must be listed in SCHEDVIZ_EMBED_ORIGINS.",
        "start_page": "Start page",
        "sessions": "Sessions",
        "lessons": "Lessons",
        "cases": "Everyday cases",
        "experiments": "Experiments",
        "cases_short": "Cases",
        "docs": "Docs",
        # Of pages in another language: that the documentation is in English.
        "docs_language": "",
        "glossary": "Glossary",
        "glossary_lead": "On a session page, hover over, focus or tap a dotted term to see its definition.",
        "glossary_search": "Find a term",
        "glossary_none": "No matching term.",
        "rooms": "Rooms",
        "join_room": "Join a room",
        "not_built": "The front end is not built",
        "not_built_text": "Run make setup, then load this page again.",
        "no_script": "This page requires JavaScript. The REST API works without it:",
        "change_password": "Change your password",
        "old_password": "Current password",
        "new_password": "New password",
        "new_password_again": "Confirm new password",
        "password_changed": "Your password was changed. All other browsers signed in with the old password were signed out.",
        "no_password": "Your account has no password: you sign in another way.",
        "invited": "You are invited",
        "invited_to_server": "You can create an account on this server.",
        "as_editor": "can view and edit",
        "as_viewer": "can view",
        "accept": "Accept",
        "have_account": "Sign in with your account",
        "make_account": "Create an account",
        "too_many_made": "Too many accounts were created from your address. Try again in an hour.",
        "reserved_name": "This username is reserved. Choose another one.",
        "oidc_sign_in": "Sign in with",
        "oidc_failed": "Sign-in failed. Try again.",
        "oidc_not_welcome": "Your identity was confirmed, but you have no account on this server. Ask its administrator for one.",
        "sandbox": "Try it yourself",
        "sandbox_again": "Start over",
        "too_many_restarts": "You can start over {limit} times a minute. Your sandbox is unchanged; try again in a minute.",
        "demo_text": "This demo is read-only.",
        "sandbox_text": "This is your sandbox. It is deleted automatically after a while.",
        "demo_full": "All sandboxes are in use. Try again in a few minutes.",
    }
)

CHINESE: Final = MappingProxyType(
    {
        "sign_in": "登录",
        "lead": "看看 Pod 为什么在等待，以及 Kubernetes 调度器怎样做出决定。",
        "username": "用户名",
        "password": "密码",
        "hint_before": "在自己的机器上，打开",
        "hint_after": "打印的地址即可登录。它只能用一次，重新启动 schedviz 可得到新的。",
        "link_used": "这个登录链接已经用过或已过期。重新启动 schedviz 可得到新的链接。",
        "too_many": "从你的地址登录的次数太多，请一分钟后再试。",
        "too_many_for_account": "此账户的错误密码太多，请一小时后再试，或在你最近登录过的网络上登录。",
        "wrong": "用户名或密码不正确。",
        "compare": "比较",
        "not_found": "未找到",
        "not_found_text": "这个页面不存在，或者没有与你共享。",
        "not_embedded": "此页面不能嵌入这里",
        "not_embedded_text": "嵌入需要有效的共享链接，并且服务器须在 SCHEDVIZ_EMBED_ORIGINS 中允许那个网站。",
        "start_page": "首页",
        "sessions": "会话",
        "lessons": "课程",
        "cases": "常见案例",
        "experiments": "实验",
        "cases_short": "案例",
        "docs": "文档",
        "docs_language": "文档只有英文版。术语表、课程和案例有中文版。",
        "glossary": "术语表",
        "glossary_lead": "在会话页面上，将指针停在带点状下划线的术语上，或点按它，即可看到含义。",
        "glossary_search": "查找术语",
        "glossary_none": "没有匹配的术语。",
        "rooms": "课堂",
        "join_room": "加入课堂",
        "not_built": "前端还没有构建",
        "not_built_text": "运行 make setup，然后重新加载此页。",
        "no_script": "此页面需要 JavaScript。REST API 不需要：",
        "change_password": "修改密码",
        "old_password": "当前密码",
        "new_password": "新密码",
        "new_password_again": "再次输入新密码",
        "password_changed": "密码已修改。使用旧密码登录的其他浏览器都已退出。",
        "no_password": "你的账户没有密码：你以其他方式登录。",
        "invited": "你受到邀请",
        "invited_to_server": "你可以在此服务器上创建账户。",
        "as_editor": "可查看和操作",
        "as_viewer": "可查看",
        "accept": "接受",
        "have_account": "用已有的账户登录",
        "make_account": "创建账户",
        "too_many_made": "从你的地址创建的账户太多，请一小时后再试。",
        "reserved_name": "这个用户名是保留的，请换一个。",
        "oidc_sign_in": "登录方式：",
        "oidc_failed": "登录失败，请重试。",
        "oidc_not_welcome": "身份提供方已确认你的身份，但你在此服务器上没有账户。请联系此服务器的管理员。",
        "sandbox": "自己试试",
        "sandbox_again": "重新开始",
        "too_many_restarts": "每分钟最多可以重新开始 {limit} 次。你的沙盒没有改变，请一分钟后再试。",
        "demo_text": "这个演示为只读。",
        "sandbox_text": "这是你的沙盒，一段时间后会自动删除。",
        "demo_full": "沙盒都已被占用，请几分钟后再试。",
    }
)

WORDS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({"en": ENGLISH, "zh-CN": CHINESE})

_TRADITIONAL: Final = {"hant", "tw", "hk", "mo"}


def language_of(request: HttpRequest) -> str:
    """The language that was chosen in this browser, else the first supported one that the browser accepts, else English."""
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
    """The texts in the language of the browser."""
    return WORDS[language_of(request)]
