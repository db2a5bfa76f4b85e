"""`/api/v1/quotas/`: quotas and their use."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from schedviz.sessions import quotas
from schedviz.web.api import schemas, versions
from schedviz.web.api.access import actor_for
from schedviz.web.api.openapi import NOT_MODIFIED, error_responses, response
from schedviz.web.api.resource import Resource
from schedviz.web.auth.actors import Verb


class Quotas(Resource):
    """The quotas of one user, and of all sessions together."""

    @extend_schema(operation_id="getQuotas", responses={200: response(schemas.QuotaList), 304: NOT_MODIFIED, **error_responses(401)})
    def get(self, request: Request) -> Response:
        """Read your quotas. For quotas of the whole server, the use is not included."""
        actor = actor_for(request, Verb.LIST)
        return versions.versioned(
            request,
            schemas.QuotaList(
                results=[
                    schemas.QuotaBody(
                        kind=quota.kind,
                        setting=quota.setting,
                        limit=quota.limit or None,
                        used=quota.used if quota.is_own else None,
                        own=quota.is_own,
                    )
                    for quota in quotas.quotas_of(actor.user_id)
                ]
            ),
        )
