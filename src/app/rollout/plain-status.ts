/**
 * How an update without stages stands: by generation and counters, as `kubectl rollout status` tells it.
 *
 * Also for OnDelete, where kubectl refuses to tell. And what is told of any end that is none, or that concerns no node.
 */
import { strategyTypeOf } from '../../core/daemon-set/strategy.ts';
import { describe as describeShrink } from '../../core/interlock/shrink-events.ts';
import { toldObject } from '../../core/model/view-items.ts';
import type { DaemonSetItem } from '../../core/model/view-items.ts';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';
import { countsOf, describeMissing, podCountsOf } from '../../core/rollout/pod-counts.ts';
import type { SeenNodes } from '../explain/explain.ts';
import type { Basis } from '../reconcile/read/read-basis.ts';

/** How it stands. */
export interface ToldPhase {
  readonly phase: RolloutPhase;
  readonly summary: string;
}

/** An update without stages. */
export interface PlainStatus extends ToldPhase {
  readonly update: 'rolling' | 'on-delete';
}

/** What an end is judged by: nodes as a plan of now sees them, where one can be told. */
export interface EndSource extends Pick<Basis, 'registration' | 'state' | 'daemonSet'> {
  readonly seen: SeenNodes | undefined;
}

/** How it stands. */
export function plainStatus(source: EndSource): PlainStatus {
  const object = toldObject(source.daemonSet);
  const isOnDelete = object !== null && strategyTypeOf(object) === 'OnDelete';
  return {
    update: isOnDelete ? 'on-delete' : 'rolling',
    ...endOf(judge(source.daemonSet, isOnDelete), source),
  };
}

function judge(daemonSet: DaemonSetItem, isOnDelete: boolean): ToldPhase {
  const counts = countsOf(toldObject(daemonSet));
  if (counts === undefined) {
    return { phase: 'Progressing', summary: describeOpaque(daemonSet) };
  }
  const { generation, observedGeneration, desired, updated } = counts;
  if (isOnDelete && observedGeneration >= generation && updated < desired) {
    const summary = `${String(updated)} of ${String(desired)} updated; each other pod waits until somebody deletes it (OnDelete)`;
    return { phase: 'Waiting', summary };
  }
  const missing = describeMissing(counts);
  return missing === undefined
    ? { phase: 'Done', summary: 'every node runs the newest template' }
    : { phase: 'Progressing', summary: missing };
}

/** An end while pods are held from being taken is none; one without any node that is meant is told as that. */
export function endOf<Told extends ToldPhase>(
  told: Told,
  { registration, state, daemonSet, seen }: EndSource,
): Told | (Told & ToldPhase) {
  if (told.phase !== 'Done') return told;
  const held = state?.shrink?.held;
  if (held !== undefined && registration.mode === 'takeover') {
    return { ...told, phase: 'Waiting', summary: `held: ${describeShrink(held)}` };
  }
  return podCountsOf(toldObject(daemonSet)).desired > 0
    ? told
    : { ...told, summary: describeNoNode(seen) };
}

/** Why the object is not in the view, as the end of a sentence; its size, where the watcher told it. */
export function describeOpaque({ opaqueReason, outline }: DaemonSetItem): string {
  if (outline !== undefined) {
    const { bytes, bytesMax } = outline;
    return `its object has ${kib(bytes)}, and a watcher sends at most ${kib(bytesMax)} of one`;
  }
  return opaqueReason === 'too-large'
    ? 'its object is too large for a watcher to send'
    : 'the watcher could not read its object';
}

function kib(bytes: number): string {
  return `${String(Math.ceil(bytes / 1024))} KiB`;
}

/** That no node is eligible, of how many, and how many had a pod some minutes ago. */
export function describeNoNode(seen: SeenNodes | undefined): string {
  if (seen === undefined) return 'no node is eligible';
  const { nodes, formerNodes } = seen;
  const before = formerNodes === 0 ? '' : `, ${String(formerNodes)} before`;
  return `0 of ${String(nodes)} nodes are eligible${before}`;
}
