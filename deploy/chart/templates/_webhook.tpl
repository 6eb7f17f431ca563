{{- /* Whom the API server trusts. The controller (auto) and cert-manager write it themselves. */ -}}
{{- define "ipledger.caBundle" -}}
{{- with .Values.spiderpoolController.tls -}}
{{- if and (eq .method "provided") .caBundle }}
      caBundle: {{ .caBundle | b64enc }}
{{- end -}}
{{- end -}}
{{- end -}}
