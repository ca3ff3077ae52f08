{{- define "serpcache.name" -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" .Release.Name) }}{{ fail (printf "the release is called %s: it names Services, which begin with a letter and have letters, digits and - only" .Release.Name) }}{{ end -}}
{{- if contains "serpcache" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-serpcache" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels of the Pods, by which everything else selects them: they may never change. */}}
{{- define "serpcache.selector" -}}
app.kubernetes.io/name: serpcache
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "serpcache.labels" -}}
{{ include "serpcache.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "serpcache.image" -}}
{{- $image := .Values.image -}}
{{ $image.repository }}{{ if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The configuration as YAML, for its few parts that manifests depend on. */}}
{{- define "serpcache.config" -}}
{{- $text := required "config is empty: --set-file config=serpcache.yaml" .Values.config -}}
{{- $config := fromYaml $text -}}
{{- if hasKey $config "Error" }}{{ fail (printf "config: %s" $config.Error) }}{{ end -}}
{{- if not $config.domains }}{{ fail "config: there are no domains" }}{{ end -}}
{{- /* An empty section is null, of which nothing can be asked. */ -}}
{{- range $name, $value := $config }}{{ if kindIs "invalid" $value }}{{ $_ := set $config $name dict }}{{ end }}{{ end -}}
{{- $config | toYaml }}
{{- end }}

{{/* Seconds from SIGTERM to the end of the drain, rounded up. */}}
{{- define "serpcache.drainSeconds" -}}
{{- $config := include "serpcache.config" . | fromYaml -}}
{{- $drain := dig "public" "drain" nil $config | default "4s" | toString -}}
{{- if not (regexMatch "^[0-9]+(\\.[0-9]+)?(ms|s|m)$" $drain) }}{{ fail (printf "config: public.drain is %s, and here it must be a number of ms, s or m, such as 4s" $drain) }}{{ end -}}
{{- $number := regexFind "^[0-9.]+" $drain | float64 -}}
{{- $unit := regexFind "[ms]+$" $drain -}}
{{- $seconds := $number -}}
{{- if eq $unit "ms" }}{{ $seconds = divf $number 1000 }}{{ else if eq $unit "m" }}{{ $seconds = mulf $number 60 }}{{ end -}}
{{- ceil $seconds | int }}
{{- end }}

{{/* Six parts have 2.5 s each to close, and the admin listener 0.3 s to drain (src/app.ts). A part that hangs is left then. */}}
{{- define "serpcache.closeSeconds" -}}16{{- end }}

{{- define "serpcache.graceSeconds" -}}
{{- $drain := include "serpcache.drainSeconds" . | int -}}
{{- $close := include "serpcache.closeSeconds" . | int -}}
{{- $least := add .Values.preStopSeconds $drain $close -}}
{{- $set := .Values.terminationGracePeriodSeconds -}}
{{- if kindIs "invalid" $set }}{{ $least -}}
{{- else if lt (int $set) (int $least) }}{{ fail (printf "terminationGracePeriodSeconds is %d, below %d: preStopSeconds %d, public.drain %d s, %d s for the other parts" (int $set) (int $least) (int .Values.preStopSeconds) $drain $close) -}}
{{- else }}{{ int $set }}{{ end }}
{{- end }}

{{/* Everything in a ConfigMap is readable to whoever may read the namespace, and a variable that nothing sets ends each start. */}}
{{- define "serpcache.checkSecrets" -}}
{{- range keys .Values.environment | sortAlpha }}
{{- if regexMatch "TOKEN|PASSWORD|SECRET|SIGNING_KEY|HEADERS" . }}{{ fail (printf "environment.%s: a secret belongs in secrets" .) }}{{ end -}}
{{- end -}}
{{- $set := list "SERPCACHE_CONFIG" "HOST" "PORT" "ADMIN_HOST" "ADMIN_PORT" "POD_NAME" "POD_NAMESPACE" -}}
{{- $names := keys .Values.environment | sortAlpha -}}
{{- range .Values.secrets }}{{ $names = append $names .variable }}{{ end -}}
{{- range $name := $names }}
{{- if has $name $set }}{{ fail (printf "%s is set twice: by the chart, secrets or environment" $name) }}{{ end -}}
{{- $set = append $set $name }}
{{- end -}}
{{- if not (has "ADMIN_TOKEN" $set) }}{{ fail "secrets: no entry has the variable ADMIN_TOKEN, and the admin listener needs it" }}{{ end -}}
{{- $config := include "serpcache.config" . -}}
{{- range regexFindAll "(?i)(token|password):[ \\t]*[\"']?[^\\s\"'$]+" $config -1 }}
{{- fail (printf "config: write a ${VARIABLE} for the value of %s, with an entry in secrets" (splitList ":" . | first)) }}
{{- end -}}
{{- $key := dig "signing" "key" "" (fromYaml $config) | default "" -}}
{{- if not (or (eq $key "") (hasPrefix "${" $key)) }}{{ fail "config: write a ${VARIABLE} for the value of signing.key, with an entry in secrets" }}{{ end -}}
{{- range regexFindAll "(^|[^$])\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" $config -1 -}}
{{- $name := regexFind "[A-Za-z_][A-Za-z0-9_]*\\}$" . | trimSuffix "}" -}}
{{- if not (has $name $set) }}{{ fail (printf "config: ${%s} is set neither by secrets nor by environment" $name) }}{{ end -}}
{{- end -}}
{{- end }}
