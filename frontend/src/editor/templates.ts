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
];

/** The default configuration, with the members that users are likely to change. */
export const CONFIGURATION_TEMPLATE = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
`;
