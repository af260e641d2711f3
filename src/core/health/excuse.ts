/**
 * Whether pods of the former revision fail as often as those of the new one, so that it is no sign of the release: a registry that is down.
 *
 * By rate, within a stratum, by Fisher's exact test: one of 800 old pods says nothing about three of three new ones. What is compared had the same
 * chance to fail: of failures to start, old pods that were started within the hour; of failures of a running pod, those that ran. Looked at
 * again and again the test errs towards a halt. An excused failure halts nothing, and holds its step (`holdOf`). Values in, values out.
 */
import type { NodeName } from '../model/identifiers.ts';
import { fisherOneSided } from './fisher.ts';
import type { FailedPod, JudgedPod } from './pod-evidence.ts';

/** What peers show so long before or after counts. */
export const EXCUSED_WITHIN_MS = 3_600_000;
/** Chance would put so many failures on the new side less often than this: they are the release's. */
const CHANCE_MIN = 0.05;

/** A pod of the new revision that failed for the release's reasons. */
export interface NodeFailed {
  readonly node: NodeName;
  readonly stratum: string;
  readonly failure: FailedPod;
}

/** Pods of both revisions. */
export interface Compared {
  readonly updated: readonly JudgedPod[];
  readonly peers: readonly JudgedPod[];
}

/** Failures that peers do not explain, and those that they do. */
export function excuseFailures(
  failed: readonly NodeFailed[],
  pods: Compared,
): { readonly counted: readonly NodeFailed[]; readonly excused: readonly NodeFailed[] } {
  const alike = Map.groupBy(failed, ({ stratum, failure }) => `${stratum} ${failure.sign}`);
  const isExcused = new Set([...alike.values()].filter((group) => isShared(group, pods)).flat());
  return {
    counted: failed.filter((one) => !isExcused.has(one)),
    excused: failed.filter((one) => isExcused.has(one)),
  };
}

/** Failures of one stratum with one sign. */
function isShared(group: readonly NodeFailed[], pods: Compared): boolean {
  const [first] = group;
  if (first === undefined) return false;
  const { sign, class: failureClass } = first.failure;
  const times = group.map(({ failure }) => failure.atMs);
  const isWithin = isWithinOf(times);
  const peers = pods.peers.filter(({ stratum }) => stratum === first.stratum);
  const shows = ({ evidence }: JudgedPod): boolean =>
    evidence.kind === 'failed' && evidence.sign === sign && isWithin(evidence.atMs);
  const isStart = failureClass === 'start';
  const tried = peers.filter(
    (pod) => shows(pod) || (isStart ? isWithin(pod.createdAtMs) : hasRun(pod)),
  );
  const updated = pods.updated.filter(
    (pod) => pod.stratum === first.stratum && (isStart || hasRun(pod)),
  );
  return isByChance({
    newFailed: group.length,
    newAll: updated.length,
    oldFailed: tried.filter(shows).length,
    oldAll: tried.length,
  });
}

/** Within the hour of these times. */
function isWithinOf(times: readonly number[]): (atMs: number) => boolean {
  const fromMs = times.reduce((least, atMs) => Math.min(least, atMs), Infinity) - EXCUSED_WITHIN_MS;
  const toMs = times.reduce((most, atMs) => Math.max(most, atMs), -Infinity) + EXCUSED_WITHIN_MS;
  return (atMs) => atMs >= fromMs && atMs <= toMs;
}

function hasRun({ evidence }: JudgedPod): boolean {
  if (evidence.kind === 'failed') return evidence.class === 'run';
  return evidence.kind !== 'starting';
}

/** True if old ones fail as well, and new ones not so much more often that chance does not do it. */
function isByChance(of: {
  readonly newFailed: number;
  readonly newAll: number;
  readonly oldFailed: number;
  readonly oldAll: number;
}): boolean {
  if (of.oldFailed === 0) return false;
  const p = fisherOneSided({
    updatedBad: of.newFailed,
    updatedGood: Math.max(0, of.newAll - of.newFailed),
    othersBad: of.oldFailed,
    othersGood: of.oldAll - of.oldFailed,
  });
  return p > CHANCE_MIN;
}

/** Of nodes whose pods flap those that flap no more often than old pods of their stratum. */
export function excuseTurned(
  turned: readonly { readonly node: NodeName; readonly turnedAtMs: number }[],
  { updated, peers }: Compared,
): ReadonlySet<NodeName> {
  const strata = new Map(updated.map(({ node, stratum }) => [node, stratum]));
  const groups = Map.groupBy(turned, ({ node }) => strata.get(node) ?? '');
  const excused = [...groups].filter(([stratum, group]) => {
    const isWithin = isWithinOf(group.map(({ turnedAtMs }) => turnedAtMs));
    const old = peers.filter((pod) => pod.stratum === stratum && hasRun(pod));
    return isByChance({
      newFailed: group.length,
      newAll: updated.filter((pod) => pod.stratum === stratum && hasRun(pod)).length,
      oldFailed: old.filter(({ turnedAtMs = -Infinity }) => isWithin(turnedAtMs)).length,
      oldAll: old.length,
    });
  });
  return new Set(excused.flatMap(([, group]) => group.map(({ node }) => node)));
}

/** Excused failures that would halt if nobody shared them: no step opens before an hour without any. */
export interface ExcusedHold {
  readonly nodes: number;
  readonly untilMs: number;
}

/** The hold of excused failures that are so many, with one sign, as would halt; undefined: none of the last hour. */
export function holdOf(
  excused: readonly NodeFailed[],
  { needed, nowMs }: { readonly needed: number; readonly nowMs: number },
): ExcusedHold | undefined {
  const groups = Map.groupBy(excused, ({ failure }) => failure.sign).values();
  const holding = [...groups].filter((group) => group.length >= needed).flat();
  const lastMs = holding.reduce((last, { failure }) => Math.max(last, failure.atMs), -Infinity);
  const untilMs = lastMs + EXCUSED_WITHIN_MS;
  return untilMs > nowMs ? { nodes: holding.length, untilMs } : undefined;
}
