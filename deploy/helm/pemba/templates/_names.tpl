{{/* The name of all that the chart makes. */}}
{{- define "pemba.name" -}}
{{- if eq .Release.Name "pemba" -}}
pemba
{{- else -}}
{{ printf "%s-pemba" .Release.Name | trunc 56 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* The labels by which the pods of a release are found. */}}
{{- define "pemba.selector" -}}
app.kubernetes.io/name: pemba
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "pemba.labels" -}}
{{ include "pemba.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "pemba.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* config.yaml: what the values say, and what the chart itself sets up. */}}
{{- define "pemba.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := mergeOverwrite $config (dict "meter" (dict "prometheus" (dict "enabled" true))) -}}
{{- end -}}
{{- if .Values.tlsSecret -}}
{{- $tls := dict "enabled" true "cert" "/app/tls/tls.crt" "key" "/app/tls/tls.key" -}}
{{- $server := dict "http" (dict "tls" $tls) "grpc" (dict "tls" $tls) -}}
{{- $_ := mergeOverwrite $config (dict "server" $server) -}}
{{- end -}}
{{ toYaml $config }}
{{- end -}}

{{/* A probe over REST for a path. */}}
{{- define "pemba.probe" -}}
httpGet:
  path: {{ .path }}
  port: http
  {{- if .root.Values.tlsSecret }}
  scheme: HTTPS
  {{- end }}
{{- end -}}
