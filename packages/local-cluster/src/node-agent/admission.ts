/**
 * Admission: may a pod run on this node? Resources, node affinity, host ports, untolerated NoExecute taints. Pure.
 *
 * NoSchedule taints and cordons are the scheduler's concern only. The first reason found is the one that is told, in the
 * kubelet's words. Differs from Kubernetes: no operating systems, no pressure, and critical pods do not preempt others.
 */
import type { PodSpec as PlacementSpec, Taint, Toleration } from '@rollcall/base/objects.ts';
import { compileNodeAffinity } from '@rollcall/base/node-affinity.ts';
import { findUntoleratedTaint } from '@rollcall/base/taints.ts';
import type { PodObject } from './shared/pod-object.ts';
import { conflicts, hostPorts, nanosOf, podRequests } from './shared/pod-resources.ts';
import type { Amounts } from './shared/pod-resources.ts';

/** What admission looks at. */
export interface AdmissionInput {
  readonly pod: PodObject;
  /** Pods that are admitted and alive. */
  readonly others: readonly PodObject[];
  readonly node: AdmissionNode;
}

/** The node as admission sees it. */
export interface AdmissionNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Admitted or rejected; `reason` becomes the pod's. */
export type AdmissionResult =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'rejected'; readonly reason: string; readonly message: string };

type Rejection = Extract<AdmissionResult, { readonly kind: 'rejected' }>;

const MILLI = 1_000_000n;
const NANOS = 1_000_000_000n;

const CHECKS: readonly ((input: AdmissionInput) => Rejection | undefined)[] = [
  rejectByResources,
  rejectByAffinity,
  rejectByPorts,
  rejectByTaints,
];

/** Admits or rejects one pod. */
export function admitPod(input: AdmissionInput): AdmissionResult {
  for (const check of CHECKS) {
    const rejection = check(input);
    if (rejection !== undefined) return rejection;
  }
  return { kind: 'admitted' };
}

function rejected(reason: string, message: string): Rejection {
  return { kind: 'rejected', reason, message };
}

function failedPredicate(name: string, why: string): Rejection {
  return rejected(name, `Predicate ${name} failed: ${why}`);
}

function rejectByResources({ pod, others, node }: AdmissionInput): Rejection | undefined {
  const podsMax = Number(node.allocatable['pods'] ?? '110');
  if (others.length + 1 > podsMax) {
    return lacking('pods', { requested: 1, used: others.length, capacity: podsMax });
  }
  const requests = podRequests(pod.spec);
  const names = ['cpu', 'memory', 'ephemeral-storage', ...requests.keys()];
  const wanted = names.filter((name) => (requests.get(name) ?? 0n) > 0n);
  if (wanted.length === 0) return undefined;
  const used = sumOfRequests(others);
  for (const name of wanted) {
    const text = node.allocatable[name];
    // A resource that the node does not have is some other component's to count.
    if (text === undefined) continue;
    const amounts = {
      requested: requests.get(name) ?? 0n,
      used: used.get(name) ?? 0n,
      capacity: nanosOf(text),
    };
    if (amounts.requested > amounts.capacity - amounts.used) return lackingNanos(name, amounts);
  }
  return undefined;
}

function sumOfRequests(pods: readonly PodObject[]): Amounts {
  const sum = new Map<string, bigint>();
  for (const { spec } of pods) {
    for (const [name, nanos] of podRequests(spec)) sum.set(name, (sum.get(name) ?? 0n) + nanos);
  }
  return sum;
}

function lackingNanos(
  name: string,
  amounts: { readonly requested: bigint; readonly used: bigint; readonly capacity: bigint },
): Rejection {
  const unit = name === 'cpu' ? MILLI : NANOS;
  const inUnits = (nanos: bigint): number => Number(nanos / unit);
  return lacking(name, {
    requested: inUnits(amounts.requested),
    used: inUnits(amounts.used),
    capacity: inUnits(amounts.capacity),
  });
}

function lacking(
  name: string,
  amounts: { readonly requested: number; readonly used: number; readonly capacity: number },
): Rejection {
  const { requested, used, capacity } = amounts;
  return rejected(
    `OutOf${name}`,
    `Node didn't have enough resource: ${name}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  );
}

function rejectByAffinity({ pod, node }: AdmissionInput): Rejection | undefined {
  const spec = pod.spec as unknown as PlacementSpec; // the same raw object, seen by the placement rules
  const isSelected = Object.entries(spec.nodeSelector ?? {}).every(
    ([key, value]) => node.labels[key] === value,
  );
  const isMatched = isSelected && compileNodeAffinity(spec)(node) === undefined;
  if (isMatched) return undefined;
  return failedPredicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
}

function rejectByPorts({ pod, others }: AdmissionInput): Rejection | undefined {
  const wanted = hostPorts(pod.spec);
  if (wanted.length === 0) return undefined;
  const taken = others.flatMap(({ spec }) => hostPorts(spec));
  if (!wanted.some((port) => taken.some((other) => conflicts(port, other)))) return undefined;
  return failedPredicate('NodePorts', "node(s) didn't have free ports for the requested pod ports");
}

function rejectByTaints({ pod, node }: AdmissionInput): Rejection | undefined {
  const taint = findUntoleratedTaint({
    taints: node.taints,
    tolerations: tolerationsOf(pod),
    effect: 'NoExecute',
  });
  if (taint === undefined) return undefined;
  return failedPredicate('TaintToleration', "node(s) had taints that the pod didn't tolerate");
}

function tolerationsOf(pod: PodObject): readonly Toleration[] {
  const { tolerations } = pod.spec;
  return Array.isArray(tolerations) ? (tolerations as readonly Toleration[]) : [];
}
