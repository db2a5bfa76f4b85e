"""The front end's files, as the web server serves them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from schedviz.web.middleware import StaticFiles

SCRIPT = b"export const answer = 42;\n" * 200


@pytest.fixture
def ask(tmp_path: Path, settings):
    folder = tmp_path / "app" / "assets"
    folder.mkdir(parents=True)
    (folder / "main-abcdEFGH.js").write_bytes(SCRIPT)
    (folder / "main-abcdEFGH.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "plain.js").write_bytes(SCRIPT)
    settings.STATICFILES_DIRS = [str(tmp_path)]
    from django.contrib.staticfiles import finders

    finders.get_finder.cache_clear()
    middleware = StaticFiles(lambda _request: HttpResponse(status=404))

    def ask(name: str, **headers: str) -> HttpResponse:
        return middleware(RequestFactory().get(f"/static/app/assets/{name}", headers=headers))

    yield ask
    finders.get_finder.cache_clear()


def test_a_file_with_a_hash_in_its_name_is_cached_for_ever(ask):
    assert "immutable" in ask("main-abcdEFGH.js")["Cache-Control"]
    assert "immutable" not in ask("plain.js")["Cache-Control"]


def test_a_text_is_compressed_for_clients_that_accept_it(ask):
    packed = ask("main-abcdEFGH.js", accept_encoding="gzip, br")
    plain = ask("main-abcdEFGH.js")

    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content == SCRIPT
    assert packed["Content-Length"] == str(len(packed.content))
    assert "Accept-Encoding" in packed["Vary"]
    assert "Content-Encoding" not in plain
    assert not packed.streaming


def test_responses_share_the_cached_content_of_a_file_until_it_changes(ask, tmp_path):
    assert ask("plain.js").content is ask("plain.js").content
    assert ask("plain.js", range="bytes=0-5").content == SCRIPT[:6]

    (tmp_path / "app" / "assets" / "plain.js").write_bytes(b"changed")
    assert ask("plain.js").content == b"changed"


def test_an_unchanged_file_is_not_sent_again(ask):
    first = ask("plain.js")

    again = ask("plain.js", if_modified_since=first["Last-Modified"])

    assert (again.status_code, again.content) == (304, b"")


def test_every_text_of_the_built_front_end_has_a_gzip_file_beside_it() -> None:
    app = Path(__file__).parents[2] / "schedviz/web/static/app"

    assert [path.name for path in app.rglob("*") if path.suffix in {".js", ".css", ".svg"} and not Path(f"{path}.gz").is_file()] == []


def test_a_missing_static_file_is_handled_by_the_pages(ask):
    assert ask("nothing.js").status_code == 404
