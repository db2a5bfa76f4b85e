"""Known fields of the Kubernetes API (v1.27 and v1.36) that the scheduler does not read, by struct.

Strict decoding accepts them and refuses all others. Their content is digested and not kept.
"""

from __future__ import annotations

from typing import Final

from schedviz.kube import apps, core, devices, meta, policy, storage, volumes, workloads

#: Read only by strict decoding, so that it accepts objects that `codec` has encoded.
DIGESTS: Final = ("unread", "unreadStatus")

UNREAD: Final[dict[type, str]] = {
    meta.ObjectMeta: "selfLink generation finalizers managedFields",
    meta.Condition: "observedGeneration",
    meta.OwnerReference: "blockOwnerDeletion",
    core.PodSpec: """ephemeralContainers restartPolicy activeDeadlineSeconds dnsPolicy serviceAccountName serviceAccount
        automountServiceAccountToken hostPID hostIPC shareProcessNamespace securityContext imagePullSecrets hostname subdomain
        hostAliases dnsConfig readinessGates runtimeClassName enableServiceLinks setHostnameAsFQDN os hostnameOverride""",
    core.PodStatus: """message reason hostIP hostIPs podIP podIPs qosClass observedGeneration
        ephemeralContainerStatuses resize nodeAllocatableResourceClaimStatuses""",
    core.PodCondition: "lastProbeTime observedGeneration",
    core.ContainerStatus: """state lastState ready restartCount image imageID containerID started volumeMounts user
        allocatedResourcesStatus stopSignal""",
    core.ContainerRestartRule: "exitCodes",
    core.Container: """command args workingDir envFrom env resizePolicy volumeMounts volumeDevices livenessProbe readinessProbe
        startupProbe lifecycle terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty""",
    core.ContainerPort: "name",
    core.NodeSpec: "podCIDR podCIDRs providerID configSource externalID",
    core.NodeStatus: "phase addresses daemonEndpoints nodeInfo volumesInUse volumesAttached config features runtimeHandlers",
    core.NodeCondition: "lastHeartbeatTime lastTransitionTime reason message",
    core.Namespace: "spec status",
    core.Service: "status",
    core.ServiceSpec: """ports clusterIP clusterIPs type externalIPs sessionAffinity loadBalancerIP loadBalancerSourceRanges
        externalName externalTrafficPolicy healthCheckNodePort publishNotReadyAddresses sessionAffinityConfig ipFamilies ipFamilyPolicy
        allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution""",
    core.ReplicationController: "status",
    core.ReplicationControllerSpec: "minReadySeconds",
    core.PodTemplateMeta: """name namespace uid generateName annotations creationTimestamp deletionTimestamp
        deletionGracePeriodSeconds ownerReferences resourceVersion selfLink generation finalizers managedFields""",
    apps.ReplicaSet: "status",
    apps.StatefulSet: "status",
    apps.Deployment: "status",
    apps.ReplicaSetSpec: "minReadySeconds",
    apps.StatefulSetSpec: """minReadySeconds template volumeClaimTemplates serviceName podManagementPolicy updateStrategy
        revisionHistoryLimit persistentVolumeClaimRetentionPolicy ordinals""",
    apps.DeploymentSpec: "strategy minReadySeconds revisionHistoryLimit paused progressDeadlineSeconds",
    devices.ResourceClaimMeta: "selfLink generation managedFields",
    devices.ResourceClaimTemplateSpec: "metadata",
    devices.DeviceClaim: "config",
    devices.DeviceAllocationResult: "config",
    devices.AllocatedDeviceStatus: "data networkData",
    devices.DeviceClassSpec: "config",
    devices.DeviceTaintRule: "status",
    workloads.Workload: "spec",
    policy.PodDisruptionBudgetStatus: "observedGeneration conditions",
    policy.PriorityClass: "description",
    storage.PersistentVolumeSpec: """persistentVolumeReclaimPolicy mountOptions hostPath glusterfs nfs cephfs fc flocker flexVolume
        quobyte photonPersistentDisk scaleIO local storageos""",
    storage.PersistentVolumeStatus: "message reason lastPhaseTransitionTime",
    storage.ObjectReference: "resourceVersion fieldPath",
    storage.PersistentVolumeClaimSpec: "dataSourceRef",
    storage.VolumeAttachment: "status",
    storage.VolumeAttachmentSource: "inlineVolumeSpec",
    storage.VolumeResources: "limits claims",
    storage.PersistentVolumeClaimStatus: """accessModes capacity conditions allocatedResources resizeStatus
        allocatedResourceStatuses currentVolumeAttributesClassName modifyVolumeStatus""",
    storage.StorageClass: "parameters reclaimPolicy mountOptions allowVolumeExpansion",
    storage.CSIDriverSpec: """attachRequired podInfoOnMount volumeLifecycleModes fsGroupPolicy tokenRequests requiresRepublish
        seLinuxMount nodeAllocatableUpdatePeriodSeconds serviceAccountTokenInSecrets""",
    volumes.Volume: """hostPath emptyDir gitRepo secret nfs glusterfs flexVolume cephfs flocker downwardAPI fc configMap quobyte
        photonPersistentDisk projected scaleIO storageos""",
    volumes.ImageSource: "pullPolicy",
    volumes.GCEPersistentDisk: "fsType",
    volumes.AWSElasticBlockStore: "fsType",
    volumes.AzureDisk: "cachingMode fsType",
    volumes.Cinder: "fsType secretRef",
    volumes.VsphereVolume: "fsType storagePolicyName storagePolicyID",
    volumes.PortworxVolume: "fsType",
    volumes.RBD: "fsType user keyring secretRef",
    volumes.ISCSI: "iscsiInterface fsType portals chapAuthDiscovery chapAuthSession secretRef initiatorName",
    volumes.EphemeralSource: "volumeClaimTemplate",
    volumes.CSISource: """fsType volumeAttributes nodePublishSecretRef controllerPublishSecretRef nodeStageSecretRef
        controllerExpandSecretRef nodeExpandSecretRef""",
}

#: The API server's defaults of these fields, by the name of the struct.
UNREAD_DEFAULTS: Final[dict[str, dict[str, object]]] = {
    "PodSpec": {"restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "enableServiceLinks": True},
    "Container": {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"},
}

#: The annotations that plugins read. All others are digested.
READ_ANNOTATIONS: Final = frozenset(
    {
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "pv.kubernetes.io/migrated-to",
        "pv.kubernetes.io/provisioned-by",
        "resource.kubernetes.io/extended-resource-claim",
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "volume.beta.kubernetes.io/storage-class",
        "volume.beta.kubernetes.io/storage-provisioner",
        "volume.kubernetes.io/selected-node",
        "volume.kubernetes.io/storage-provisioner",
    }
)
