/**
 * Applies one step to one cluster, as a user, a kubelet or an operator would.
 *
 * The answer says what came of it, so that the two clusters can be compared in that too. A refusal by the
 * API server is an answer, not a failure.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type KubernetesObject } from '../conformance/control-plane/api.ts';
import { applyAdmission } from './admission.ts';
import { applySetStep } from './apply-set-step.ts';
import { writeAll, markOf } from './write-all.ts';
import type { Operation, MarkedField, PodOperation, StrippedLabel } from './scenario.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';
import { fakeNode, setNodeReady, type Taint } from '../conformance/control-plane/nodes.ts';
import { nodeNameOf, PLACE_LABEL } from './place.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';
import { controllerOf, findSubjects, freeLabel } from './find-pods.ts';
import { waitForChange } from './wait-for-change.ts';

const HOLD_FINALIZER = 'differential.rollcall.test/hold';
const STUCK_ANNOTATION = 'rollcall.test/stuck-terminating';

/** How long a successor is waited for; nodes that want no pod get none. */
const SUCCESSOR_MS = 15_000;

type PodStep =
  | { readonly op: PodOperation; readonly set: string; readonly node: string }
  | {
      readonly op: 'pod-strip';
      readonly set: string;
      readonly node: string;
      readonly label: StrippedLabel;
    }
  | {
      readonly op: 'pod-mark';
      readonly set: string;
      readonly node: string;
      readonly field: MarkedField;
    };

/** Applies the step to the pod that it means. */
async function applyPodStep(target: StepTarget, step: PodStep): Promise<StepOutcome> {
  if (step.op === 'pod-free') return freePods(target, step);
  if (step.op === 'pod-orphan') return createOrphan(target, step);
  const [pod] = findOnNode(target, step);
  if (pod === undefined) return 'skipped';
  const path = podPath(pod);
  const { admin } = target.side;
  if (step.op === 'pod-evict') return evict(target, pod);
  if (step.op === 'pod-delete-again') return deleteAgain(target, pod);
  for (const patch of patchesOf(step, target.index)) await admin.patch(path, patch);
  if (['pod-delete', 'pod-stick', 'pod-hold'].includes(step.op)) await admin.delete(path);
  return 'done';
}

function patchesOf(step: PodStep, index: number): readonly unknown[] {
  const { op, set } = step;
  const labels = (values: Readonly<Record<string, string | null>>): unknown => ({
    metadata: { labels: values },
  });
  const hold = { metadata: { finalizers: [HOLD_FINALIZER] } };
  switch (op) {
    case 'pod-fail':
      return [labels({ 'rollcall.test/outcome': 'Failed' })];
    case 'pod-fail-held':
      return [hold, labels({ 'rollcall.test/outcome': 'Failed' })];
    case 'pod-succeed':
      return [labels({ 'rollcall.test/outcome': 'Succeeded' })];
    case 'pod-stick':
      return [{ metadata: { annotations: { [STUCK_ANNOTATION]: 'true' } } }];
    case 'pod-hold':
      return [hold];
    case 'pod-unready':
      return [labels({ 'rollcall.test/never-ready': 'true' })];
    case 'pod-ready':
      return [labels({ 'rollcall.test/never-ready': null })];
    case 'pod-release':
      return [labels({ app: freeLabel(set) })];
    case 'pod-reclaim':
      return [labels({ app: set })];
    case 'pod-mark':
      return [markOf(step.field, index)];
    case 'pod-strip':
      return [labels({ [step.label]: null })];
    default:
      return [];
  }
}

function findOnNode({ side, place }: StepTarget, step: PodStep): readonly KubernetesObject[] {
  const nodeName = nodeNameOf(place, step.node);
  const subjects = findSubjects(side.mirror.at(place), step);
  return subjects.filter((pod) => readPod(pod).node === nodeName);
}

/** By name, as drain does it. */
async function evict({ side }: StepTarget, pod: KubernetesObject): Promise<StepOutcome> {
  const { name, namespace } = pod.metadata;
  await side.admin.post(`${podPath(pod)}/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
  });
  return 'done';
}

/**
 * Whoever knows a pod by its name alone deletes it a second time, once it is gone and replaced: that must find nothing,
 * never the successor (other-writers §7).
 */
async function deleteAgain(target: StepTarget, pod: KubernetesObject): Promise<StepOutcome> {
  const { side, place } = target;
  const { uid } = pod.metadata;
  await side.admin.delete(podPath(pod));
  const owner = controllerOf(pod)?.uid;
  const { node } = readPod(pod);
  const isReplaced = (): boolean => {
    const { pods } = side.mirror.at(place);
    if (pods.some((it) => it.metadata.uid === uid)) return false;
    return pods.some((it) => controllerOf(it)?.uid === owner && readPod(it).node === node);
  };
  const endsAtMs = performance.now() + SUCCESSOR_MS;
  while (!isReplaced() && performance.now() < endsAtMs) {
    await waitForChange([side.mirror], { place, timeoutMs: endsAtMs - performance.now() });
  }
  const again = await side.admin.request({ method: 'DELETE', path: podPath(pod) });
  return `done, then ${again.status}`;
}

/** Everything that holds deleted pods of the set on the node is taken away. */
async function freePods(target: StepTarget, step: PodStep): Promise<StepOutcome> {
  const held = findOnNode(target, step);
  for (const pod of held) {
    const body = { metadata: { annotations: { [STUCK_ANNOTATION]: null }, finalizers: null } };
    // The pod may have gone meanwhile.
    await target.side.admin.request({ method: 'PATCH', path: podPath(pod), body });
  }
  return held.length === 0 ? 'skipped' : 'done';
}

/** A pod that nobody owns, with the labels of the set. Its name sorts after all others. */
async function createOrphan(target: StepTarget, step: PodStep): Promise<StepOutcome> {
  const { side, place, index } = target;
  const nodeName = nodeNameOf(place, step.node);
  if (!side.mirror.at(place).nodes.some((it) => it.metadata.name === nodeName)) return 'skipped';
  await side.admin.post(`/api/v1/namespaces/${place.namespace}/pods`, {
    metadata: { name: `zz-${step.set}-${index}`, labels: { app: step.set } },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'agent', image: 'registry.example/agent:by-hand' }],
    },
  });
  return 'done';
}

function podPath(pod: KubernetesObject): string {
  return `/api/v1/namespaces/${pod.metadata.namespace ?? ''}/pods/${pod.metadata.name}`;
}

/** Steps after which a node may have two pods, of which the older one counts. */
const AGEING_OPERATIONS: ReadonlySet<string> = new Set([
  'set-create',
  'set-edit',
  'set-undo',
  'set-remake',
  'set-apply',
  'set-flip',
  'set-writers',
  'set-replace',
  'pod-release',
  'pod-strip',
  'pod-orphan',
]);
const AGE_MS = 1100;

/** Applies the step; resolves when the API server has taken it. */
export async function applyStep(target: StepTarget, step: Operation): Promise<StepOutcome> {
  try {
    if (AGEING_OPERATIONS.has(step.op)) await waitUntilPodsAged(target);
    return await dispatch(target, step);
  } catch (error) {
    if (error instanceof ApiError) return `${error.status} ${error.reason}`;
    throw error;
  }
}

/** creationTimestamp has whole seconds: two pods of one second are told apart by random names. */
async function waitUntilPodsAged({ side, place }: StepTarget): Promise<void> {
  const bornMs = side.mirror
    .at(place)
    .pods.map((it) => Date.parse(it.metadata.creationTimestamp ?? ''));
  const restMs = Math.max(0, ...bornMs) + AGE_MS - Date.now();
  if (restMs > 0) await delay(restMs);
}

function dispatch(target: StepTarget, step: Operation): Promise<StepOutcome> {
  if (step.op === 'admission') return applyAdmission(target, step.refusedNodes);
  if (isOf('set', step)) return applySetStep(target, step);
  if (isOf('pod', step)) return applyPodStep(target, step);
  if (isOf('all', step)) return writeAll(target, step.op);
  return applyNodeStep(target, step);
}

function isOf<Subject extends 'set' | 'pod' | 'all'>(
  subject: Subject,
  step: Operation,
): step is Extract<Operation, { readonly op: `${Subject}-${string}` }> {
  return step.op.startsWith(`${subject}-`);
}

type NodeStep = Extract<Operation, { readonly op: `node-${string}` }>;
type JoinStep = Extract<NodeStep, { readonly op: 'node-join' }>;
type ChangeStep = Exclude<NodeStep, { readonly op: 'node-join' }>;

/** Applies the step. */
async function applyNodeStep(target: StepTarget, step: NodeStep): Promise<StepOutcome> {
  const { side, place } = target;
  const name = nodeNameOf(place, step.node);
  const isThere = side.mirror.at(place).nodes.some((it) => it.metadata.name === name);
  if (isThere === (step.op === 'node-join')) return 'skipped';
  if (step.op === 'node-join') await join(target, step);
  else await change(target, name, step);
  return 'done';
}

async function join({ side, place }: StepTarget, step: JoinStep): Promise<void> {
  const name = nodeNameOf(place, step.node);
  const labels = { ...step.labels, [PLACE_LABEL]: place.id };
  const taints = step.taints ?? [];
  await side.admin.post('/api/v1/nodes', fakeNode({ name, labels, taints, registersReady: true }));
}

async function change(target: StepTarget, name: string, step: ChangeStep): Promise<unknown> {
  const { admin } = target.side;
  const path = `/api/v1/nodes/${name}`;
  switch (step.op) {
    case 'node-leave':
      return leave(target, name);
    case 'node-remake':
      return remake(target, path);
    case 'node-not-ready':
    case 'node-ready':
      return setNodeReady(admin, name, step.op === 'node-ready');
    case 'node-label':
      return admin.patch(path, { metadata: { labels: { [step.key]: step.value } } });
    case 'node-mark':
      return admin.patch(`${path}?fieldManager=marker`, markOf(step.field, target.index));
    case 'node-cordon':
      return admin.patch(path, { spec: { unschedulable: true } });
    case 'node-uncordon':
      return admin.patch(path, { spec: { unschedulable: null } });
    case 'node-taint':
      return changeTaints(target, path, (taints) => [
        ...taints.filter((it) => it.key !== step.taint.key),
        step.taint,
      ]);
    case 'node-untaint':
      return changeTaints(target, path, (taints) => taints.filter((it) => it.key !== step.key));
  }
}

async function leave({ side, place }: StepTarget, name: string): Promise<void> {
  await side.admin.delete(`/api/v1/nodes/${name}`);
  const path = `/api/v1/namespaces/${place.namespace}/pods`;
  const { items } = await side.admin.list(`${path}?fieldSelector=spec.nodeName%3D${name}`);
  for (const { metadata } of items) {
    await side.admin.request({
      method: 'DELETE',
      path: `${path}/${metadata.name}`,
      body: { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } },
    });
  }
}

async function remake({ side }: StepTarget, path: string): Promise<void> {
  const former = await side.admin.get(path);
  await side.admin.delete(path);
  await side.admin.post('/api/v1/nodes', successorOf(former));
}

/** The node as its kubelet registers it again: labels and taints of its own, and Ready. */
function successorOf(former: KubernetesObject): KubernetesObject {
  const { name, labels } = former.metadata;
  const { taints = [] } = former['spec'] as { readonly taints?: readonly Taint[] };
  return fakeNode({
    name,
    ...(labels === undefined ? {} : { labels }),
    taints: taints.filter((it) => !it.key.startsWith('node.kubernetes.io/')),
    registersReady: labels?.['rollcall.test/never-ready'] !== 'true',
  });
}

/** Taints are a list: read, changed and written back, again if somebody else wrote in between. */
async function changeTaints(
  { side }: StepTarget,
  path: string,
  changeList: (taints: readonly Taint[]) => readonly Taint[],
): Promise<void> {
  for (;;) {
    const node = await side.admin.get(path);
    const { taints = [] } = node['spec'] as { readonly taints?: readonly Taint[] };
    const response = await side.admin.request({
      method: 'PATCH',
      path,
      body: {
        metadata: { resourceVersion: node.metadata.resourceVersion },
        spec: { taints: changeList(taints) },
      },
    });
    if (response.status === 409) continue;
    if (response.status >= 400) throw new ApiError({ method: 'PATCH', path }, response);
    return;
  }
}
