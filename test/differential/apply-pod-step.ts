/**
 * Steps that happen to pods: users delete them, kubelets end them, labels move them in and out of a set.
 *
 * What ends how is written on the pod for its fake kubelet (kwok-stages.yaml).
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';
import { controllerOf, findSubjects, freeLabel } from './find-pods.ts';
import { nodeNameOf } from './place.ts';
import type { MarkedField, PodOperation, StrippedLabel } from './scenario.ts';
import { waitForChange } from './wait-for-change.ts';
import { markOf } from './write-all.ts';

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
export async function applyPodStep(target: StepTarget, step: PodStep): Promise<StepOutcome> {
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
