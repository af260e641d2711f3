{{/* The strategic patches of a kustomization for an object, merged into it. Containers, of which each pod has one, are merged too. */}}
{{- define "rollcall.patch" -}}
{{- $object := .object -}}
{{- range (.files.Get .kustomization | fromYaml).patches -}}
{{-   $patch := fromYaml .patch -}}
{{-   if and (eq $patch.kind $object.kind) (eq $patch.metadata.name $object.metadata.name) -}}
{{-     if $patch.spec -}}
{{-       $pod := (get $patch.spec "jobTemplate" | default $patch).spec.template.spec -}}
{{-       if $pod.containers -}}
{{-         $shipped := (get $object.spec "jobTemplate" | default $object).spec.template.spec -}}
{{-         $_ := set $pod "containers" (list (mergeOverwrite (first $shipped.containers) (first $pod.containers))) -}}
{{-       end -}}
{{-     end -}}
{{-     $_ := mergeOverwrite $object $patch -}}
{{-   end -}}
{{- end -}}
{{- end }}

{{/* Sets in an object of the watcher or the renewer what both have: credentials, image, and what the values say of pods. */}}
{{- define "rollcall.program" -}}
{{- $values := .root.Values -}}
{{- $object := .object -}}
{{- $roleArn := (index $values .part).roleArn -}}
{{- if has $values.credentials (list "irsa" "web-identity") -}}
{{-   $overlay := ternary "eks-irsa" "web-identity" (eq $values.credentials "irsa") -}}
{{-   $kustomization := printf "overlays/%s/%s/kustomization.yaml" .part $overlay -}}
{{-   include "rollcall.patch" (dict "files" .root.Files "kustomization" $kustomization "object" $object) -}}
{{- end -}}
{{- if and (eq $object.kind "ServiceAccount") (eq $values.credentials "irsa") -}}
{{-   $_ := set $object.metadata.annotations "eks.amazonaws.com/role-arn" $roleArn -}}
{{- else if eq $object.kind "ConfigMap" -}}
{{-   $common := dict "ROLLCALL_CLUSTER" $values.cluster "AWS_REGION" $values.region "ROLLCALL_API_SERVER" $values.apiServer -}}
{{-   range $name, $value := merge .data $common -}}{{ $_ := set $object.data $name $value }}{{- end -}}
{{-   if eq $values.credentials "web-identity" -}}{{ $_ := set $object.data "AWS_ROLE_ARN" $roleArn }}{{- end -}}
{{- else if has $object.kind (list "Deployment" "CronJob") -}}
{{-   $pod := (get $object.spec "jobTemplate" | default $object).spec.template.spec -}}
{{-   $container := first $pod.containers -}}
{{- /* One image for all programs: without a value the one that the watcher's Deployment names, as in the command line. */ -}}
{{-   $shipped := regexFind "(?m)^ *image: \\S+$" (.root.Files.Get "watcher/deployment.yaml") | trim | trimPrefix "image: " -}}
{{-   $_ := set $container "image" ($values.image | default $shipped) -}}
{{-   if hasPrefix "registry.invalid/" $container.image -}}{{ fail "image: must name the watcher's image, which no registry has" }}{{- end -}}
{{-   if eq $values.credentials "static" -}}
{{-     $secret := dict "secretRef" (dict "name" (printf "rollcall-%s-aws" .part)) -}}
{{-     $_ := set $container "envFrom" (append $container.envFrom $secret) -}}
{{-   end -}}
{{-   if not $values.hostNetwork -}}
{{-     $_ := set $pod "hostNetwork" false -}}
{{-     $_ := set $pod "dnsPolicy" "ClusterFirst" -}}
{{-     range $container.ports -}}{{ $_ := unset . "hostPort" }}{{- end -}}
{{-   end -}}
{{-   range $name, $value := $values.podSpec -}}{{ $_ := set $pod $name $value }}{{- end -}}
{{- end -}}
{{- end }}

{{/* The functions come as users of these names where an EKS access entry lets them in, else as service accounts. */}}
{{- define "rollcall.identity" -}}
{{- if and (eq .auth "eks") .object.subjects -}}
{{-   $name := (first .object.subjects).name -}}
{{-   $_ := set .object "subjects" (list (dict "apiGroup" "rbac.authorization.k8s.io" "kind" "User" "name" $name)) -}}
{{- end -}}
{{- end }}

{{/* Refuses rights in a cluster that has no admission policies to narrow them. */}}
{{- define "rollcall.narrowed" -}}
{{- if not (semverCompare ">=1.30.0-0" .root.Capabilities.KubeVersion.Version) -}}
{{- fail (printf "%s: needs Kubernetes 1.30, for the admission policies" .field) -}}
{{- end -}}
{{- end }}
