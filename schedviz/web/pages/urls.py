"""Addresses of pages."""

from __future__ import annotations

from django.urls import path

from schedviz.web.pages import views

urlpatterns = [
    path("", views.home, name="home"),
    path("sessions/", views.sessions_page, name="sessions-page"),
    path("s/<uuid:session_id>/", views.session_page, name="session-page"),
    path("login/", views.login_page, name="login"),
    path("logout/", views.logout_page, name="logout"),
]
