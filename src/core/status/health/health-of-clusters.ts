/** Finds what is wrong with a cluster as a whole: its watcher, its view, its runs, its API server, its freeze. */
import { describeLateNodes, type LateNodes } from '../../start-up/start-up-words.ts';
import { CLUSTER_WORDS, type ClusterWords } from '../cluster-words.ts';
import type { ClusterFacts, HealthFinding, HealthState, Severity } from './health-facts.ts';
import type { OutageCode } from '../outages.ts';

/** A stop, and what is frozen for the whole stack, stand above the answer. */
const OF_OUTAGES: Readonly<Record<OutageCode, readonly [HealthState, Severity] | undefined>> = {
  stopped: undefined,
  frozen: ['Frozen', 'waiting'],
  'watcher-silent': ['Silent', 'failing'],
  'watcher-stands-by': ['StandsBy', 'failing'],
  'functions-behind': ['Behind', 'failing'],
  'api-server-unreachable': ['Unreachable', 'failing'],
};

/** Judges one. Of a cluster that was rebuilt, or that was never heard, nothing else is said. */
export function judgeCluster(cluster: ClusterFacts): readonly HealthFinding[] {
  const { outages, conflict, rebuilt, heardAtMs, isViewComplete } = cluster;
  if (rebuilt !== undefined) return [found(cluster, 'Rebuilt', CLUSTER_WORDS.rebuilt(cluster))];
  if (heardAtMs === undefined) {
    return [found(cluster, 'NeverHeard', CLUSTER_WORDS['never-heard'](cluster))];
  }
  const told = outages.flatMap(({ code, message, remedy }) => {
    const [state, severity] = OF_OUTAGES[code] ?? [];
    if (state === undefined) return [];
    const words = { message, remedy: remedy.replace(/^(?:look|go on): /, '') };
    return [{ ...found(cluster, state, words), severity: severity ?? 'failing' }];
  });
  // A watcher that stands by tells nothing, so the view is not whole: that is said already.
  const isIncomplete = !isViewComplete && outages.every(({ code }) => code !== 'watcher-stands-by');
  return [
    ...(conflict === undefined
      ? []
      : [found(cluster, 'Conflict', CLUSTER_WORDS.conflict(cluster))]),
    ...told,
    ...(isIncomplete ? [incomplete(cluster)] : []),
    ...(cluster.late === undefined ? [] : [startingUp(cluster, cluster.late)]),
  ];
}

export function judgeUnreadable(unreadable: {
  readonly id: string;
  readonly problem: string;
}): HealthFinding {
  const { id, problem } = unreadable;
  const message = `its registration cannot be read, which counts as frozen: ${problem}`;
  return found(unreadable, 'Unreadable', { message, remedy: `rollcall cluster doctor ${id}` });
}

function startingUp(cluster: ClusterFacts, late: LateNodes): HealthFinding {
  const { text: message, remedy } = describeLateNodes(cluster.id, late);
  const severity = late.held === undefined ? 'failing' : 'waiting';
  return { ...found(cluster, 'StartingUp', { message, remedy }), severity };
}

function incomplete(cluster: ClusterFacts): HealthFinding {
  const words = CLUSTER_WORDS['view-incomplete'](cluster);
  return { ...found(cluster, 'Incomplete', words), severity: 'coming' };
}

function found(
  { id }: { readonly id: string },
  state: HealthState,
  { message, remedy }: ClusterWords,
): HealthFinding {
  const about = { subject: 'cluster', name: id, clusters: [id] } as const;
  return { state, severity: 'failing', ...about, message: message.trim(), remedy };
}
