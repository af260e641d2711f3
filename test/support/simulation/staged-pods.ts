/**
 * What the audits of staged rollouts ask of pods and DaemonSets, and how late a view may be for them.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';
import type { PolicyReading, RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { phaseOf } from './controllers.ts';
import { placementOf } from './oracle.ts';

/** How long a delete may be under way after its live reads: a function's time-out, and a frozen one. */
export const UNDER_WAY_MS = 2 * 60_000;
/** How old a view may be that opens a step, until its deletes take effect. */
export const OLD_MS = 90_000 + UNDER_WAY_MS;

const reader = createPolicyReader();
const readings = new Map<string, PolicyReading>();

/** The policy that a DaemonSet's annotation holds, if it can be read. */
export function policyOf({ metadata }: KubernetesObject): RolloutPolicy | undefined {
  const text = metadata.annotations?.[POLICY_ANNOTATION];
  if (text === undefined) return undefined;
  const reading = readings.get(text) ?? reader.read(text);
  readings.set(text, reading);
  return reading.kind === 'policy' ? reading.policy : undefined;
}

interface PodContent {
  readonly containers: readonly { readonly image: string }[];
}

export function revisionOf(pod: KubernetesObject): string {
  return contentOf(pod['spec'] as PodContent);
}

export function templateOf(set: KubernetesObject): string {
  const { template } = set['spec'] as { readonly template: { readonly spec: PodContent } };
  return contentOf(template.spec);
}

/** The generation of a DaemonSet that its status tells of; 0: none. */
export function observedGeneration(set: KubernetesObject): number {
  const status = set['status'] as { readonly observedGeneration?: number } | undefined;
  return status?.observedGeneration ?? 0;
}

function contentOf({ containers }: PodContent): string {
  return containers.map(({ image }) => image).join(' ');
}

/** True of a pod that neither goes nor has ended. */
export function isLive(pod: KubernetesObject): boolean {
  const isTerminal = ['Succeeded', 'Failed'].includes(phaseOf(pod));
  return pod.metadata.deletionTimestamp === undefined && !isTerminal;
}

/** True of a live pod that is ready. */
export function isServing(pod: KubernetesObject): boolean {
  return isLive(pod) && readyOf(pod)?.status === 'True';
}

/** A condition of a pod, as its status tells it. */
interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

export function readyOf(pod: KubernetesObject): Condition | undefined {
  const status = pod['status'] as { readonly conditions?: readonly Condition[] } | undefined;
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** True of a delete that leaves a node without what it is to have: a live pod, the only one there, where it belongs. */
export function isReplacement(
  api: SimulatedApiServer,
  of: {
    readonly victim: KubernetesObject;
    readonly set: KubernetesObject;
    readonly node: KubernetesObject;
  },
): boolean {
  const { victim, set, node } = of;
  if (!isLive(victim) || placementOf(set, node) !== 'run') return false;
  return !api
    .list('pods')
    .some(
      (pod) =>
        pod.metadata.uid !== victim.metadata.uid &&
        isLive(pod) &&
        controllerUid(pod) === set.metadata.uid &&
        nodeOf(pod) === node.metadata.name,
    );
}
