"""A small OpenID Connect provider on a real socket: it signs in the user in `who`, and can be configured to forge responses."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID = "schedviz"
CLIENT_SECRET = "a secret of the client"


class Provider:
    """`who` are the claims of the user; `cheat` changes the claims of the token, `forge` signs it with another key, and `described` changes
    the provider's configuration.
    """

    def __init__(self) -> None:
        self.who: dict[str, Any] = {"sub": "1234", "preferred_username": "ada"}
        self.cheat: dict[str, Any] = {}
        self.forge = ""
        self.described: dict[str, Any] = {}
        #: Additional members of token responses, and the target to which token requests are redirected.
        self.padding: dict[str, Any] = {}
        self.moved_to = ""
        #: The paths of requests for tokens.
        self.asked: list[str] = []
        #: Authorization requests by their code.
        self.codes: dict[str, dict[str, str]] = {}
        self.key = RSAKey.generate_key(2048, {"kid": "one"})
        self.other_key = RSAKey.generate_key(2048, {"kid": "one"})
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                match parts.path:
                    case "/.well-known/openid-configuration":
                        self._json(outer.metadata)
                    case "/keys":
                        self._json({"keys": [outer.key.as_dict(private=False)]})
                    case "/authorize":
                        code = secrets.token_urlsafe(8)
                        outer.codes[code] = query
                        self.send_response(302)
                        self.send_header("Location", f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}")
                        self.end_headers()
                    case _:
                        self.send_error(404)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.asked.append(self.path)
                if outer.moved_to and self.path != outer.moved_to:
                    self.send_response(307)
                    self.send_header("Location", outer.moved_to)
                    self.end_headers()
                    return
                sent = {name: values[0] for name, values in parse_qs(body).items()}
                grant = outer.codes.pop(sent.get("code", ""), None)
                basic = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode().replace("+", "%2B")
                known = self.headers.get("Authorization", "") == f"Basic {basic}"
                challenge = base64.urlsafe_b64encode(hashlib.sha256(sent.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
                if grant is None or not known or grant.get("code_challenge") != challenge or grant["redirect_uri"] != sent["redirect_uri"]:
                    self._json({"error": "invalid_grant"}, status=400)
                    return
                token = outer.token(grant.get("nonce", ""))
                self._json({"access_token": "x", "token_type": "Bearer", "expires_in": 60, "id_token": token, **outer.padding})

            def _json(self, body: Any, status: int = 200) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            **self.described,
        }

    def token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 60, "nonce": nonce, **self.who, **self.cheat}
        if self.forge == "none":
            head, body = (base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in ({"alg": "none"}, claims))
            return f"{head}.{body}."
        key = self.other_key if self.forge == "key" else self.key
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)

    @contextlib.contextmanager
    def running(self) -> Iterator[Provider]:
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()
