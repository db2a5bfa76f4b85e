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

{{- /* Where a secret is: of `secrets`, else of existingSecret. */ -}}
{{- define "schedviz.secretRef" -}}
secretKeyRef: { name: {{ .secret.name | default .root.Values.existingSecret }}, key: {{ .secret.key }}{{ if .optional }}, optional: true{{ end }} }
{{- end }}

{{- /* What one import process may use, in megabytes; a setting goes before the value. */ -}}
{{- define "schedviz.importMegabytes" -}}
{{- index .Values.settings "SCHEDVIZ_IMPORT_MEGABYTES" | default .Values.io.importMegabytes | int }}
{{- end }}

{{- /* Other settings, or another Secret at the time of `helm upgrade`, make new pods. */ -}}
{{- define "schedviz.checksums" -}}
{{- $names := list .root.Values.existingSecret }}
{{- range .root.Values.secrets }}{{ if .name }}{{ $names = append $names .name }}{{ end }}{{ end }}
{{- range .root.Values.envFrom }}{{ with .secretRef }}{{ $names = append $names .name }}{{ end }}{{ end }}
{{- $found := list }}
{{- range uniq $names }}{{ $found = append $found (lookup "v1" "Secret" $.root.Release.Namespace . | default dict).data }}{{ end -}}
checksum/settings: {{ list .root.Values.settings .root.Values.extraEnv .root.Values.envFrom .root.Values.hosts .root.Values.secrets | toJson | sha256sum }}
checksum/secrets: {{ $found | toJson | sha256sum }}
{{- end }}

{{- define "schedviz.environment" -}}
- name: SCHEDVIZ_SECRET_KEY
  valueFrom: { {{ include "schedviz.secretRef" (dict "root" .root "secret" .root.Values.secrets.secretKey) }} }
- name: SCHEDVIZ_DATABASE_URL
  valueFrom: { {{ include "schedviz.secretRef" (dict "root" .root "secret" .root.Values.secrets.databaseUrl) }} }
- name: SCHEDVIZ_REDIS_URL
  valueFrom: { {{ include "schedviz.secretRef" (dict "root" .root "secret" .root.Values.secrets.redisUrl) }} }
- name: SCHEDVIZ_METRICS_TOKEN
  valueFrom: { {{ include "schedviz.secretRef" (dict "root" .root "secret" .root.Values.secrets.metricsToken "optional" true) }} }
{{- if .root.Values.secrets.oidcClientSecret.key }}
- name: SCHEDVIZ_OIDC_CLIENT_SECRET
  valueFrom: { {{ include "schedviz.secretRef" (dict "root" .root "secret" .root.Values.secrets.oidcClientSecret) }} }
{{- end }}
# The pod's own address, which the kubelet's probes use.
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
{{- if not (hasKey .root.Values.settings "SCHEDVIZ_IMPORT_MEGABYTES") }}
- name: SCHEDVIZ_IMPORT_MEGABYTES
  value: {{ include "schedviz.importMegabytes" .root | quote }}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .root.Values.extraEnv }}
{{ toYaml . }}
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
{{- with .root.Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: data, mountPath: /data }
  {{- with .mounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
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
  # Uploads in transit. A pod that exceeds it is evicted, instead of other pods of the node.
  - { name: tmp, emptyDir: { sizeLimit: {{ .root.Values.volumes.tmp }} } }
  # Holds only temporary data: everything is in the database, and the secret key is in the Secret.
  - { name: data, emptyDir: { sizeLimit: {{ .root.Values.volumes.data }} } }
  {{- with .volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
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
