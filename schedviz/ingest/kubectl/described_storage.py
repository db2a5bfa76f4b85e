"""Makes PersistentVolumes, claims, StorageClasses and nodes of the descriptions and tables of kubectl in a text.

A description has less than the object: that of a claim without a volume lacks its requested size and access modes, and a table lacks the
node affinity of volumes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from schedviz.ingest.errors import IngestError
from schedviz.ingest.kubectl.described_objects import Fields, described_fields, pairs, text_of, texts_of
from schedviz.ingest.limits import Limits
from schedviz.ingest.manifests.embedded_objects import EmbeddedObjectsReader
from schedviz.kube import codec
from schedviz.kube.core import Node
from schedviz.kube.meta import KubeObject
from schedviz.kube.storage import PersistentVolume, PersistentVolumeClaim, StorageClass

_HOSTNAME: Final = "kubernetes.io/hostname"
_IS_DEFAULT: Final = {"storageclass.kubernetes.io/is-default-class": "true"}
#: In a longer text, objects in YAML are not looked for: parsing them takes seconds.
_MAX_LENGTH_WITH_YAML: Final = 100_000
_KINDS: Final = ("PersistentVolume", "PersistentVolumeClaim", "StorageClass")
_MODES: Final = {"RWO": "ReadWriteOnce", "ROX": "ReadOnlyMany", "RWX": "ReadWriteMany", "RWOP": "ReadWriteOncePod"}
_OPERATORS: Final = {"in": "In", "notin": "NotIn", "exists": "Exists", "doesnotexist": "DoesNotExist", "gt": "Gt", "lt": "Lt"}
#: A term of a volume's node affinity: `    Term 0:        topology.kubernetes.io/zone in [a, b]`; further labels are on lines of their own.
_TERM: Final = re.compile(r"^[ \t]*+Term \d++:[ \t]*+(?P<rest>.*+)$")
_LABEL: Final = re.compile(r"^[ \t]*+(?P<key>[\w./-]++) (?P<operator>[a-z]++)(?: \[(?P<values>[^\]]*+)\])?[ \t]*+$")
#: The header of a table that is read, and one of its column names.
_HEADER: Final = re.compile(r"^[ \t]*+(?:NAMESPACE[ \t]{2,}+)?NAME[ \t]{2,}+[A-Z][A-Z \t()-]*+$", re.MULTILINE)
_COLUMN: Final = re.compile(r"[A-Z()-]++(?: [A-Z()-]++)*+")
#: The kind before the names of a table of several kinds: `persistentvolumeclaim/data`.
_KIND: Final = re.compile(r"^[a-z0-9.]++/")
#: The namespace in the command before a table.
_NAMESPACE: Final = re.compile(r"(?:kubectl|oc|k)\b.*(?:[ \t]-n|--namespace)(?:[ \t]++|=)?(?P<namespace>[a-z0-9-]++)")
#: A command that finds no StorageClass.
_NO_CLASSES: Final = re.compile(r"\bget (?:sc|storageclass(?:es)?)\b[^\n]{0,40}\n[ \t]{0,20}No resources found")
_BEFORE_TABLE: Final = 400
_NAME: Final = re.compile(r"[a-z0-9*][\w.*/-]*+[ \t]")
#: The most objects of a kind that are kept.
_MAX_OBJECTS: Final = 200


class TextStorage(msgspec.Struct, frozen=True):
    """What a text shows about volumes, and the nodes that it names."""

    volumes: tuple[PersistentVolume, ...] = ()
    claims: tuple[PersistentVolumeClaim, ...] = ()
    classes: tuple[StorageClass, ...] = ()
    #: Of a table they have only the label with their name.
    nodes: tuple[Node, ...] = ()
    #: The pods that use a claim, both as `namespace/name`.
    used_by: dict[str, tuple[str, ...]] = {}
    #: The default StorageClass; "": the text shows none.
    default_class: str = ""
    #: Whether a table lists the StorageClasses.
    lists_classes: bool = False


def storage_in(text: str) -> TextStorage:
    """The volumes, claims, StorageClasses and nodes of a text, each once: a description comes before a row.

    Marks of terminals have to be removed from the text before.
    """
    contents: dict[tuple[str, str], dict[str, Any]] = {}
    used_by: dict[str, tuple[str, ...]] = {}
    for fields in described_fields(text):
        content = _storage_object(fields) or _node(fields)
        if content is None:
            continue
        contents.setdefault(_identity(content), content)
        if users := texts_of(fields, "Used By") or texts_of(fields, "Mounted By"):
            namespace = content["metadata"].get("namespace", "default")
            used_by[f"{namespace}/{content['metadata']['name']}"] = tuple(f"{namespace}/{user}" for user in users)
    for content in _objects_among(text):
        contents.setdefault(_identity(content), content)
    rows = list(_rows(text))
    for kind, row in rows:
        content = _OF_ROW[kind](row)
        contents.setdefault(_identity(content), content)
    _correct_namespaces(contents)
    default = next(
        (content["metadata"]["name"] for content in contents.values() if content["metadata"].get("annotations") == _IS_DEFAULT), ""
    )
    objects = [known for content in contents.values() if (known := _object(content)) is not None]
    return TextStorage(
        tuple(each for each in objects if isinstance(each, PersistentVolume))[:_MAX_OBJECTS],
        tuple(each for each in objects if isinstance(each, PersistentVolumeClaim))[:_MAX_OBJECTS],
        tuple(each for each in objects if isinstance(each, StorageClass))[:_MAX_OBJECTS],
        tuple(each for each in objects if isinstance(each, Node))[:_MAX_OBJECTS],
        used_by,
        default,
        any(kind == "StorageClass" for kind, _ in rows) or _NO_CLASSES.search(text) is not None,
    )


def _objects_among(text: str) -> Iterator[dict[str, Any]]:
    """The volumes, claims and StorageClasses in YAML or JSON among the text."""
    if len(text) > _MAX_LENGTH_WITH_YAML or not any(kind in text for kind in _KINDS):
        return
    try:
        for item in EmbeddedObjectsReader().read("text", text.encode("utf-8", "replace"), Limits()):
            content = getattr(item, "content", None)
            if (
                isinstance(content, dict)
                and content.get("kind") in _KINDS
                and isinstance(content.get("metadata"), dict)
                and content["metadata"].get("name")
            ):
                yield {"spec": {}, **content}
    except (IngestError, RecursionError):
        return


def _correct_namespaces(contents: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Give claims of a table without namespaces the namespace that their volume has."""
    for (kind, _), content in list(contents.items()):
        volume = contents.get(("PersistentVolume", f"/{content['spec'].get('volumeName')}")) if kind == "PersistentVolumeClaim" else None
        reference = volume["spec"].get("claimRef") if volume is not None else None
        if reference and content["metadata"]["namespace"] == "default" and reference["name"] == content["metadata"]["name"]:
            content["metadata"]["namespace"] = reference["namespace"]


def described_storage(text: str) -> Iterator[dict[str, Any]]:
    """The described volumes, claims and StorageClasses of a text."""
    return (content for fields in described_fields(text) if (content := _storage_object(fields)) is not None)


def _storage_object(fields: Fields) -> dict[str, Any] | None:
    """The volume, the claim or the StorageClass of a description; None if it is of something else."""
    if "Provisioner" in fields and "VolumeBindingMode" in fields:
        return _class(
            text_of(fields, "Name"),
            text_of(fields, "Provisioner"),
            text_of(fields, "VolumeBindingMode"),
            is_default=text_of(fields, "IsDefaultClass").lower() == "yes",
        )
    if "Access Modes" not in fields or "Capacity" not in fields:
        return None
    if "Reclaim Policy" in fields:
        return _volume(
            text_of(fields, "Name"),
            labels=pairs(texts_of(fields, "Labels"), "="),
            capacity=text_of(fields, "Capacity"),
            modes=text_of(fields, "Access Modes"),
            policy=text_of(fields, "Reclaim Policy"),
            status=text_of(fields, "Status"),
            claim=text_of(fields, "Claim"),
            storage_class=text_of(fields, "StorageClass"),
            mode=text_of(fields, "VolumeMode"),
            terms=list(_terms(fields.get("Node Affinity", ()))),
        )
    return _claim(
        text_of(fields, "Namespace"),
        text_of(fields, "Name"),
        status=text_of(fields, "Status"),
        volume=text_of(fields, "Volume"),
        modes=text_of(fields, "Access Modes"),
        storage_class=text_of(fields, "StorageClass"),
        mode=text_of(fields, "VolumeMode"),
    )


def _object(content: dict[str, Any]) -> KubeObject | None:
    try:
        return codec.from_dict(content)
    except ValueError:
        return None


def _identity(content: dict[str, Any]) -> tuple[str, str]:
    return content["kind"], f"{content['metadata'].get('namespace', '')}/{content['metadata']['name']}"


def _node(fields: Fields) -> dict[str, Any] | None:
    """The node of a description, which may be cut: its name and its labels."""
    if "Roles" not in fields:
        return None
    return {"kind": "Node", "metadata": {"name": text_of(fields, "Name"), "labels": pairs(texts_of(fields, "Labels"), "=")}}


def _volume(
    name: str,
    *,
    capacity: str,
    modes: str,
    policy: str,
    status: str,
    claim: str,
    storage_class: str,
    mode: str = "",
    labels: dict[str, str] | None = None,
    terms: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    namespace, _, claim_name = claim.partition("/")
    spec: dict[str, Any] = {
        "capacity": {"storage": capacity} if capacity else {},
        "accessModes": _access_modes(modes),
        "persistentVolumeReclaimPolicy": policy,
        "storageClassName": storage_class,
    }
    if claim_name:
        spec["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim_name}
    if mode:
        spec["volumeMode"] = mode
    if terms:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": list(terms)}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"phase": status.partition(" ")[0]},
    }


def _claim(namespace: str, name: str, *, status: str, volume: str, modes: str, storage_class: str, mode: str = "") -> dict[str, Any]:
    spec: dict[str, Any] = {"accessModes": _access_modes(modes), "volumeName": volume}
    if storage_class:
        spec["storageClassName"] = storage_class
    if mode:
        spec["volumeMode"] = mode
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if status == "Bound" else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace or "default", "annotations": bound},
        "spec": spec,
        "status": {"phase": status.partition(" ")[0]},
    }


def _class(name: str, provisioner: str, binding_mode: str, *, is_default: bool) -> dict[str, Any]:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": _IS_DEFAULT if is_default else {}},
        "provisioner": provisioner,
        "volumeBindingMode": binding_mode or "Immediate",
    }


def _access_modes(text: str) -> list[str]:
    return [_MODES.get(mode, mode) for part in text.split(",") if (mode := part.strip())]


def _terms(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The terms of a described node affinity."""
    term: dict[str, Any] | None = None
    for line in lines:
        begins = _TERM.match(line)
        if begins is not None:
            if term is not None:
                yield term
            term = {"matchExpressions": []}
        label = _LABEL.match(begins["rest"] if begins is not None else line)
        if term is not None and label is not None and label["operator"] in _OPERATORS:
            values = [value.strip() for value in (label["values"] or "").split(",") if value.strip()]
            term["matchExpressions"].append({"key": label["key"], "operator": _OPERATORS[label["operator"]], "values": values})
    if term is not None:
        yield term


def _rows(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of tables of volumes, claims, StorageClasses and nodes, by column, with their kind. Cells may be empty."""
    for header in _HEADER.finditer(text):
        columns = [(column[0], column.start()) for column in _COLUMN.finditer(header[0])]
        kind = _kind_of({name for name, _ in columns})
        if not kind:
            continue
        before = text[max(0, header.start() - _BEFORE_TABLE) : header.start()].rstrip().rpartition("\n")[2]
        command = _NAMESPACE.search(before)
        of_command = {"NAMESPACE": command["namespace"]} if command is not None else {}
        indent = len(header[0]) - len(header[0].lstrip())
        for line in _lines_after(text, header.end()):
            if line[:indent].strip() or _NAME.match(line, indent) is None or "  " not in line.strip():
                break
            ends = [start for _, start in columns[1:]] + [len(line)]
            cells = {column: line[start:end].strip() for (column, start), end in zip(columns, ends, strict=True)}
            yield kind, of_command | cells | {"NAME": _KIND.sub("", cells["NAME"])}


def _lines_after(text: str, offset: int) -> Iterator[str]:
    """The lines below the line that ends at an offset, at most `_MAX_OBJECTS`."""
    for _ in range(_MAX_OBJECTS):
        if offset < 0:
            return
        newline = text.find("\n", offset + 1)
        yield text[offset + 1 : newline if newline >= 0 else len(text)]
        offset = newline


def _kind_of(columns: set[str]) -> str:
    """The kind of a table by its columns; "" for another one."""
    if {"CAPACITY", "RECLAIM POLICY", "CLAIM"} <= columns:
        return "PersistentVolume"
    if {"VOLUME", "CAPACITY", "STORAGECLASS"} <= columns:
        return "PersistentVolumeClaim"
    if "PROVISIONER" in columns:
        return "StorageClass"
    return "Node" if {"STATUS", "ROLES", "VERSION"} <= columns else ""


def _row_of_volume(row: dict[str, str]) -> dict[str, Any]:
    return _volume(
        row["NAME"],
        capacity=row["CAPACITY"],
        modes=row.get("ACCESS MODES", row.get("ACCESSMODES", "")),
        policy=row["RECLAIM POLICY"],
        status=row.get("STATUS", ""),
        claim=row["CLAIM"],
        storage_class=row.get("STORAGECLASS", ""),
    )


def _row_of_claim(row: dict[str, str]) -> dict[str, Any]:
    return _claim(
        row.get("NAMESPACE", ""),
        row["NAME"],
        status=row.get("STATUS", ""),
        volume=row["VOLUME"],
        modes=row.get("ACCESS MODES", row.get("ACCESSMODES", "")),
        storage_class=row["STORAGECLASS"],
    )


def _row_of_class(row: dict[str, str]) -> dict[str, Any]:
    name, _, default = row["NAME"].partition(" ")
    return _class(name, row["PROVISIONER"], row.get("VOLUMEBINDINGMODE", ""), is_default="(default)" in default)


def _row_of_node(row: dict[str, str]) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": row["NAME"], "labels": {_HOSTNAME: row["NAME"]}}}


_OF_ROW: Final = {
    "PersistentVolume": _row_of_volume,
    "PersistentVolumeClaim": _row_of_claim,
    "StorageClass": _row_of_class,
    "Node": _row_of_node,
}
