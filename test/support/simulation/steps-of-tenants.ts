/**
 * Steps of a tenant with the rights of `edit` in one namespace, against whoever shares his cluster (issue 40).
 *
 * All that he does is in his namespace, and goes when faults stop. A quiet DaemonSet of another namespace is his victim: nobody edits it,
 * so its pods go only where they ended, and come back within their bound.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';
import { SENTINEL_KEY, sentinelBody } from '../../../src/core/may-act/takeover-sentinel.ts';
import { uid } from '../../../src/core/model/identifiers.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { phaseOf } from './controllers.ts';
import type { Dice } from './dice.ts';
import { rawDaemonSet, type NewObject } from './objects.ts';
import type { StepContext } from './step-context.ts';
import type { World } from './world.ts';

const TENANT = 'tenant';
const SET = 'noise';
const VICTIM = 'agent';
const CROWD = 150;
const NAME_CHARACTERS_MAX = 253;
const ANNOTATION_CHARACTERS = 20_000;
/** A pod that ended is replaced within so long, whatever goes on next door. */
const BACK_WITHIN_MS = 120_000;
const NEVER_MS = 1_000_000_000;

type Deed = (world: World, dice: Dice) => void;

/** A takeover with its sentinel, and an eye on the pods of all others. */
export function letTenantIn(world: World): void {
  const { api, site, observer } = world;
  const raw = sentinelBody('simulation');
  const written = raw['metadata'] as JsonObject;
  const body: NewObject = { ...raw, metadata: { ...written, ...SENTINEL_KEY } };
  const sentinel = api.createDaemonSet(body);
  world.register({
    sentinel: { uid: uid(sentinel.metadata.uid), createdAtMs: world.apiClock.nowMs() },
  });
  const { onPodDelete } = api.hooks;
  api.hooks.onPodDelete = (pod): void => {
    const isOver = ['Failed', 'Succeeded'].includes(phaseOf(pod) ?? '');
    if (pod.metadata.namespace !== TENANT && !isOver) {
      observer.report(`S3: ${pod.metadata.name}, of a DaemonSet that nobody changed, is deleted`);
    }
    onPodDelete?.(pod);
  };
  const tenancy: Tenancy = { isFull: false, endedAtMs: new Map() };
  tenancies.set(world, tenancy);
  site.intervene = aroundQuota(site.intervene, tenancy);
}

/** What is known of him, and of pods of his victim that were ended. */
interface Tenancy {
  /** His quota. */
  isFull: boolean;
  /** When the pod of a node was ended last. */
  readonly endedAtMs: Map<string, number>;
}

const tenancies = new WeakMap<World, Tenancy>();

function tenancyOf(world: World): Tenancy {
  const tenancy = tenancies.get(world);
  if (tenancy === undefined) throw new Error('a tenant does something, and was never let in');
  return tenancy;
}

/** His quota is full from time to time: creates in his namespace are refused. */
function aroundQuota(
  inner: World['site']['intervene'],
  tenancy: Tenancy,
): World['site']['intervene'] {
  return (effect) => {
    const isHis = effect.kind === 'create-pod' && effect.namespace === TENANT;
    if (!isHis || !tenancy.isFull) return inner(effect);
    const outcome = { kind: 'refused', code: 'quota', status: 403, message: 'exceeded quota' };
    return { kind: 'answer', outcome: outcome as never };
  };
}

/** Something that he may do; and a pod of his victim ends, which has to come back. */
export function hostileTenant({ world, dice, later }: StepContext): boolean {
  const { api } = world;
  if (api.find('daemonsets', SET, TENANT) === undefined) {
    create(world, SET, { spec: {} });
    later(NEVER_MS, () => {
      leave(world);
    });
  }
  dice.pick(DEEDS)(world, dice);
  endVictimsPod(world, dice);
  return true;
}

function create(world: World, name: string, { annotations, spec }: JsonObject): void {
  const raw = rawDaemonSet(name, { annotations: annotations as never, spec: spec as JsonObject });
  const his: NewObject = { ...raw, metadata: { ...raw.metadata, namespace: TENANT } };
  world.api.createDaemonSet(his);
}

const DEEDS: readonly Deed[] = [
  forgeWriter,
  forgeWriter,
  crowd,
  annotate,
  selectOthers,
  forgeOwner,
  forgeOwner,
  (world, dice) => {
    tenancyOf(world).isFull = dice.chance(0.5);
  },
  setBack,
  endOwnPods,
];

/** An entry of any manager and time: an API server takes it from a request. Then a run looks at the object live. */
function forgeWriter(world: World, dice: Dice): void {
  const manager = dice.pick(['kube-controller-manager', 'rollcall', 'kubectl-x', 'other']);
  const time = dice.pick(['2099-01-01T00:00:00Z', '1970-01-01T00:00:00Z', later(world)]);
  const entry = {
    ...{ manager, operation: 'Update', apiVersion: 'apps/v1', subresource: 'status', time },
    ...{ fieldsType: 'FieldsV1', fieldsV1: { 'f:status': { 'f:observedGeneration': {} } } },
  };
  world.api.change('daemonsets', { namespace: TENANT, name: SET }, (set) => ({
    ...set,
    metadata: { ...set.metadata, managedFields: [entry] } as KubernetesObject['metadata'],
  }));
  endOwnPods(world);
}

function later({ apiClock }: World): string {
  return new Date(apiClock.nowMs()).toISOString();
}

/** DaemonSets that select nothing, with names as long as names may be. */
function crowd(world: World, dice: Dice): void {
  if (world.api.list('daemonsets').length > CROWD) return;
  for (let index = 0; index < CROWD; index += 1) {
    const letters = Array.from({ length: NAME_CHARACTERS_MAX }, () => dice.between(10, 35));
    const name = letters.map((letter) => letter.toString(36)).join('');
    const app = name.slice(0, 60);
    create(world, name, {
      spec: { selector: { matchLabels: { app } }, template: nowhere(app) },
    });
  }
}

function nowhere(app: string): JsonObject {
  const spec = { containers: [{ name: 'main', image: 'a:1' }], nodeSelector: { no: 'where' } };
  return { metadata: { labels: { app } }, spec };
}

/** Annotations as large as they may be: of nobody's, and of the policy. */
function annotate(world: World, dice: Dice): void {
  const key = dice.pick([POLICY_ANNOTATION, 'tenant.example/load']);
  const annotations = { [key]: 'x'.repeat(ANNOTATION_CHARACTERS) };
  world.api.change('daemonsets', { namespace: TENANT, name: SET }, (set) => ({
    ...set,
    metadata: { ...set.metadata, annotations: { ...set.metadata.annotations, ...annotations } },
  }));
}

/** The selector of his victim, and pods that bear its labels. */
function selectOthers(world: World, dice: Dice): void {
  const name = `like-${VICTIM}`;
  if (world.api.find('daemonsets', name, TENANT) === undefined) {
    create(world, name, {
      spec: { selector: { matchLabels: { app: VICTIM } }, template: nowhere(VICTIM) },
    });
  }
  putPod(world, dice, {});
}

function forgeOwner(world: World, dice: Dice): void {
  const victim = world.api.find('daemonsets', VICTIM, 'ns');
  if (victim === undefined) return;
  const { uid: of, name } = victim.metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: of, controller: true };
  putPod(world, dice, { ownerReferences: [owner] });
}

function putPod(world: World, dice: Dice, metadata: JsonObject): void {
  const nodes = world.api.list('nodes');
  if (nodes.length === 0) return;
  const node = dice.pick(nodes).metadata.name;
  const pod: NewObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `forged-${node}`,
      namespace: TENANT,
      labels: { app: VICTIM },
      ...metadata,
    },
    spec: { nodeName: node },
    status: { phase: 'Running' },
  };
  world.api.put('pods', pod);
}

function isForged({ metadata }: KubernetesObject): boolean {
  return metadata.name.startsWith('forged-') && metadata.ownerReferences !== undefined;
}

/** His template, and back. */
function setBack(world: World, dice: Dice): void {
  const image = `noise:${String(dice.between(1, 2))}`;
  world.api.change('daemonsets', { namespace: TENANT, name: SET }, (set) => ({
    ...set,
    metadata: { ...set.metadata, generation: (set.metadata.generation ?? 0) + 1 },
    spec: JSON.parse(JSON.stringify(set['spec']).replace(/noise:\d/, image)) as JsonObject,
  }));
}

function endOwnPods(world: World): void {
  for (const { metadata } of podsIn(world, TENANT)) {
    world.api.remove('pods', metadata.name, TENANT);
  }
}

function podsIn({ api }: World, namespace: string): readonly KubernetesObject[] {
  return api.list('pods').filter(({ metadata }) => metadata.namespace === namespace);
}

/** Its node has another one within the bound, if it still stands by then. */
function endVictimsPod(world: World, dice: Dice): void {
  const pods = podsIn(world, 'ns').filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  if (pods.length === 0) return;
  // Where one of the tenant's says that it is the victim's, before others.
  const forged = new Set(podsIn(world, TENANT).filter(isForged).map(nodeOf));
  const contested = pods.filter((one) => forged.has(nodeOf(one)));
  const pod = dice.pick(contested.length > 0 && dice.chance(0.8) ? contested : pods);
  const node = nodeOf(pod) ?? '';
  const { endedAtMs } = tenancyOf(world);
  const nowMs = world.clock.monotonicMs();
  endedAtMs.set(node, nowMs);
  world.api.remove('pods', pod.metadata.name, 'ns');
  world.clock.after(BACK_WITHIN_MS, () => {
    // Ended once more meanwhile: it is for that time to judge.
    if (endedAtMs.get(node) !== nowMs) return;
    const isThere = world.api.list('nodes').some(({ metadata }) => metadata.name === node);
    if (!isThere || podsIn(world, 'ns').some((one) => nodeOf(one) === node)) return;
    world.observer.report(`L1: ${node} has had no pod of ns/${VICTIM} for two minutes`);
  });
}

function leave(world: World): void {
  tenancyOf(world).isFull = false;
  for (const kind of ['pods', 'daemonsets'] as const) {
    for (const { metadata } of world.api.list(kind)) {
      if (metadata.namespace === TENANT) world.api.remove(kind, metadata.name, TENANT);
    }
  }
}
