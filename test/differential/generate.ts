/**
 * Draws scenarios from a seed: the same seed and number draw the same steps, on every machine.
 *
 * A rough model of what exists keeps steps meaningful; a step that turns out to have no subject does
 * nothing. Pure: nothing is played here.
 */
import { createSeeded, type Seeded } from '../conformance/scenarios/seeded.ts';
import { anyNode, type Model } from './generate-model.ts';
import { drawKinds, withKinds } from './generate-kinds.ts';
import { drawOthers } from './generate-others.ts';
import type {
  Operation,
  PodOperation,
  Propagation,
  Scenario,
  Step,
  SetForm,
  StrategyForm,
  TolerationForm,
} from './scenario.ts';
import { SET_NAMES } from './set-spec.ts';
import type { Taint } from '../conformance/control-plane/nodes.ts';

const TOLERATIONS: readonly (readonly TolerationForm[])[] = [
  [{ operator: 'Exists' }],
  [{ key: 'dedicated', operator: 'Exists' }],
  [{ key: 'dedicated', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }],
  [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute' }],
  [
    {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 30,
    },
  ],
  [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }],
];

function drawForm(seeded: Seeded): SetForm {
  return {
    version: 1,
    strategy: drawStrategy(seeded),
    ...(seeded.next() < 0.2 ? { pool: seeded.pick(['a', 'b']) } : {}),
    ...(seeded.next() < 0.2 ? { disk: drawDisk(seeded) } : {}),
    ...(seeded.next() < 0.5 ? { tolerations: seeded.pick(TOLERATIONS) } : {}),
    ...(seeded.next() < 0.2 ? { minReadySeconds: seeded.integer({ from: 1, to: 2 }) } : {}),
    ...(seeded.next() < 0.5 ? { revisionsMax: seeded.integer({ from: 0, to: 3 }) } : {}),
    ...(seeded.next() < 0.1 ? { hostNetwork: true } : {}),
  };
}

/** A strategy: mostly maxUnavailable, then maxSurge, then OnDelete. */
function drawStrategy(seeded: Seeded): StrategyForm {
  const chance = seeded.next();
  if (chance < 0.15) return { type: 'OnDelete' };
  if (chance < 0.65) {
    const maxUnavailable = seeded.pick([1, 1, 2, 3, '20%', '50%', '100%']);
    return { type: 'RollingUpdate', maxUnavailable };
  }
  return { type: 'RollingUpdate', maxSurge: seeded.pick([1, 1, 2, '30%', '100%']) };
}

/** An edit of the template: another version, and sometimes more. */
function drawTemplateChange(seeded: Seeded, version: number): SetForm {
  return {
    version,
    isUnhealthy: seeded.next() < 0.2,
    ...(seeded.next() < 0.15 ? { pool: seeded.pick(['a', 'b', null]) } : {}),
    ...(seeded.next() < 0.15 ? { disk: seeded.next() < 0.5 ? drawDisk(seeded) : null } : {}),
    ...(seeded.next() < 0.2 ? { tolerations: drawTolerations(seeded) } : {}),
    ...(seeded.next() < 0.15 ? { strategy: drawStrategy(seeded) } : {}),
  };
}

function drawTolerations(seeded: Seeded): readonly TolerationForm[] | null {
  return seeded.next() < 0.3 ? null : seeded.pick(TOLERATIONS);
}

function drawDisk(seeded: Seeded): NonNullable<SetForm['disk']> {
  return { operator: seeded.pick(['In', 'NotIn', 'Exists', 'DoesNotExist'] as const) };
}

/** Which scenario to draw, and how long. */
export interface GenerateOptions {
  readonly seed: number;
  readonly index: number;
  readonly stepsCount: number;
}

const NODES_AT_START = { from: 4, to: 7 };
const NODES_MAX = 10;
const NODES_MIN = 3;
/** An odd multiplier spreads neighbouring numbers over the seeds. */
const SEED_STRIDE = 0x9e3779b1;
/** Tells the dice of what others write from those of everything else. */
const OTHERS_SEED = 0x0d1ce5;
/** Tells those of generate-kinds.ts. */
const KINDS_SEED = 0x5e1ec7;

/** Draws one scenario: nodes and a first DaemonSet, then `stepsCount` steps, and what others write in between. */
export function generateScenario(options: GenerateOptions): Scenario {
  const { seed, index, stepsCount } = options;
  const ownSeed = (seed + Math.imul(index + 1, SEED_STRIDE)) >>> 0;
  const seeded = createSeeded(ownSeed);
  const others = createSeeded((ownSeed ^ OTHERS_SEED) >>> 0);
  const kinds = createSeeded((ownSeed ^ KINDS_SEED) >>> 0);
  const model: Model = {
    seeded,
    nodes: new Set(),
    notReady: new Set(),
    taintKeys: new Map(),
    sets: new Map(),
    held: new Set(),
    unready: new Set(),
    released: new Set(),
    isRefusing: false,
    nextNode: 1,
    nextVersion: 2,
  };
  const steps: Step[] = [];
  const nodesCount = seeded.integer(NODES_AT_START);
  for (let count = 0; count < nodesCount; count += 1) {
    const join = { ...joinNode(model), isHurried: count < nodesCount - 1 };
    steps.push(...withKinds(model, kinds, [join]));
  }
  steps.push(...withKinds(model, kinds, [createSet(model)]));
  for (let left = stepsCount; left > 0;) {
    const drawn = drawSteps(model).slice(0, left);
    left -= drawn.length;
    steps.push(...withKinds(model, kinds, drawn));
    if (left > 0) steps.push(...drawOthers(model, others), ...drawKinds(model, kinds));
  }
  return { title: `seed ${seed} scenario ${index}`, steps };
}

type Draw = (model: Model) => readonly Step[];

/** What may happen, how often, and when it makes sense. */
const DRAWS: readonly (readonly [weight: number, isPossible: (model: Model) => boolean, Draw])[] = [
  [5, ({ nodes }) => nodes.size < NODES_MAX, (model) => [joinNode(model)]],
  [4, ({ nodes }) => nodes.size > NODES_MIN, (model) => [leaveNode(model)]],
  [3, always, (model) => [{ op: 'node-remake', node: anyNode(model) }]],
  [7, always, (model) => [labelNode(model)]],
  [7, always, (model) => [taintNode(model)]],
  [6, ({ taintKeys }) => taintKeys.size > 0, (model) => [untaintNode(model)]],
  [2, always, (model) => [{ op: 'node-cordon', node: anyNode(model) }]],
  [2, always, (model) => [{ op: 'node-uncordon', node: anyNode(model) }]],
  [3, ({ notReady }) => notReady.size < 2, (model) => [spoilNode(model)]],
  [5, ({ notReady }) => notReady.size > 0, (model) => [mendNode(model)]],
  [4, ({ sets }) => sets.size < SET_NAMES.length, (model) => [createSet(model)]],
  [14, hasCalmSet, (model) => rollOut(model)],
  [6, hasCalmSet, (model) => [{ op: 'set-undo', set: anySet(model) }]],
  [5, hasSet, (model) => [editStrategy(model)]],
  [8, ({ sets, isRefusing }) => !isRefusing && [...sets.values()].includes(true), healSet],
  [2, ({ sets }) => sets.size > 1, (model) => [deleteSet(model)]],
  [3, hasCalmSet, (model) => [remakeSet(model)]],
  [6, hasSet, (model) => [podStep(model, 'pod-delete')]],
  [4, hasSet, (model) => [podStep(model, 'pod-fail')]],
  [2, hasSet, (model) => [keep(model.held, podStep(model, 'pod-fail-held'))]],
  [2, hasSet, (model) => [podStep(model, 'pod-succeed')]],
  [3, hasSet, (model) => [keep(model.held, podStep(model, 'pod-stick'))]],
  [3, hasSet, (model) => [keep(model.held, podStep(model, 'pod-hold'))]],
  [8, ({ held }) => held.size > 0, (model) => [takeBack(model, model.held, 'pod-free')]],
  [4, hasSet, (model) => [keep(model.unready, podStep(model, 'pod-unready'))]],
  [6, ({ unready }) => unready.size > 0, (model) => [takeBack(model, model.unready, 'pod-ready')]],
  [4, hasSet, (model) => [keep(model.released, podStep(model, 'pod-release'))]],
  [4, ({ released }) => released.size > 0, (m) => [takeBack(m, m.released, 'pod-reclaim')]],
  [3, hasSet, (model) => [podStep(model, 'pod-orphan')]],
  [3, ({ isRefusing }) => !isRefusing, refuse],
  [20, ({ isRefusing }) => isRefusing, admit],
];

function drawSteps(model: Model): readonly Step[] {
  const possible = DRAWS.filter(([, isPossible]) => isPossible(model));
  const total = possible.reduce((sum, [weight]) => sum + weight, 0);
  let rest = model.seeded.next() * total;
  for (const [weight, , draw] of possible) {
    rest -= weight;
    if (rest < 0) return draw(model);
  }
  return [joinNode(model)];
}

function always(): boolean {
  return true;
}

function hasSet({ sets }: Model): boolean {
  return sets.size > 0;
}

/** No rollout begins while admission refuses pods: the original stands still there (refused creates). */
function hasCalmSet({ sets, isRefusing }: Model): boolean {
  return sets.size > 0 && !isRefusing;
}

function anySet({ seeded, sets }: Model): string {
  return seeded.pick([...sets.keys()]);
}

function createSet(model: Model): Operation {
  const free = SET_NAMES.filter((name) => !model.sets.has(name));
  const set = model.seeded.pick(free);
  model.sets.set(set, false);
  return { op: 'set-create', set, form: drawForm(model.seeded) };
}

/**
 * An edit of the template; now and then the next one comes before it is rolled out. That only where all ends
 * well: how far an interrupted rollout came is chance, and what never completes would show it.
 */
function rollOut(model: Model): readonly Step[] {
  const { seeded } = model;
  const set = anySet(model);
  const wasUnhealthy = model.sets.get(set) === true;
  const edit = (): Extract<Operation, { readonly op: 'set-edit' }> => {
    const form = drawTemplateChange(seeded, model.nextVersion);
    model.nextVersion += 1;
    model.sets.set(set, form.isUnhealthy === true);
    return { op: 'set-edit', set, form };
  };
  const first = edit();
  if (wasUnhealthy || seeded.next() < 0.7) return [first];
  model.sets.set(set, false);
  const healthy = { ...first, form: { ...first.form, isUnhealthy: false }, isHurried: true };
  const chance = seeded.next();
  if (chance < 0.5) return [healthy, { op: 'set-undo', set }];
  if (chance < 0.8) {
    const second = edit();
    model.sets.set(set, false);
    return [healthy, { ...second, form: { ...second.form, isUnhealthy: false } }];
  }
  return [healthy, labelNode(model)];
}

function healSet(model: Model): readonly Step[] {
  const { seeded, sets } = model;
  const set = seeded.pick([...sets].filter(([, isUnhealthy]) => isUnhealthy).map(([name]) => name));
  sets.set(set, false);
  model.nextVersion += 1;
  return [
    seeded.next() < 0.5
      ? { op: 'set-undo', set }
      : { op: 'set-edit', set, form: { version: model.nextVersion, isUnhealthy: false } },
  ];
}

function editStrategy(model: Model): Operation {
  const { seeded } = model;
  const form =
    seeded.next() < 0.7
      ? { strategy: drawStrategy(seeded) }
      : { revisionsMax: seeded.integer({ from: 0, to: 3 }) };
  return { op: 'set-edit', set: anySet(model), form };
}

function drawPropagation(seeded: Seeded): Propagation {
  return seeded.pick(['Background', 'Foreground', 'Orphan', 'Orphan']);
}

function deleteSet(model: Model): Operation {
  const set = anySet(model);
  model.sets.delete(set);
  return { op: 'set-delete', set, propagation: drawPropagation(model.seeded) };
}

function remakeSet(model: Model): Operation {
  const set = anySet(model);
  model.sets.set(set, false);
  const propagation = drawPropagation(model.seeded);
  return { op: 'set-remake', set, propagation, form: drawForm(model.seeded) };
}

interface PodStep {
  readonly op: PodOperation;
  readonly set: string;
  readonly node: string;
}

function podStep(model: Model, op: PodOperation): PodStep {
  return { op, set: anySet(model), node: anyNode(model) };
}

function keep(subjects: Set<string>, step: PodStep): PodStep {
  subjects.add(`${step.set} ${step.node}`);
  return step;
}

function takeBack({ seeded }: Model, subjects: Set<string>, op: PodOperation): PodStep {
  const subject = seeded.pick([...subjects]);
  subjects.delete(subject);
  const [set = '', node = ''] = subject.split(' ');
  return { op, set, node };
}

function refuse(model: Model): readonly Step[] {
  model.isRefusing = true;
  const { seeded } = model;
  const refusedNodes = [...new Set([anyNode(model), anyNode(model)])];
  const node = seeded.pick(refusedNodes);
  return [
    { op: 'admission', refusedNodes },
    { op: 'pod-delete', set: anySet(model), node },
  ];
}

function admit(model: Model): readonly Step[] {
  model.isRefusing = false;
  return [{ op: 'admission', refusedNodes: [] }];
}

function joinNode(model: Model): Operation {
  const { seeded } = model;
  const node = `n${model.nextNode}`;
  model.nextNode += 1;
  model.nodes.add(node);
  const labels = {
    ...(seeded.next() < 0.4 ? { pool: seeded.pick(['a', 'b']) } : {}),
    ...(seeded.next() < 0.4 ? { disk: seeded.pick(['ssd', 'hdd']) } : {}),
  };
  if (seeded.next() < 0.8) return { op: 'node-join', node, labels };
  const taint = drawTaint(seeded);
  noteTaint(model, node, taint);
  return { op: 'node-join', node, labels, taints: [taint] };
}

function leaveNode(model: Model): Operation {
  const node = anyNode(model);
  model.nodes.delete(node);
  model.notReady.delete(node);
  model.taintKeys.delete(node);
  return { op: 'node-leave', node };
}

/** A label that DaemonSets may select changes, or goes. */
function labelNode(model: Model): Operation {
  const { seeded } = model;
  const node = anyNode(model);
  const key = seeded.pick(['pool', 'disk']);
  const values = key === 'pool' ? ['a', 'b', null] : ['ssd', 'hdd', null];
  return { op: 'node-label', node, key, value: seeded.pick(values) };
}

function drawTaint(seeded: Seeded): Taint {
  const key = seeded.pick(['dedicated', 'maintenance']);
  const effect = seeded.pick([
    'NoSchedule',
    'NoSchedule',
    'NoExecute',
    'PreferNoSchedule',
  ] as const);
  return seeded.next() < 0.5 ? { key, effect } : { key, value: 'yes', effect };
}

function noteTaint({ taintKeys }: Model, node: string, { key }: Taint): void {
  taintKeys.set(node, (taintKeys.get(node) ?? new Set()).add(key));
}

function taintNode(model: Model): Operation {
  const node = anyNode(model);
  const taint = drawTaint(model.seeded);
  noteTaint(model, node, taint);
  return { op: 'node-taint', node, taint };
}

function untaintNode({ seeded, taintKeys }: Model): Operation {
  const node = seeded.pick([...taintKeys.keys()]);
  const keys = taintKeys.get(node) ?? new Set();
  const key = seeded.pick([...keys]);
  keys.delete(key);
  if (keys.size === 0) taintKeys.delete(node);
  return { op: 'node-untaint', node, key };
}

function spoilNode(model: Model): Operation {
  const node = anyNode(model);
  model.notReady.add(node);
  return { op: 'node-not-ready', node };
}

function mendNode({ seeded, notReady }: Model): Operation {
  const node = seeded.pick([...notReady]);
  notReady.delete(node);
  return { op: 'node-ready', node };
}
