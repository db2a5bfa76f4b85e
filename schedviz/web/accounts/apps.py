"""The Django app of accounts."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "schedviz.web.accounts"
    label = "accounts"
    verbose_name = "schedviz accounts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from schedviz.sessions import quotas, senders
        from schedviz.sessions.hosting import sweep
        from schedviz.web.accounts import signals

        signals.connect()
        quotas.register_user_limits(_limits_of)
        senders.register_visitors(_networks_of)
        sweep.register_periodic_sweep(_sweep)


def _limits_of(user_id: int) -> dict[str, int]:
    from schedviz.web.accounts.demo import limits_of

    return limits_of(user_id)


def _networks_of(user_ids: Collection[int]) -> Mapping[int, str]:
    from schedviz.web.accounts.demo import networks_of

    return networks_of(user_ids)


def _sweep() -> None:
    # Imported here because workers, which never sweep, must not load the web server's modules.
    from schedviz.sessions.hosting.steady_clock import CLOCK
    from schedviz.web.accounts import audit, demo, login_sessions

    if CLOCK.is_steady():
        audit.delete_expired()
        demo.sweep_visitors()
        login_sessions.delete_expired()
