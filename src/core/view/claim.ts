/**
 * Claiming (spec 2.4): which pods of the namespace are this DaemonSet's?
 *
 * Decided from projections alone; patches are sent by the caller, with the pod's UID as precondition
 * and after a live read of the DaemonSet (S4, S5). A pod whose controller has another UID is never
 * touched. A malformed selector neither adopts nor releases: it says nothing about any pod.
 */
import type { Uid } from '../model/identifiers.ts';
import type { PodProjection } from '../model/projections.ts';
import type { CompiledSelector } from '@rollcall/base/label-selector.ts';

/** What becomes of one pod: kept (ours), adopted, released, or not ours to look at. */
export type Claim = 'keep' | 'adopt' | 'release' | 'ignore';

/** Whose pods are claimed. */
export interface Claimant {
  readonly uid: Uid;
  readonly namespace: string;
  readonly selector: CompiledSelector;
  readonly isDeleting: boolean;
}

/** Pods by what becomes of them; those to be ignored are left out. */
export interface ClaimedPods {
  readonly kept: readonly PodProjection[];
  readonly toAdopt: readonly PodProjection[];
  readonly toRelease: readonly PodProjection[];
}

/** Decides one pod (table of spec 2.4). */
export function claimPod(claimant: Claimant, pod: PodProjection): Claim {
  const isMatch = claimant.selector.matches(pod.labels);
  if (pod.ownerUid !== undefined) {
    if (pod.ownerUid !== claimant.uid) return 'ignore';
    const isKept = isMatch || claimant.isDeleting || claimant.selector.invalid !== undefined;
    return isKept ? 'keep' : 'release';
  }
  const isAdoptable =
    isMatch && !claimant.isDeleting && !pod.isTerminating && pod.namespace === claimant.namespace;
  return isAdoptable ? 'adopt' : 'ignore';
}

/** Decides all pods; the order of the input is kept. */
export function claimPods(claimant: Claimant, pods: readonly PodProjection[]): ClaimedPods {
  const kept: PodProjection[] = [];
  const toAdopt: PodProjection[] = [];
  const toRelease: PodProjection[] = [];
  const lists = { keep: kept, adopt: toAdopt, release: toRelease, ignore: undefined };
  for (const pod of pods) lists[claimPod(claimant, pod)]?.push(pod);
  return { kept, toAdopt, toRelease };
}
