/**
 * Facts about one pod that several stages ask for: one definition of each, so that no two stages of
 * a run hold different opinions. Upstream computes some of these three times per sync.
 * Pure functions of one pod, or of one DaemonSet.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { PodProjection } from '../model/projections.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { parseInteger } from '@rollcall/base/integer.ts';
import { labelOf } from '@rollcall/base/label-selector.ts';

/** Label that names the revision a pod was made from. */
export const REVISION_HASH_LABEL = 'controller-revision-hash';
/** Label that names the template generation a pod was made from, if the DaemonSet still has one. */
export const TEMPLATE_GENERATION_LABEL = 'pod-template-generation';
/** Annotation in which the API server tells the template generation of an apps/v1 DaemonSet. */
export const TEMPLATE_GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

/** The node that a pod is meant for, else the one that it runs on. */
export function nodeOf({ targetNode, boundNode }: PodProjection): NodeName | undefined {
  return targetNode ?? boundNode;
}

/** Succeeded or Failed: it will never run again. */
export function isTerminal(pod: PodProjection): boolean {
  return pod.phase === 'Succeeded' || pod.phase === 'Failed';
}

/** Terminal and terminating: only a finalizer holds it; it blocks its name, not its node (spec 2.4). */
export function isHeld(pod: PodProjection): boolean {
  return pod.isTerminating && isTerminal(pod);
}

/** When a ready pod becomes available; undefined if it is not ready or does not say since when. */
export function availableAtMs(pod: PodProjection, minReadyMs: number): number | undefined {
  if (!pod.isReady || pod.readyChangedAtMs === undefined) return undefined;
  return pod.readyChangedAtMs + minReadyMs;
}

/** Ready, and for at least minReadySeconds (spec 2.9). */
export function isAvailable(
  pod: PodProjection,
  at: { readonly minReadyMs: number; readonly nowMs: number },
): boolean {
  if (at.minReadyMs === 0) return pod.isReady;
  const sinceMs = availableAtMs(pod, at.minReadyMs);
  return sinceMs !== undefined && sinceMs <= at.nowMs;
}

/** spec.minReadySeconds in milliseconds. */
export function minReadyMsOf(daemonSet: DaemonSetObject): number {
  return Math.max(0, daemonSet.spec.minReadySeconds ?? 0) * 1000;
}

/** Hash of the revision that a pod was made from; undefined without one. */
export function revisionHashOfPod(pod: Pick<PodProjection, 'labels'>): string | undefined {
  const hash = labelOf(pod.labels, REVISION_HASH_LABEL);
  return hash === '' ? undefined : hash;
}

/** The template generation of a DaemonSet as label value; undefined if it has none (spec 2.8). */
export function templateGenerationOf(daemonSet: DaemonSetObject): string | undefined {
  const text = daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  return text === undefined ? undefined : parseInteger(text)?.toString();
}

/** Made from the current template: by hash, or by template generation (spec 2.9). */
export function isUpdated(
  pod: Pick<PodProjection, 'labels'>,
  current: { readonly hash: string | undefined; readonly templateGeneration: string | undefined },
): boolean {
  const hash = revisionHashOfPod(pod);
  if (hash !== undefined && hash === current.hash) return true;
  return (
    current.templateGeneration !== undefined &&
    labelOf(pod.labels, TEMPLATE_GENERATION_LABEL) === current.templateGeneration
  );
}

/**
 * The same under a rollout policy: a pod that names a revision is of that one. Template generations begin anew with each
 * DaemonSet of a name, so one that is made over the pods of another would take these for its own.
 *
 * Differs from upstream: such pods are replaced; for DaemonSets with a policy and for no other.
 */
export function isNamedUpdated(
  pod: Pick<PodProjection, 'labels'>,
  current: Parameters<typeof isUpdated>[1],
): boolean {
  const hash = revisionHashOfPod(pod);
  return hash === undefined ? isUpdated(pod, current) : hash === current.hash;
}

/**
 * Which duplicate survives (spec 2.7): bound before unbound, then the older, then by name. Negative
 * when `left` comes first.
 */
export function comparePods(left: PodProjection, right: PodProjection): number {
  const isLeftBound = left.boundNode !== undefined;
  if (isLeftBound !== (right.boundNode !== undefined)) return isLeftBound ? -1 : 1;
  if (left.createdAtMs !== right.createdAtMs) return left.createdAtMs - right.createdAtMs;
  return compareText(left.name, right.name);
}
