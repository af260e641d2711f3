/**
 * What chance has spoilt for the comparison is taken out of a portrait: how old a pod is once a rollout was cut short,
 * and which revisions there were once an edit was put back before everybody had seen it. Pure.
 */
import type { PodPortrait, Portrait, SetPortrait } from './portrait.ts';
import { MARK_ANNOTATION } from './write-all.ts';

/** What chance has not spoilt yet for the comparison. */
export interface Comparable {
  /** False where the portraits before were not aligned: which pods are the same ones is chance then. */
  readonly isKeptCompared: boolean;
  /** False once a rollout was interrupted: which pods are older than it is chance, but not their content. */
  readonly isAgeCompared: boolean;
  /** DaemonSets with an edit that may have been seen or not: only their newest revision is compared. */
  readonly spoiltHistories: ReadonlySet<string>;
}

/** The portrait, as far as it may be compared. */
export function comparablePart(portrait: Portrait, comparable: Comparable): Portrait {
  const part = comparable.isAgeCompared ? portrait : withoutAge(portrait);
  return {
    ...part,
    sets: Object.fromEntries(
      Object.entries(part.sets).map(([name, set]) => [
        name,
        comparable.spoiltHistories.has(name) ? withoutHistory(set) : set,
      ]),
    ),
  };
}

/** Without what says when a pod was made: the generation of its template, and marks that only older pods have. */
export function withoutAge(portrait: Portrait): Portrait {
  const sets = Object.entries(portrait.sets).map(([name, set]) => [
    name,
    mapPods(set, (pod) => {
      const { 'pod-template-generation': _age, [MARK_ANNOTATION]: _label, ...labels } = pod.labels;
      const { [MARK_ANNOTATION]: _mark, ...annotations } = pod.annotations;
      return { ...pod, labels, annotations };
    }),
  ]);
  return { ...portrait, sets: Object.fromEntries(sets) as Portrait['sets'] };
}

const NEWEST = 1;
const OLDER = -1;

/** With the newest revision alone, under one number for both clusters. */
function withoutHistory(set: SetPortrait): SetPortrait {
  const newest = set.revisions.at(-1);
  const revisionOf = ({ revision }: PodPortrait): number => {
    if (revision === 0) return 0;
    return revision === newest?.number ? NEWEST : OLDER;
  };
  return {
    ...mapPods(set, (pod) => ({ ...pod, revision: revisionOf(pod) })),
    // Whoever saw the edit may have made the revision again, with the annotations of that moment.
    revisions: newest === undefined ? [] : [{ ...newest, number: NEWEST, annotations: {} }],
  };
}

function mapPods(set: SetPortrait, change: (pod: PodPortrait) => PodPortrait): SetPortrait {
  const podsByNode = Object.entries(set.podsByNode).map(([node, pods]) => [node, pods.map(change)]);
  return { ...set, podsByNode: Object.fromEntries(podsByNode) as SetPortrait['podsByNode'] };
}
