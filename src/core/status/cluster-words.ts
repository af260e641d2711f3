/**
 * Words of `rollcall status` for a cluster as a whole, beside outages.
 */
import type { RivalNote } from '../model/registration.ts';

export interface ClusterSubject {
  readonly id: string;
  readonly incompleteReason?: string;
  readonly conflict?: Pick<RivalNote, 'evidence'>;
  readonly rebuilt?: { readonly foundUid: string };
}

/** A sentence, and what to do. */
export interface ClusterWords {
  readonly message: string;
  readonly remedy: string;
}

/** The words. */
export const CLUSTER_WORDS = {
  rebuilt: ({ id, rebuilt }: ClusterSubject): ClusterWords => ({
    message: `Its watcher speaks of another cluster, ${rebuilt?.foundUid ?? ''}: it was rebuilt. Nothing is written there.`,
    remedy: `Register it anew: rollcall cluster reset ${id}. If it was not rebuilt, take its role away from the other cluster.`,
  }),
  conflict: ({ id, conflict }: ClusterSubject): ClusterWords => ({
    message: `Another controller works on its DaemonSets; Rollcall has stopped there. ${conflict?.evidence ?? ''}`,
    remedy: `Switch that one off, then: rollcall cluster set ${id} --mode takeover. Or leave: --mode observe.`,
  }),
  'never-heard': ({ id }: ClusterSubject): ClusterWords => ({
    message: 'Its watcher was never heard.',
    remedy: `Install it (rollcall cluster add prints how), or look why it cannot send: rollcall cluster doctor ${id}`,
  }),
  'view-incomplete': ({ incompleteReason = 'no snapshot yet' }: ClusterSubject): ClusterWords => ({
    message: `The view of the cluster is not whole (${incompleteReason}); nothing is created or deleted on it.`,
    remedy:
      'The watcher is asked for a snapshot by itself, within minutes; if it stays so: doctor.',
  }),
} as const;
