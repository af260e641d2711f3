/**
 * The admission plug-ins that are on by default, as far as they change or refuse new pods: ServiceAccount, Priority,
 * DefaultTolerationSeconds, RuntimeClass, PodTopologyLabels, in that order.
 *
 * Differs from Kubernetes: a PriorityClass marked globalDefault is not looked for; a missing service account is refused at once;
 * the annotation that limits mountable Secrets is not honoured; of a RuntimeClass the overhead and the scheduling are given to
 * the pod, without a look for conflicts, and its handler means nothing.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, ResourceName } from '../../objects/api-object.ts';
import { mirrorServiceAccount } from '../pod-spec/defaults.ts';
import {
  editItemsAt,
  listAt,
  numberAt,
  objectAt,
  optionalObjectAt,
  textAt,
  withMember,
} from '../shared/json-edit.ts';
import type { Refusal, RuleContext } from '../shared/resource.ts';

const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const VOLUME_PREFIX = 'kube-api-access-';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const TOKEN_SOURCE = {
  defaultMode: 420,
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { items: [{ key: 'ca.crt', path: 'ca.crt' }], name: 'kube-root-ca.crt' } },
    {
      downwardAPI: {
        items: [
          { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' }, path: 'namespace' },
        ],
      },
    },
  ],
};
const TOPOLOGY_LABELS = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];
const DEFAULT_TOLERATIONS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map(
  (key) => ({ effect: 'NoExecute', key, operator: 'Exists', tolerationSeconds: 300 }),
);
const RUNTIME_CLASSES = 'runtimeclasses.node.k8s.io' as ResourceName; // one of the kinds that are data

/** The pod as it is admitted, or why it is not. */
export function admitPod(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  let admitted: ApiObject = pod;
  for (const admit of [admitAccount, admitPriority, admitRuntimeClass]) {
    const outcome = admit(admitted, context);
    if (!('metadata' in outcome)) return outcome;
    admitted = outcome;
  }
  return admitTopology(withDefaultTolerations(admitted), context);
}

/** `pods "NAME" is forbidden: …`: 403, with the pod's name where it has one. */
function refusal(pod: ApiObject, reason: string): Refusal {
  const name = textAt(pod.metadata, 'name') || textAt(pod.metadata, 'generateName');
  const message = `pods ${JSON.stringify(name)} is forbidden: ${reason}`;
  return { code: 403, reason: 'Forbidden', message, details: { name, kind: 'pods' } };
}

/** Every pod runs under an account that exists; its containers find a token under one path. */
function admitAccount(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  // A mirror pod is a machine's own: it has no account.
  if (objectAt(pod.metadata, 'annotations')[MIRROR_ANNOTATION] !== undefined) return pod;
  const spec = objectAt(pod, 'spec');
  const name = textAt(spec, 'serviceAccountName') || 'default';
  const namespace = textAt(pod.metadata, 'namespace');
  const account = context.read({ resource: 'serviceaccounts', namespace, name });
  if (account === undefined) {
    const missing = `serviceaccount ${JSON.stringify(name)} not found`;
    return refusal(pod, `error looking up service account ${namespace}/${name}: ${missing}`);
  }
  const named = mirrorServiceAccount({ ...spec, serviceAccountName: name });
  const mounted = automounts(spec, account) ? mountToken(named, context) : named;
  return withMember(pod, 'spec', withPullSecrets(mounted, account));
}

function automounts(spec: JsonObject, account: ApiObject): boolean {
  const own = spec['automountServiceAccountToken'];
  return typeof own === 'boolean' ? own : account['automountServiceAccountToken'] !== false;
}

function withPullSecrets(spec: JsonObject, account: ApiObject): JsonObject {
  const secrets = listAt(account, 'imagePullSecrets');
  if (secrets.length === 0 || listAt(spec, 'imagePullSecrets').length > 0) return spec;
  return { ...spec, imagePullSecrets: secrets.map((it) => ({ name: textAt(it, 'name') })) };
}

function mountToken(spec: JsonObject, context: RuleContext): JsonObject {
  const volumes = listAt(spec, 'volumes');
  const name = `${VOLUME_PREFIX}${suffixFrom(context.uniqueId())}`;
  const mount = { mountPath: MOUNT_PATH, name, readOnly: true };
  const withMount = (container: JsonObject): JsonObject => {
    const mounts = listAt(container, 'volumeMounts');
    if (mounts.some((it) => textAt(it, 'mountPath') === MOUNT_PATH)) return container;
    return { ...container, volumeMounts: [...mounts, mount] };
  };
  const mounted = editItemsAt(
    editItemsAt(spec, 'initContainers', withMount),
    'containers',
    withMount,
  );
  // A pod whose containers all mount something else there needs no token.
  if (mounted === spec) return spec;
  return { ...mounted, volumes: [...volumes, { name, projected: TOKEN_SOURCE }] };
}

/** Five letters of the alphabet that generated names are made of. */
function suffixFrom(uniqueId: string): string {
  const letters = [...uniqueId.slice(0, 5)].map((letter) => {
    const index = Number.parseInt(letter, 36) % SUFFIX_ALPHABET.length;
    return SUFFIX_ALPHABET.charAt(Number.isNaN(index) ? 0 : index);
  });
  return letters.join('');
}

function admitPriority(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  const spec = objectAt(pod, 'spec');
  const name = textAt(spec, 'priorityClassName');
  const found =
    name === '' ? {} : context.read({ resource: 'priorityclasses.scheduling.k8s.io', name });
  if (found === undefined) return refusal(pod, `no PriorityClass with name ${name} was found`);
  const priority = numberAt(found, 'value') ?? 0;
  const asked = numberAt(spec, 'priority');
  if (asked !== undefined && asked !== priority) {
    const computed = `priority admission controller computed ${String(priority)} from the given PriorityClass name`;
    const given = `the integer value of priority (${String(asked)}) must not be provided in pod spec`;
    return refusal(pod, `${given}; ${computed}`);
  }
  const preemptionPolicy = textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority';
  return withMember(pod, 'spec', { ...spec, priority, preemptionPolicy });
}

/** A pod that names a class must find it, and is given its overhead and its scheduling. */
function admitRuntimeClass(pod: ApiObject, context: RuleContext): ApiObject | Refusal {
  const spec = objectAt(pod, 'spec');
  const name = textAt(spec, 'runtimeClassName');
  if (name === '') return pod;
  const found = context.read({ resource: RUNTIME_CLASSES, name });
  if (found === undefined) {
    return refusal(pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  }
  const overhead = optionalObjectAt(objectAt(found, 'overhead'), 'podFixed');
  const scheduling = objectAt(found, 'scheduling');
  const nodeSelector = {
    ...objectAt(spec, 'nodeSelector'),
    ...objectAt(scheduling, 'nodeSelector'),
  };
  const tolerations = [...listAt(spec, 'tolerations'), ...listAt(scheduling, 'tolerations')];
  return withMember(pod, 'spec', {
    ...spec,
    ...(overhead === undefined ? {} : { overhead }),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  });
}

/**
 * Pods stay five minutes on a node that is not ready or unreachable, unless they say otherwise. Updates are looked at too, so
 * none takes the two tolerations away.
 */
export function withDefaultTolerations(pod: ApiObject): ApiObject {
  const spec = objectAt(pod, 'spec');
  const tolerations = listAt(spec, 'tolerations');
  const missing = DEFAULT_TOLERATIONS.filter(
    ({ key }) => !tolerations.some((toleration) => covers(toleration, key)),
  );
  if (missing.length === 0) return pod;
  return { ...pod, spec: { ...spec, tolerations: [...tolerations, ...missing] } };
}

function covers(toleration: JsonObject, taintKey: string): boolean {
  const [key, effect] = [textAt(toleration, 'key'), textAt(toleration, 'effect')];
  return (key === '' || key === taintKey) && (effect === '' || effect === 'NoExecute');
}

/** A pod that is created bound gets its node's zone and region as labels. */
function admitTopology(pod: ApiObject, context: RuleContext): ApiObject {
  const nodeName = textAt(objectAt(pod, 'spec'), 'nodeName');
  const labels = nodeName === '' ? {} : topologyLabelsOf(nodeName, context);
  if (Object.keys(labels).length === 0) return pod;
  const all = { ...objectAt(pod.metadata, 'labels'), ...labels };
  return { ...pod, metadata: withMember(pod.metadata, 'labels', all) };
}

/** Zone and region of a node, as its labels say; empty for an unknown node. */
export function topologyLabelsOf(nodeName: string, context: RuleContext): JsonObject {
  const node = context.read({ resource: 'nodes', name: nodeName });
  const labels = node === undefined ? {} : objectAt(node.metadata, 'labels');
  const present = TOPOLOGY_LABELS.filter((key) => labels[key] !== undefined);
  return Object.fromEntries(present.map((key) => [key, labels[key]]));
}
