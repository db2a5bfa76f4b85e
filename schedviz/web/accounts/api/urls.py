"""URL patterns of the accounts API."""

from __future__ import annotations

from django.urls import path

from schedviz.web.accounts.api.audit import Audit
from schedviz.web.accounts.api.invites import AccountInvites, Invites, OneAccountInvite, OneInvite
from schedviz.web.accounts.api.members import Members, OneMember

urlpatterns = [
    path("audit/", Audit.as_view(), name="audit"),
    path("invites/", AccountInvites.as_view(), name="account-invites"),
    path("invites/<int:invite_id>/", OneAccountInvite.as_view(), name="account-invite"),
    path("sessions/<uuid:session_id>/members/", Members.as_view(), name="members"),
    path("sessions/<uuid:session_id>/members/<str:user>/", OneMember.as_view(), name="member"),
    path("sessions/<uuid:session_id>/invites/", Invites.as_view(), name="invites"),
    path("sessions/<uuid:session_id>/invites/<int:invite_id>/", OneInvite.as_view(), name="invite"),
]
