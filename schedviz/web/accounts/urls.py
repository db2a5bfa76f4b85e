"""URL patterns of the account pages."""

from __future__ import annotations

from django.urls import path

from schedviz.web.accounts import admin_models, oidc, pages
from schedviz.web.accounts.admin_site import site

admin_models.register(site)

urlpatterns = [
    path("password/", pages.password_page, name="password-page"),
    path("invite/<str:secret>/", pages.invite_page, name="invite-page"),
    path("demo/sandbox/", pages.sandbox, name="sandbox"),
    path("oidc/login/", oidc.start_login, name="oidc-login"),
    path("oidc/callback/", oidc.callback, name="oidc-callback"),
    path("admin/", site.urls),
]
