/**
 * Fields of a DaemonSet's manifest that Kubernetes does not have, in the structs that people write most: `kubectl apply` refuses them.
 *
 * A test holds the lists to the table that is generated from Go's types. Deeper structs are the API server's to judge.
 */
import { isJsonObject, jsonItems } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { PolicyProblem } from '../../core/policy/rollout-policy.ts';
import { nearestField } from './nearest-field.ts';
import { within } from './problems.ts';

interface Struct {
  readonly fields: readonly string[];
  /** Of these fields, or of the items of their lists. */
  readonly inner: Readonly<Record<string, string>>;
}

function struct(fields: string, inner: Struct['inner'] = {}): Struct {
  return { fields: fields.trim().split(/\s+/), inner };
}

/** By the name of the Go type. */
export const KNOWN_FIELDS: Readonly<Record<string, Struct>> = {
  DaemonSet: struct('apiVersion kind metadata spec status', {
    metadata: 'ObjectMeta',
    spec: 'DaemonSetSpec',
  }),
  ObjectMeta: struct(`
    annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation labels
    managedFields name namespace ownerReferences resourceVersion selfLink uid
  `),
  DaemonSetSpec: struct('minReadySeconds revisionHistoryLimit selector template updateStrategy', {
    template: 'PodTemplateSpec',
    updateStrategy: 'DaemonSetUpdateStrategy',
  }),
  DaemonSetUpdateStrategy: struct('rollingUpdate type', {
    rollingUpdate: 'RollingUpdateDaemonSet',
  }),
  RollingUpdateDaemonSet: struct('maxSurge maxUnavailable'),
  PodTemplateSpec: struct('metadata spec', { metadata: 'ObjectMeta', spec: 'PodSpec' }),
  PodSpec: struct(
    `
    activeDeadlineSeconds affinity automountServiceAccountToken containers dnsConfig dnsPolicy enableServiceLinks
    ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets
    initContainers nodeName nodeSelector os overhead preemptionPolicy priority priorityClassName readinessGates
    resourceClaims resources restartPolicy runtimeClassName schedulerName schedulingGates schedulingGroup securityContext
    serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds
    tolerations topologySpreadConstraints volumes
  `,
    { containers: 'Container', initContainers: 'Container' },
  ),
  Container: struct(`
    args command env envFrom image imagePullPolicy lifecycle livenessProbe name ports readinessProbe resizePolicy resources
    restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce terminationMessagePath
    terminationMessagePolicy tty volumeDevices volumeMounts workingDir
  `),
};

/** Those of a manifest, each by its path. */
export function unknownFields(manifest: JsonObject): readonly PolicyProblem[] {
  return unknownIn(manifest, 'DaemonSet', '');
}

function unknownIn(
  value: Json | undefined,
  name: string,
  around: string,
): readonly PolicyProblem[] {
  const known = KNOWN_FIELDS[name];
  if (known === undefined || !isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]): readonly PolicyProblem[] => {
    const field = within(around, key);
    if (!known.fields.includes(key)) {
      const nearest = nearestField(key, known.fields);
      const meant = nearest === undefined ? '' : `: did you mean ${nearest}?`;
      return [{ field, message: `is no field of Kubernetes${meant}` }];
    }
    const inner = Object.hasOwn(known.inner, key) ? known.inner[key] : undefined;
    if (inner === undefined) return [];
    if (!Array.isArray(member)) return unknownIn(member, inner, field);
    return jsonItems(member).flatMap((item, index) => unknownIn(item, inner, within(field, index)));
  });
}
