"""`/api/v1/quotas/`: how much you may have, and what you have."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions import quotas
from schedviz.web.actors import Verb
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for
from schedviz.web.api.resource import Resource
from schedviz.web.api.schema import NOT_MODIFIED, answer, refused


class Quotas(Resource):
    """What the sessions of one user, and all sessions, may have together."""

    @extend_schema(operation_id="getQuotas", responses={200: answer(schemas.QuotaList), 304: NOT_MODIFIED, **refused(401)})
    def get(self, request: Request) -> Response:
        """Read your quotas. Those of all sessions are told without what others use."""
        actor = actor_for(request, Verb.LIST)
        return versions.versioned(
            request,
            schemas.QuotaList(
                results=[
                    schemas.QuotaBody(
                        kind=one.kind, setting=one.setting, limit=one.limit or None, used=one.used if one.is_own else None, own=one.is_own
                    )
                    for one in quotas.quotas_of(actor.user_id)
                ]
            ),
        )
