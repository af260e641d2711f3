/**
 * An edit that is planned, made in the world, and followed to rest: what the plan said beside what was done to each node.
 *
 * The plan is `rollcall plan`'s own (app/what-if). What was done is told by the API server's commits, by nobody's word: for each node
 * whether its pod came, went or was replaced, and when that began.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { createProcessCache } from '../../../src/app/reconcile/process/process-cache.ts';
import { planEdit } from '../../../src/app/what-if/plan-edit.ts';
import type { PlanOutcome } from '../../../src/app/what-if/plan-edit.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import type { DaemonSetEdit, Edit, NodeEdit } from '../../../src/core/what-if/edit.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import { enterCopilot } from './copilot-world.ts';
import { Dice, mixSeed } from './dice.ts';
import { rawDaemonSet, rawNode } from './objects.ts';
import { CLUSTER } from './registration.ts';
import { setNames } from './step-context.ts';
import { World } from './world.ts';

const NAME = setNames(1)[0] ?? '';
const NAMESPACE = 'ns';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const GPU: Taint = { key: 'gpu', effect: 'NoSchedule' };

/** A world at rest, and an edit for it. */
export interface DrawnEdit {
  readonly world: World;
  readonly name: string;
  readonly edit: Edit;
  /** Makes it. */
  readonly make: () => void;
  /** In words, for a failure. */
  readonly words: string;
}

interface Setting {
  readonly mode: 'takeover' | 'copilot';
  readonly nodes: number;
  readonly policy?: string;
  readonly spec: JsonObject;
}

function drawSetting(dice: Dice): Setting {
  const mode = dice.pick(['takeover', 'copilot'] as const);
  const isStaged = dice.chance(0.6);
  const policy = dice.pick([
    '{canary: {nodes: 1}, soak: 1m, maxUnavailable: 2}',
    '{canary: {nodes: 2}, soak: 30s, order: [{label: pool, values: [b]}]}',
    '{canary: {nodes: 1}, soak: 1m, approval: after-canary}',
    '{paused: true}',
    '{canary: {nodes: 1}, soak: 1m, maxUnavailable: 100%, partition: 2}',
  ]);
  const rolling = dice.pick([
    { maxUnavailable: 1 },
    { maxUnavailable: 2 },
    { maxUnavailable: '40%' },
  ]);
  const surging = mode === 'takeover' && !isStaged && dice.chance(0.3);
  const rollingUpdate = surging ? { maxUnavailable: 0, maxSurge: 2 } : rolling;
  const isOnDelete = (mode === 'copilot' && isStaged) || dice.chance(0.15);
  const updateStrategy = isOnDelete
    ? { type: 'OnDelete' }
    : { type: 'RollingUpdate', rollingUpdate };
  const minReadySeconds = dice.pick([0, 0, 5]);
  const spec = { updateStrategy, minReadySeconds };
  const nodes = dice.between(5, 12);
  return { mode, nodes, spec, ...(isStaged ? { policy } : {}) };
}

/** A world with one DaemonSet, settled, and an edit that the seed draws. */
export async function drawEdit(seed: number): Promise<DrawnEdit> {
  const dice = new Dice(mixSeed('plans', seed));
  const setting = drawSetting(dice);
  const world = await World.start({ seed });
  for (let number = 1; number <= setting.nodes; number += 1) {
    const taints = dice.chance(0.15) ? [GPU] : [];
    world.addNode(`n${String(number)}`, { labels: { pool: dice.pick(['a', 'b']) }, taints });
  }
  if (setting.mode === 'copilot') enterCopilot(world, 'deletes');
  const written = daemonSetOf(setting);
  world.api.createDaemonSet(withLastApplied(written));
  await world.settle();
  // Times of the first release are over, as where somebody plans an edit.
  await world.advance(10 * 60_000);
  return { world, ...drawChange(dice, { world, written, setting }) };
}

type Written = ReturnType<typeof rawDaemonSet>;

function daemonSetOf({ policy, spec }: Setting): Written {
  const annotations = policy === undefined ? {} : { 'rollcall.dev/rollout': policy };
  return rawDaemonSet(NAME, { annotations, spec });
}

function withLastApplied(written: Written): Written {
  const { annotations } = written.metadata;
  const noted = { ...(annotations as JsonObject), [LAST_APPLIED]: JSON.stringify(written) };
  return { ...written, metadata: { ...written.metadata, annotations: noted } };
}

interface Drawing {
  readonly world: World;
  readonly written: Written;
  readonly setting: Setting;
}

function drawChange(dice: Dice, drawing: Drawing): Omit<DrawnEdit, 'world'> {
  const kinds = [
    'image',
    'image',
    'image',
    'selector',
    'toleration',
    'budget',
    'same',
    'none',
  ] as const;
  const others = ['none', 'create', 'delete'] as const;
  const kind = dice.pick([...kinds, ...others]);
  const isOfNodes = kind === 'none' || (kind !== 'delete' && dice.chance(0.3));
  const nodes = isOfNodes ? drawNodes(dice, drawing) : [];
  const { edit, make, name = NAME } = drawSet(kind, drawing);
  const words = `${drawing.setting.mode} ${JSON.stringify(drawing.setting)}: ${kind}, ${JSON.stringify(nodes)}`;
  return {
    name,
    words,
    edit: { daemonSet: edit, nodes },
    make: () => {
      for (const each of nodes) makeNode(drawing.world, each);
      make();
    },
  };
}

type Kind = 'image' | 'selector' | 'toleration' | 'budget' | 'same' | 'none' | 'create' | 'delete';

interface Made {
  readonly edit: DaemonSetEdit;
  readonly make: () => void;
  readonly name?: string;
}

function drawSet(kind: Kind, { world, written, setting }: Drawing): Made {
  switch (kind) {
    case 'none':
      return { edit: { kind: 'none' }, make: () => undefined };
    case 'delete':
      return {
        edit: { kind: 'delete' },
        make: () => {
          world.controllers.deleteDaemonSet(NAME, 'background');
        },
      };
    case 'create': {
      const other = rawDaemonSet('b', { spec: setting.spec });
      return {
        name: 'b',
        edit: { kind: 'apply', manifest: other as JsonObject },
        make: () => {
          world.api.createDaemonSet(other);
        },
      };
    }
    default:
      return applied(world, written, changedSpec(kind, written['spec'] as JsonObject));
  }
}

function applied(world: World, written: Written, spec: JsonObject): Made {
  const manifest = { ...written, spec } as JsonObject;
  return {
    edit: { kind: 'apply', manifest },
    make: () => {
      if (JSON.stringify(spec) === JSON.stringify(written['spec'])) return;
      world.api.editDaemonSet(NAME, () => spec);
    },
  };
}

function changedSpec(
  kind: Exclude<Kind, 'none' | 'create' | 'delete'>,
  spec: JsonObject,
): JsonObject {
  const template = spec['template'] as JsonObject;
  const pod = template['spec'] as JsonObject;
  const withPod = (change: JsonObject): JsonObject => ({
    ...spec,
    template: { ...template, spec: { ...pod, ...change } },
  });
  switch (kind) {
    case 'image':
      return withPod({ containers: [{ name: 'main', image: `${NAME}:2` }] });
    case 'selector':
      return withPod({ nodeSelector: { pool: 'a' } });
    case 'toleration':
      return withPod({ tolerations: [{ key: 'gpu', operator: 'Exists' }] });
    case 'budget':
      return { ...spec, minReadySeconds: 7 };
    case 'same':
      return spec;
  }
}

function drawNodes(dice: Dice, { world }: Drawing): readonly NodeEdit[] {
  const names = world.api.list('nodes').map(({ metadata }) => metadata.name);
  const node = nodeName(dice.pick(names));
  const taint = (effect: Taint['effect']): NodeEdit => ({
    kind: 'taint',
    node,
    taint: { key: 'dedicated', effect },
  });
  return [
    dice.pick<NodeEdit>([
      { kind: 'label', node, key: 'pool', value: 'c' },
      taint('NoSchedule'),
      taint('NoExecute'),
      { kind: 'untaint', node, key: 'gpu' },
      { kind: 'cordon', node },
      { kind: 'delete', node },
    ]),
  ];
}

/** Written by itself, so that it proves the edit of the plan. */
function makeNode(world: World, edit: NodeEdit): void {
  const { node } = edit;
  if (edit.kind === 'delete') {
    world.controllers.removeNode(node);
    return;
  }
  const found = world.api.find('nodes', node);
  const labels = found?.metadata.labels ?? {};
  const taints = ((found?.['spec'] as JsonObject | undefined)?.['taints'] ??
    []) as unknown as Taint[]; // objects of the simulation are raw JSON
  const others = (key: string): readonly Taint[] => taints.filter((taint) => taint.key !== key);
  switch (edit.kind) {
    case 'label':
      world.api.put(
        'nodes',
        rawNode(node, { labels: { ...labels, [edit.key]: edit.value }, taints }),
      );
      return;
    case 'taint':
      world.api.put('nodes', rawNode(node, { labels, taints: [...taints, edit.taint] }));
      return;
    case 'untaint':
      world.api.put('nodes', rawNode(node, { labels, taints: others(edit.key) }));
      return;
    case 'cordon': {
      const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;
      const cordoned = rawNode(node, { labels, taints: [...taints, cordon] });
      const spec = { ...(cordoned['spec'] as JsonObject), unschedulable: true };
      world.api.put('nodes', { ...cordoned, spec });
      return;
    }
    default:
      throw new Error(`no such edit is drawn: ${edit.kind}`);
  }
}

/** The plan of `rollcall plan`. */
export function planOf({ world, name, edit }: DrawnEdit): Promise<PlanOutcome> {
  const { registry, freezes, view } = world;
  return planEdit({ cluster: CLUSTER, namespace: NAMESPACE, name }, edit, {
    ...{ registry, freezes, view, standing: {} },
    policies: createPolicyReader(),
    holderOf: () => Promise.resolve(undefined),
    cache: createProcessCache(),
    options: defaultReconcileOptions,
    nowMs: world.functionClock.nowMs(),
  });
}

/** What was done to one node. */
export interface Done {
  readonly change: 'gained' | 'lost' | 'restarted';
  readonly atMs: number;
}

/** Makes the edit, and follows what happens until nothing does any more. */
export async function makeAndFollow({
  world,
  name,
  make,
}: DrawnEdit): Promise<ReadonlyMap<string, Done>> {
  const owner = (): string | undefined =>
    world.api.find('daemonsets', name, NAMESPACE)?.metadata.uid;
  const uid = owner();
  const had = new Set(podsOf(world, uid).map((pod) => nodeOf(pod) ?? '?'));
  const deeds: {
    readonly node: string;
    readonly kind: 'create' | 'delete';
    readonly atMs: number;
  }[] = [];
  const going = new Set<string>();
  const stop = world.api.subscribe((commit) => {
    if (commit?.kind !== 'pods') return;
    const { object, type } = commit;
    const { metadata } = object;
    if (controllerUid(object) !== (uid ?? owner())) return;
    const node = nodeOf(object) ?? '?';
    const atMs = world.clock.nowMs();
    if (type === 'added') deeds.push({ node, kind: 'create', atMs });
    const isGoing = metadata.deletionTimestamp !== undefined || type === 'deleted';
    if (!isGoing || going.has(metadata.uid)) return;
    going.add(metadata.uid);
    deeds.push({ node, kind: 'delete', atMs });
  });
  make();
  await untilStill(world, () => deeds.length);
  stop();
  return new Map(
    [...Map.groupBy(deeds, ({ node }) => node)].map(([node, own]) => {
      const isMade = own.some(({ kind }) => kind === 'create');
      const change = !had.has(node) ? 'gained' : isMade ? 'restarted' : 'lost';
      return [node, { change, atMs: own[0]?.atMs ?? 0 }];
    }),
  );
}

const STILL_MS = 12 * 60_000;

async function untilStill(world: World, count: () => number): Promise<void> {
  for (let turn = 0; turn < 60; turn += 1) {
    const before = count();
    await world.advance(STILL_MS);
    if (count() === before && turn > 0) return;
  }
  throw new Error('it does not come to rest');
}

function podsOf(world: World, uid: string | undefined): readonly KubernetesObject[] {
  if (uid === undefined) return [];
  return world.api
    .list('pods')
    .filter((pod) => controllerUid(pod) === uid && pod.metadata.deletionTimestamp === undefined);
}
