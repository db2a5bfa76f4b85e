"""Authlib's OpenID Connect client with stricter checks: of the provider's configuration, the audience, and the age of its keys."""

from __future__ import annotations

from typing import Any, Final

from authlib.integrations.django_client import DjangoOAuth2App
from joserfc.errors import BadSignatureError

from schedviz.web.accounts.oidc_documents import Document, LimitedAdapter

#: Prefixes of the signature algorithms with a public key. Others need no key ("none"), or the client's secret.
_PUBLIC_KEY_ALGORITHMS: Final = ("RS", "PS", "ES", "Ed")


class WrongProvider(Exception):
    """The configuration is not that of the configured issuer."""


class ProviderClient(DjangoOAuth2App):  # type: ignore[misc,unused-ignore]
    """The client of one provider. `issuer` is the configured one."""

    def __init__(self, *args: Any, issuer: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._issuer = issuer
        self._configuration = Document(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        self._keys: Document | None = None

    def load_server_metadata(self) -> dict[str, Any]:
        """The provider's configuration. Raises `WrongProvider` if it names another issuer (OpenID Connect Discovery 1.0, 4.3)."""
        metadata = self._configuration.read()
        named = metadata.get("issuer")
        if not isinstance(named, str) or named.rstrip("/") != self._issuer.rstrip("/"):
            raise WrongProvider(f"its configuration names the issuer {named!r} instead of {self._issuer!r}")
        listed = metadata.get("id_token_signing_alg_values_supported")
        usable = (
            [algorithm for algorithm in listed if str(algorithm).startswith(_PUBLIC_KEY_ALGORITHMS)] if isinstance(listed, list) else []
        )
        return {**metadata, "id_token_signing_alg_values_supported": usable or ["RS256"]}

    def fetch_jwk_set(self, force: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 -- Authlib's signature
        """The provider's keys. Authlib calls it with `force` for a token with an unknown key."""
        url = str(self.load_server_metadata()["jwks_uri"])
        if self._keys is None or self._keys.url != url:
            self._keys = Document(url)
        return self._keys.read(refetch=force)

    def _get_oauth_client(self, **metadata: Any) -> Any:
        session = super()._get_oauth_client(**metadata)
        for scheme in ("https://", "http://"):
            session.mount(scheme, LimitedAdapter())
        return session

    def parse_id_token(
        self, token: dict[str, Any], nonce: str, claims_options: Any = None, claims_cls: Any = None, leeway: int = 120
    ) -> Any:
        """The verified claims. The audience must include this client: Authlib accepts an empty one."""
        options = claims_options or {
            "iss": {"essential": True, "value": self.load_server_metadata()["issuer"]},
            "aud": {"essential": True, "value": self.client_id},
        }
        try:
            return super().parse_id_token(token, nonce, options, claims_cls, leeway)
        except BadSignatureError:
            # A provider may replace a key and keep its ID, or give its keys no IDs.
            self.fetch_jwk_set(force=True)
            return super().parse_id_token(token, nonce, options, claims_cls, leeway)
