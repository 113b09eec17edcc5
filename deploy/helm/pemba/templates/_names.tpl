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

{{/* The seconds that a pod has to end. Fails if they do not cover what has to happen in them. */}}
{{- define "pemba.endSeconds" -}}
{{- $start := toDate "2006-01-02" "2000-01-01" -}}
{{- $grace := dig "server" "grace_period" nil .Values.config -}}
{{- if kindIs "invalid" $grace -}}
{{- $grace = "25s" -}}
{{- end -}}
{{- $end := dateModify (toString $grace) $start -}}
{{- $needed := add 10 (sub (unixEpoch $end) (unixEpoch $start)) | int -}}
{{- if lt (int .Values.terminationGracePeriodSeconds) $needed -}}
{{- fail (printf "terminationGracePeriodSeconds needs at least %d: 5 seconds before SIGTERM, config.server.grace_period (%v), and 5 seconds to end" $needed $grace) -}}
{{- end -}}
{{ .Values.terminationGracePeriodSeconds }}
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
