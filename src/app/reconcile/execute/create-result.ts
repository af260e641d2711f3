/**
 * What came of one create: each answer of the API server has its own meaning (rows 42, 57, 88).
 *
 * 201 and 409 resolve a create (protocol 5); AlreadyExists is looked into by one live read, which
 * says whose pod holds the name. Nothing is adopted or deleted here; a name taken by another owner
 * concerns its node only (row 41).
 *
 * Differs from upstream: a pod whose labels admission changed, so that its DaemonSet does not select it, is a refusal.
 */
import type { Outcome } from '../../../core/model/effects.ts';
import type { ResourceVersion, Uid } from '../../../core/model/identifiers.ts';
import { defined } from '@rollcall/base/defined.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import type { KubernetesObject, LabelSelector } from '@rollcall/base/objects.ts';
import type { PlannedCreate } from '../../../core/model/plan.ts';
import type { PodProjection } from '../../../core/model/projections.ts';
import { isTerminal } from '../../../core/pod/pod-facts.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { projectLivePod } from '../../../core/projections/project.ts';

/** Conditions of the whole namespace or credential: no other create will fare better. */
export type ClosedCode = 'namespace-terminating' | 'namespace-missing' | 'unauthorized';

interface MadePod {
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
}

export type CreateResult =
  /** Our pod is there: made by this request, or found under the name, ours and alive. */
  | { readonly kind: 'created'; readonly pod: MadePod; readonly isNew: boolean }
  /** The name is held by a pod of ours that is on its way out: it is waited for like a pod of this run. */
  | { readonly kind: 'waiting'; readonly held: 'terminating' | 'terminal'; readonly pod: MadePod }
  /** The pod that held the name was just gone: look again. */
  | { readonly kind: 'waiting'; readonly held: 'vanished' }
  /** Not sent: the pod that has to be there before it was not found so. Look again. */
  | { readonly kind: 'withheld' }
  /**
   * The API server refuses this node's pod as it is; `holder`: a pod without a controller that holds the name;
   * `pod`: one that was made all the same, and is being deleted.
   */
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly said?: string;
      readonly holder?: { readonly name: string; readonly uid: Uid };
      readonly pod?: MadePod;
    }
  | { readonly kind: 'closed'; readonly code: ClosedCode; readonly message: string }
  /** Certainly not sent. */
  | { readonly kind: 'unsent'; readonly message: string; readonly retryAfterMs?: number }
  /** May or may not have happened: the intent stays open (protocol 4). */
  | { readonly kind: 'open'; readonly message: string; readonly said?: string };

/** Whose pod it must be. */
export interface CreateOwner {
  readonly namespace: string;
  readonly uid: Uid;
  readonly selector: LabelSelector | undefined;
}

/** Reads the meaning off an outcome; asks live once when the name was taken. */
export async function resolveCreate(
  planned: PlannedCreate,
  outcome: Outcome,
  context: { readonly reader: ClusterReader; readonly owner: CreateOwner },
): Promise<CreateResult> {
  switch (outcome.kind) {
    case 'done':
      return resolveDone(outcome.object as unknown as KubernetesObject, context.owner); // a pod
    case 'exists':
      return resolveExists(planned, context);
    case 'unsent':
      return { ...outcome };
    case 'ambiguous':
      return { ...outcome, kind: 'open' };
    case 'conflict':
      return { kind: 'refused', code: 'conflict', message: outcome.message };
    case 'gone':
      return { kind: 'closed', code: 'namespace-missing', message: 'the namespace is not there' };
    case 'refused': {
      const { code, message, said } = outcome;
      if (isClosedCode(code)) return { kind: 'closed', code, message };
      return { kind: 'refused', code, message, ...defined({ said }) };
    }
  }
}

function isClosedCode(code: string): code is ClosedCode {
  return (
    code === 'namespace-terminating' || code === 'namespace-missing' || code === 'unauthorized'
  );
}

/**
 * A pod that is born terminating meets no expectation (row 42), nor does one whose labels a webhook changed so that its
 * DaemonSet does not select it: it is let go at once, and the next one would be as well. Their nodes back off (L5). The answer
 * is the pod's metadata, perhaps no more.
 */
function resolveDone(object: KubernetesObject, { selector }: CreateOwner): CreateResult {
  const pod = projectLivePod(object);
  if (pod.isTerminating) {
    const message = `the API server answered ${pod.name} as already terminating`;
    return { kind: 'refused', code: 'born-terminating', message, pod: madeOf(pod) };
  }
  if (!compileSelector(selector).matches(pod.labels)) {
    const message = `the API server answered ${pod.name} with labels that its DaemonSet does not select`;
    return { kind: 'refused', code: 'not-selected', message, pod: madeOf(pod) };
  }
  return { kind: 'created', pod: madeOf(pod), isNew: true };
}

async function resolveExists(
  planned: PlannedCreate,
  { reader, owner }: { readonly reader: ClusterReader; readonly owner: CreateOwner },
): Promise<CreateResult> {
  const live = await reader.getPod({ namespace: owner.namespace, name: planned.name });
  // 409 resolved the request itself; who holds the name is for the next look to find out.
  if (live.kind !== 'found') return { kind: 'waiting', held: 'vanished' };
  const pod = projectLivePod(live.object);
  const taken = findTaken(pod, { planned, owner });
  if (taken !== undefined) return taken;
  if (isTerminal(pod)) return { kind: 'waiting', held: 'terminal', pod: madeOf(pod) };
  if (pod.isTerminating) return { kind: 'waiting', held: 'terminating', pod: madeOf(pod) };
  return { kind: 'created', pod: madeOf(pod), isNew: false };
}

function madeOf({ uid, resourceVersion }: PodProjection): MadePod {
  return { uid, resourceVersion };
}

/**
 * The name is held by a pod that is not this node's (row 41). A pod without a controller may be one that we
 * released: the next name follows from it. A pod of another controller stays a refusal.
 */
function findTaken(
  pod: PodProjection,
  expected: { readonly planned: PlannedCreate; readonly owner: CreateOwner },
): CreateResult | undefined {
  const { planned, owner } = expected;
  const refused = { kind: 'refused', code: 'name-taken' } as const;
  const what = `pod ${pod.name} for node ${planned.node} exists`;
  if (pod.ownerUid === undefined) {
    const holder = { name: pod.name, uid: pod.uid };
    return { ...refused, message: `${what}, but has no owner`, holder };
  }
  if (pod.ownerUid !== owner.uid) return { ...refused, message: `${what}, but is not ours` };
  if (pod.targetNode === planned.node) return undefined;
  const where = pod.targetNode ?? 'no node';
  return { ...refused, message: `${what}, but is aimed at ${where}` };
}
