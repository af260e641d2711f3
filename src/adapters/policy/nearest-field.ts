/**
 * Finds the known field nearest to an unknown one, which is refused in any case.
 *
 * The unknown name is a user's, and may be anything: a long one is compared with nothing.
 */

/** Words of peers (Deployment, OpenKruise, ExtendedDaemonSet, Argo Rollouts, Open Cluster Management) for ours. */
const WORDS_OF_PEERS: Readonly<Record<string, string>> = {
  pause: 'paused',
  suspend: 'paused',
  minsuccesstime: 'soak',
  minreadyseconds: 'soak',
  duration: 'soak',
  replicas: 'nodes',
  nodeselector: 'selector',
  nodeantiaffinitykeys: 'spread',
  maxconcurrency: 'maxUnavailable',
  progressdeadlineseconds: 'progressDeadline',
  windows: 'window',
  timezone: 'timeZone',
  tz: 'timeZone',
  start: 'from',
  end: 'to',
  maxunavailable: 'maxConcurrency',
  labelselector: 'clusterSelector',
  selector: 'clusterSelector',
  names: 'clusterNames',
  groups: 'stages',
  partitions: 'stages',
  waittime: 'soak',
  afterstagewaitinseconds: 'soak',
  patches: 'overrides',
};

const EDITS_MAX = 2;
const LENGTH_MAX = 40;

/** The known field that is nearest; undefined: none is near. */
export function nearestField(unknown: string, known: readonly string[]): string | undefined {
  if (unknown.length > LENGTH_MAX) return undefined;
  const written = plain(unknown);
  const word = Object.hasOwn(WORDS_OF_PEERS, written) ? WORDS_OF_PEERS[written] : undefined;
  if (word !== undefined && known.includes(word)) return word;
  const near = known
    .map((field) => ({ field, edits: editsBetween(written, plain(field)) }))
    .filter(({ field, edits }) => edits <= EDITS_MAX && edits < field.length / 2)
    .sort((left, right) => left.edits - right.edits);
  return near[0]?.field;
}

/** Spelled alike for people: max-unavailable and maxUnavailable. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Levenshtein's distance. */
function editsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const kept = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(kept, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
