"""URL patterns of the pages."""

from __future__ import annotations

from django.urls import include, path, re_path
from django.views.generic import RedirectView

from schedviz.web.documentation import views as documentation
from schedviz.web.pages import embed, views

urlpatterns = [
    path("", views.home, name="home"),
    path("sessions/", views.sessions_page, name="sessions-page"),
    # The path of a session in the REST API, for those who guess it.
    path("sessions/<uuid:session_id>/", RedirectView.as_view(pattern_name="session-page", query_string=True)),
    path("cases/", views.cases_page, name="cases-page"),
    path("experiments/", views.experiments_page, name="experiments-page"),
    path("experiments/<uuid:experiment_id>/", views.experiment_page, name="experiment-page"),
    path("lessons/", views.lessons_page, name="lessons-page"),
    path("", include("schedviz.web.rooms.urls")),
    path("", include("schedviz.web.accounts.urls")),
    path("s/<uuid:session_id>/", views.session_page, name="session-page"),
    path("s/<uuid:session_id>/panel/<str:panel>/", views.panel_page, name="panel-page"),
    path("embed/<uuid:session_id>/<str:panel>/", embed.embedded_panel, name="embedded-panel"),
    path("compare/", views.compare_page, name="compare-page"),
    path("docs/", documentation.documentation_page, name="documentation"),
    re_path(r"^docs/(?P<name>[\w./-]+\.(?:png|svg|json|ipynb))$", documentation.documentation_file, name="documentation-file"),
    path("docs/<path:name>/", documentation.documentation_page, name="documentation-page"),
    path("login/", views.login_page, name="login"),
    path("logout/", views.logout_page, name="logout"),
]
