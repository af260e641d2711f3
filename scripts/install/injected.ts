/**
 * What a cluster's webhooks add to the pods of its DaemonSets, read off pods as the cluster admits them, for
 * scripts/install/admission-policy.ts (docs/adr/0063).
 *
 * A policy is asked after webhooks have changed the pod, and cannot tell their containers from the requester's. So
 * an administrator has one pod of each DaemonSet admitted as a dry run; what it has beyond its template is let through,
 * word for word, and nothing else. What the policy lets pass by itself is left out. Changes of what the template says
 * cannot be allowed.
 */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { nodeName } from '../../src/core/model/identifiers.ts';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { podFromTemplate, prepareTemplate } from '../../src/core/pod/pod-template.ts';

/** Members of the variable `injected` of infra/admission/policy.yaml. */
export interface Injected {
  readonly containers: readonly JsonObject[];
  readonly initContainers: readonly JsonObject[];
  readonly volumes: readonly JsonObject[];
  readonly tolerations: readonly JsonObject[];
  readonly labels: JsonObject;
  readonly annotations: JsonObject;
  /** By container of the template. */
  readonly env: JsonObject;
  readonly volumeMounts: JsonObject;
}

const TOKEN_VOLUME = /^kube-api-access-/;
const OWN_LABELS = ['pod-template-generation', 'controller-revision-hash'];
const KNOWN_ANNOTATIONS = ['kubernetes.io/limit-ranger', 'openshift.io/scc'];

const items = v.optional(v.array(v.custom<JsonObject>(isObject)), []);
const texts = v.optional(v.record(v.string(), v.string()), {});
const specSchema = v.looseObject({
  containers: items,
  initContainers: items,
  volumes: items,
  tolerations: items,
});
const podSchema = v.looseObject({
  metadata: v.looseObject({
    namespace: v.string(),
    labels: texts,
    annotations: texts,
    ownerReferences: v.tuple([v.looseObject({ kind: v.literal('DaemonSet'), name: v.string() })]),
  }),
  spec: specSchema,
});
const templateSchema = v.looseObject({
  metadata: v.optional(v.looseObject({ labels: texts, annotations: texts }), {
    labels: {},
    annotations: {},
  }),
  spec: specSchema,
});

/** A pod of each DaemonSet, to be admitted as a dry run by the cluster's administrator. */
export function samplePods(daemonSets: readonly JsonObject[]): JsonObject {
  const pods = daemonSets.map((raw) => {
    const daemonSet = raw as unknown as DaemonSetObject; // what kubectl printed
    const name = 'rollcall-sample';
    return podFromTemplate(prepareTemplate(daemonSet, name), { node: nodeName(name), name });
  });
  const named = pods.map((pod, index) => {
    const metadata = { ...(pod['metadata'] as JsonObject), name: `rollcall-sample-${index}` };
    return { ...pod, metadata };
  });
  return { apiVersion: 'v1', kind: 'List', items: named };
}

/** What each admitted pod has beyond its DaemonSet's template, by `namespace/name` of the DaemonSet. */
export function readInjected(
  admitted: Json,
  daemonSets: readonly JsonObject[],
): ReadonlyMap<string, Injected> {
  const list = v.parse(v.looseObject({ items: v.optional(v.array(v.unknown())) }), admitted);
  const templates = new Map(
    daemonSets.map((raw) => {
      const { metadata, spec } = raw as unknown as DaemonSetObject; // what kubectl printed
      return [`${metadata.namespace ?? ''}/${metadata.name}`, spec.template];
    }),
  );
  const injected = new Map<string, Injected>();
  for (const one of list.items ?? [admitted]) {
    const pod = v.parse(podSchema, one);
    const owner = `${pod.metadata.namespace}/${pod.metadata.ownerReferences[0].name}`;
    const template = templates.get(owner);
    if (template === undefined) throw new Error(`a pod of ${owner}, which is not listed`);
    const additions = additionsOf(pod, v.parse(templateSchema, template));
    if (!isDeepStrictEqual(additions, nothing())) injected.set(owner, additions);
  }
  return injected;
}

/** An expression of CEL with that value. Literals of one kind of value only are allowed there, so each is dynamic. */
export function celLiteral(value: Json): string {
  if (Array.isArray(value)) {
    return `dyn([${(value as readonly Json[]).map(celLiteral).join(', ')}])`;
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}: ${celLiteral(member ?? null)}`,
    );
    return `dyn({${members.join(', ')}})`;
  }
  return `dyn(${JSON.stringify(value)})`;
}

function nothing(): Injected {
  const lists = { containers: [], initContainers: [], volumes: [], tolerations: [] };
  return { ...lists, labels: {}, annotations: {}, env: {}, volumeMounts: {} };
}

function additionsOf(
  pod: v.InferOutput<typeof podSchema>,
  { metadata: { labels, annotations }, spec: template }: v.InferOutput<typeof templateSchema>,
): Injected {
  const { spec } = pod;
  const templates = [...template.containers, ...template.initContainers];
  const within = (member: 'env' | 'volumeMounts'): JsonObject => {
    const entries = [...spec.containers, ...spec.initContainers].flatMap((container) => {
      const own = templates.find(({ name }) => name === container['name']);
      if (own === undefined) return [];
      const more = beyond(listOf(container, member), listOf(own, member));
      return more.length === 0 ? [] : [[textOf(own['name']), more] as const];
    });
    return Object.fromEntries(entries);
  };
  return {
    containers: newOnes(spec.containers, template.containers),
    initContainers: newOnes(spec.initContainers, template.initContainers),
    volumes: beyond(spec.volumes, template.volumes).filter((volume) => !isToken(volume['name'])),
    tolerations: beyond(spec.tolerations, template.tolerations).filter(
      ({ key }) => !textOf(key).startsWith('node.kubernetes.io/'),
    ),
    labels: newTexts(pod.metadata.labels, labels, OWN_LABELS),
    annotations: newTexts(pod.metadata.annotations, annotations, KNOWN_ANNOTATIONS),
    env: within('env'),
    volumeMounts: within('volumeMounts'),
  };
}

/** Containers of other names than the template's; their mount of the token has another name in each pod. */
function newOnes(
  containers: readonly JsonObject[],
  own: readonly JsonObject[],
): readonly JsonObject[] {
  return containers
    .filter(({ name }) => !own.some((one) => one['name'] === name))
    .map((container) => ({ ...container, volumeMounts: listOf(container, 'volumeMounts') }));
}

function listOf(container: JsonObject, member: string): readonly JsonObject[] {
  const list = container[member];
  const objects = Array.isArray(list) ? (list as readonly Json[]).filter(isObject) : [];
  return objects.filter(({ name }) => member !== 'volumeMounts' || !isToken(name));
}

function beyond(list: readonly JsonObject[], own: readonly JsonObject[]): readonly JsonObject[] {
  return list.filter((item) => !own.some((one) => isDeepStrictEqual(one, item)));
}

function newTexts(
  all: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  known: readonly string[],
): JsonObject {
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => own[name] === undefined && !known.includes(name)),
  );
}

function isToken(name: Json | undefined): boolean {
  return TOKEN_VOLUME.test(textOf(name));
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is JsonObject {
  return isJsonObject(value);
}
