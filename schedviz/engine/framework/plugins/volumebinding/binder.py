"""What VolumeBinding does with claims and volumes: sort them, assume them, write them, and wait for the controller.

Upstream: framework/plugins/volumebinding/binder.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schedviz.engine.framework.interface import Handle
from schedviz.engine.framework.plugins.helper.csi_translation import TranslationError, in_tree_plugin, migrated_plugins, translated
from schedviz.engine.framework.plugins.volumebinding.assume_cache import AssumeError, ClaimCache, VolumeCache
from schedviz.engine.framework.plugins.volumebinding.find_volumes import VolumeSearch
from schedviz.engine.framework.plugins.volumebinding.reach import local_node_names, why_out_of_reach
from schedviz.engine.framework.plugins.volumebinding.state import BindingInfo, PodVolumeClaims, PodVolumes
from schedviz.engine.framework.status import StatusError
from schedviz.kube.claims import (
    BIND_COMPLETED,
    SELECTED_NODE,
    WAIT_FOR_FIRST_CONSUMER,
    annotated,
    bound_to,
    claim_name,
    class_of_claim,
    is_fully_bound,
    why_not_for_pod,
)
from schedviz.kube.core import Node, Pod
from schedviz.kube.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from schedviz.kube.volumes import Volume
