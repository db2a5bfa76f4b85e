"""A pod's volume in the format of Go's `%v`, as in upstream's messages.

Upstream: api/core/v1/generated.pb.go String
"""

from __future__ import annotations

from typing import Final

from schedviz.kube.volumes import Volume

#: The number of sources of upstream's VolumeSource, and the positions of those that occur in messages.
_SOURCE_COUNT: Final = 29
_EBS_POSITION: Final = 3
_AZURE_DISK_POSITION: Final = 21


def printed_volume(volume: Volume) -> str:
    """The name, and the sources by position. Fields that schedviz does not read have the API server's defaults."""
    sources = ["nil"] * _SOURCE_COUNT
    ebs, azure = volume.aws_elastic_block_store, volume.azure_disk
    if ebs is not None:
        sources[_EBS_POSITION] = (
            f"&AWSElasticBlockStoreVolumeSource{{VolumeID:{ebs.volume_id},FSType:,Partition:{ebs.partition},"
            f"ReadOnly:{str(ebs.read_only).lower()},}}"
        )
    if azure is not None:
        sources[_AZURE_DISK_POSITION] = (
            f"&AzureDiskVolumeSource{{DiskName:{azure.disk_name},DataDiskURI:{azure.disk_uri},CachingMode:*ReadWrite,FSType:*ext4,"
            f"ReadOnly:*{str(azure.read_only).lower()},Kind:*{azure.kind or 'Shared'},}}"
        )
    return f"{{{volume.name} {{{' '.join(sources)}}}}}"
