/** Templates of objects. Each is complete and can be created unchanged. */
export interface Template {
  id: string;
  kind: string;
  text: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    id: "pod",
    kind: "Pod",
    text: `apiVersion: v1
kind: Pod
metadata:
  name: web-new
  namespace: default
  labels:
    app: web
spec:
  containers:
    - name: main
      image: registry.example/web:1
      resources:
        requests:
          cpu: 500m
          memory: 256Mi
`,
  },
  {
    id: "pod.affinity",
    kind: "Pod",
    text: `apiVersion: v1
kind: Pod
metadata:
  name: apart
  namespace: default
  labels:
    app: apart
spec:
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - labelSelector:
            matchLabels:
              app: apart
          topologyKey: kubernetes.io/hostname
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          app: apart
  containers:
    - name: main
      resources:
        requests:
          cpu: 250m
          memory: 128Mi
`,
  },
  {
    id: "pod.gated",
    kind: "Pod",
    text: `apiVersion: v1
kind: Pod
metadata:
  name: gated
  namespace: default
spec:
  schedulingGates:
    - name: example.com/quota
  containers:
    - name: main
      resources:
        requests:
          cpu: 100m
`,
  },
  {
    id: "pod.urgent",
    kind: "Pod",
    text: `apiVersion: v1
kind: Pod
metadata:
  name: urgent
  namespace: default
spec:
  priority: 1000000
  preemptionPolicy: PreemptLowerPriority
  containers:
    - name: main
      resources:
        requests:
          cpu: "2"
          memory: 2Gi
`,
  },
  {
    id: "node",
    kind: "Node",
    text: `apiVersion: v1
kind: Node
metadata:
  name: node-new
  labels:
    kubernetes.io/hostname: node-new
    topology.kubernetes.io/zone: zone-a
spec:
  taints: []
status:
  capacity: &amounts
    cpu: "8"
    memory: 32Gi
    pods: "110"
  allocatable: *amounts
`,
  },
  {
    id: "node.tainted",
    kind: "Node",
    text: `apiVersion: v1
kind: Node
metadata:
  name: gpu-new
  labels:
    kubernetes.io/hostname: gpu-new
    topology.kubernetes.io/zone: zone-a
spec:
  taints:
    - key: nvidia.com/gpu
      value: present
      effect: NoSchedule
status:
  capacity: &amounts
    cpu: "32"
    memory: 128Gi
    pods: "110"
    nvidia.com/gpu: "4"
  allocatable: *amounts
`,
  },
  {
    id: "pdb",
    kind: "PodDisruptionBudget",
    text: `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
  namespace: default
spec:
  selector:
    matchLabels:
      app: web
  minAvailable: 1
`,
  },
  {
    id: "priorityclass",
    kind: "PriorityClass",
    text: `apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: urgent
value: 1000000
preemptionPolicy: PreemptLowerPriority
`,
  },
  {
    id: "deployment",
    kind: "Deployment",
    text: `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: default
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
        - name: main
          resources:
            requests:
              cpu: 250m
              memory: 128Mi
`,
  },
  {
    id: "namespace",
    kind: "Namespace",
    text: `apiVersion: v1
kind: Namespace
metadata:
  name: team-a
  labels:
    team: a
`,
  },
  {
    id: "pvc",
    kind: "PersistentVolumeClaim",
    text: `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: default
spec:
  accessModes:
    - ReadWriteOnce
  storageClassName: standard
  resources:
    requests:
      storage: 10Gi
`,
  },
  {
    id: "pod.claim",
    kind: "Pod",
    text: `apiVersion: v1
kind: Pod
metadata:
  name: with-gpu
  namespace: default
spec:
  resourceClaims:
    - name: gpu
      resourceClaimName: gpu
  containers:
    - name: main
      resources:
        requests:
          cpu: 100m
        claims:
          - name: gpu
`,
  },
  {
    id: "resourceclaim",
    kind: "ResourceClaim",
    text: `apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: gpu
  namespace: default
spec:
  devices:
    requests:
      - name: gpu
        exactly:
          deviceClassName: gpu.example.com
          allocationMode: ExactCount
          count: 1
`,
  },
  {
    id: "resourceclaimtemplate",
    kind: "ResourceClaimTemplate",
    text: `apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: gpu
  namespace: default
spec:
  spec:
    devices:
      requests:
        - name: gpu
          firstAvailable:
            - name: partition
              deviceClassName: partition.gpu.example.com
            - name: whole
              deviceClassName: gpu.example.com
`,
  },
  {
    id: "deviceclass",
    kind: "DeviceClass",
    text: `apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: large.gpu.example.com
spec:
  selectors:
    - cel:
        expression: |-
          device.driver == "gpu.example.com" &&
          device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0
`,
  },
  {
    id: "resourceslice",
    kind: "ResourceSlice",
    text: `apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: node-1-fpga
spec:
  driver: fpga.example.com
  nodeName: node-1
  pool:
    name: node-1
    generation: 1
    resourceSliceCount: 1
  devices:
    - name: fpga-0
      attributes:
        model:
          string: x1
      capacity:
        memory:
          value: 16Gi
    - name: fpga-1
      attributes:
        model:
          string: x1
      capacity:
        memory:
          value: 16Gi
      taints:
        - key: example.com/maintenance
          effect: NoSchedule
`,
  },
  {
    id: "devicetaintrule",
    kind: "DeviceTaintRule",
    text: `apiVersion: resource.k8s.io/v1beta2
kind: DeviceTaintRule
metadata:
  name: maintenance
spec:
  deviceSelector:
    driver: gpu.example.com
    pool: node-1
  taint:
    key: example.com/maintenance
    effect: NoSchedule
`,
  },
];

/** The default configuration, with the members that users are likely to change. */
export const CONFIGURATION_TEMPLATE = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
`;
