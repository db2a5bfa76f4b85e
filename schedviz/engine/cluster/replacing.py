"""When an API server refuses to replace an object."""

from __future__ import annotations

from schedviz.engine.cluster.objects import qualified_resource
from schedviz.kube.kinds import BY_TYPE
from schedviz.kube.meta import KubeObject


def why_not_replaced(new: KubeObject, current: KubeObject | None) -> str:
    """Why the API server would refuse to replace an object; "": it would not."""
    resource = qualified_resource(BY_TYPE[type(new)].name)
    if current is None:
        return f'{resource} "{new.name}" not found'
    if new.metadata.resource_version != current.metadata.resource_version:
        return (
            f'Operation cannot be fulfilled on {resource} "{new.name}": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )
    return ""
