/**
 * How an update without stages stands: by generation and counters, as `kubectl rollout status` tells it.
 *
 * Also for OnDelete, where kubectl refuses to tell. Counters are those of the status that the watcher last sent.
 */
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { strategyTypeOf } from '../../core/daemon-set/strategy.ts';
import type { RolloutPhase } from '../../core/rollout/gate.ts';

/** Nodes, as the DaemonSet's status counts them. */
export interface Counters {
  readonly desired: number;
  readonly updated: number;
  readonly available: number;
}

/** An update without stages. */
export interface PlainStatus {
  readonly generations: { readonly generation: number; readonly observedGeneration: number };
  readonly update: 'rolling' | 'on-delete';
  readonly phase: RolloutPhase;
  readonly summary: string;
}

/** Its counters; an absent one is zero, as Kubernetes leaves it out. */
export function countersOf(object: DaemonSetObject | null): Counters {
  const status = object?.status;
  return {
    desired: numberOf(status, 'desiredNumberScheduled'),
    updated: numberOf(status, 'updatedNumberScheduled'),
    available: numberOf(status, 'numberAvailable'),
  };
}

/** How it stands; null: the object travelled opaque. */
export function plainStatus(object: DaemonSetObject | null): PlainStatus {
  const generation = object?.metadata.generation ?? 0;
  const observedGeneration = numberOf(object?.status, 'observedGeneration');
  const isOnDelete = object !== null && strategyTypeOf(object) === 'OnDelete';
  const generations = { generation, observedGeneration };
  const update = isOnDelete ? 'on-delete' : 'rolling';
  const told = (phase: RolloutPhase, summary: string): PlainStatus => {
    return { generations, update, phase, summary };
  };
  if (object === null) return told('Progressing', 'its object is too large for the view to hold');
  if (observedGeneration < generation) {
    return told('Progressing', 'waits until its newest generation is looked at');
  }
  const { desired, updated, available } = countersOf(object);
  if (updated < desired && isOnDelete) {
    const summary = `${String(updated)} of ${String(desired)} updated; each other pod waits until somebody deletes it (OnDelete)`;
    return told('Waiting', summary);
  }
  if (updated < desired) {
    return told('Progressing', `${String(updated)} of ${String(desired)} pods have been updated`);
  }
  if (available < desired) {
    const summary = `${String(available)} of ${String(desired)} updated pods are available`;
    return told('Progressing', summary);
  }
  return told('Done', 'every node runs the newest template');
}

function numberOf(status: DaemonSetStatus | undefined, name: keyof DaemonSetStatus): number {
  const value = status?.[name];
  return typeof value === 'number' ? value : 0;
}
