{{- define "schedviz.labels" -}}
app.kubernetes.io/name: schedviz
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "schedviz.selector" -}}
app.kubernetes.io/name: schedviz
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "schedviz.origins" -}}
{{- if .Values.origins }}{{ join "," .Values.origins }}{{ else }}{{- $origins := list }}{{- range .Values.hosts }}{{- $origins = append $origins (printf "https://%s" .) }}{{- end }}{{ join "," $origins }}{{ end }}
{{- end }}

{{- define "schedviz.environment" -}}
- name: SCHEDVIZ_SECRET_KEY
  valueFrom: { secretKeyRef: { name: {{ .root.Values.existingSecret }}, key: secret-key } }
- name: SCHEDVIZ_DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .root.Values.existingSecret }}, key: database-url } }
- name: SCHEDVIZ_REDIS_URL
  valueFrom: { secretKeyRef: { name: {{ .root.Values.existingSecret }}, key: redis-url } }
- name: SCHEDVIZ_METRICS_TOKEN
  valueFrom: { secretKeyRef: { name: {{ .root.Values.existingSecret }}, key: metrics-token, optional: true } }
# The pod's own address: the kubelet's probes ask there.
- name: SCHEDVIZ_POD_IP
  valueFrom: { fieldRef: { fieldPath: status.podIP } }
- name: SCHEDVIZ_ALLOWED_HOSTS
  value: "{{ join "," .root.Values.hosts }},{{ .root.Release.Name }}-schedviz-web,{{ .root.Release.Name }}-schedviz-web.{{ .root.Release.Namespace }}.svc,$(SCHEDVIZ_POD_IP),127.0.0.1"
- name: SCHEDVIZ_ORIGINS
  value: {{ include "schedviz.origins" .root | quote }}
- name: SCHEDVIZ_PUBLIC
  value: {{ .root.Values.public | ternary "1" "0" | quote }}
- name: SCHEDVIZ_PROXIES
  value: {{ .root.Values.proxies | quote }}
- name: SCHEDVIZ_ROLE
  value: {{ .role }}
{{- range $name, $value := .root.Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "schedviz.container" -}}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  {{- include "schedviz.environment" . | nindent 2 }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: data, mountPath: /data }
  {{- if or .root.Values.caConfigMap .root.Values.caSecret }}
  - { name: ca, mountPath: /etc/schedviz/ca, readOnly: true }
  {{- end }}
{{- end }}

{{- define "schedviz.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - { name: tmp, emptyDir: {} }
  # Nothing in it is kept: the database has everything, the secret key comes from the Secret.
  - { name: data, emptyDir: {} }
  {{- if .root.Values.caConfigMap }}
  - { name: ca, configMap: { name: {{ .root.Values.caConfigMap }} } }
  {{- else if .root.Values.caSecret }}
  - { name: ca, secret: { secretName: {{ .root.Values.caSecret }} } }
  {{- end }}
{{- end }}

{{- define "schedviz.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "schedviz.selector" . | nindent 8 }}
{{- end }}
