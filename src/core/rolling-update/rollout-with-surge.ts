/**
 * A rolling update with surge: the second table of spec 2.9, and the walk over its budget.
 *
 * A node whose old pod is not available gets its new one regardless of maxSurge; one whose old pod is, within
 * max(0, maxSurge − surging) (S2). The old pod goes once the new one is available. Nodes that should not run the
 * pod are vacated only as far as more pods are available than nodes are desired. A create that may still arrive
 * beside an old pod counts as surging, and is repeated without a second share (protocol 4).
 *
 * Differs from upstream: the pod made first goes first, then by node name (upstream: random). Pods of vanished
 * nodes are left to pod garbage collection, where upstream fails the step while one is outdated; `strict` restores
 * that. A node whose create is known to be refused takes no share. Before others are vacated, a node with both
 * pods counts as available when either is (upstream: the old one).
 */
import type { Compat } from '../daemon-set/strategy.ts';
import { compareSites, isSafelyAvailable, isSupplied } from './rollout-states.ts';
import type { RolloutPod, Site } from './rollout-states.ts';
import type { OldSite } from './rollout-without-surge.ts';

/**
 * What a site is worth with surge. `create`: a new pod at once; `candidate`: within maxSurge;
 * `repeat`: a create that may be on its way; `delete`: the old pod at once; `vacate`, and
 * `repeat-vacate` where its delete was not answered: the old pod as far as enough are available;
 * `refused`: one to be vacated whose delete was refused lately.
 */
export type StepWithSurge =
  | 'none'
  | 'surging'
  | 'create'
  | 'candidate'
  | 'repeat'
  | 'delete'
  | 'vacate'
  | 'repeat-vacate'
  | 'refused';

export interface WalkWithSurge {
  /** Old pods that go at once: replaced, or unavailable where none should run. */
  readonly deletes: readonly OldSite[];
  /** Old pods of nodes that are vacated now. */
  readonly vacated: readonly OldSite[];
  /** Old pods that stay until enough others are available. */
  readonly occupied: readonly OldSite[];
  /** Old pods that would be vacated, had their delete not been refused lately. */
  readonly refused: readonly OldSite[];
  /** Nodes that get a new pod, whatever the budget. */
  readonly creates: readonly OldSite[];
  /** Creates that may be on their way and are to be repeated; they have their part of the budget. */
  readonly repeats: readonly OldSite[];
  /** Nodes that get a new pod in this order, as far as `room` goes. */
  readonly candidates: readonly OldSite[];
  readonly room: number;
  /** Creates that may be on their way and that the budget does not want repeated. */
  readonly stale: readonly OldSite[];
  /** Sites that count against maxSurge. */
  readonly surgingCount: number;
  /** Name of an outdated pod of a vanished node that holds up the step; only with `strict`. */
  readonly stray?: string;
}

/** The table of spec 2.9 for maxSurge > 0, row by row. */
export function stepWithSurge(site: Site): StepWithSurge {
  const { state } = site;
  switch (state.kind) {
    case 'crowded':
      return 'surging';
    case 'empty':
    case 'only-new':
      return 'none';
    case 'both':
      if (!isSafelyAvailable(state.new)) return 'surging';
      return site.isTouched ? 'none' : 'delete';
    case 'only-old':
      if (site.isTouched) return site.hasOpenCreate ? 'surging' : 'none';
      return site.placement === 'run' ? stepOfStaying(site, state.old) : stepOfLeaving(state.old);
  }
}

/** The only pod of a node is outdated, and the node is to get a new one. */
function stepOfStaying(site: Site, old: RolloutPod): StepWithSurge {
  if (!old.isAvailable) return 'create';
  return site.hasOpenCreate ? 'repeat' : 'candidate';
}

/** The only pod of a node that should not run one, and is outdated. */
function stepOfLeaving(old: RolloutPod): StepWithSurge {
  if (!old.isAvailable) return 'delete';
  if (old.isDoomed) return 'repeat-vacate';
  return old.refused === undefined ? 'vacate' : 'refused';
}

/** Walks all sites against the budget (spec 2.9). */
export function walkWithSurge(
  sites: readonly Site[],
  rules: {
    readonly maxSurge: number;
    readonly desiredNodes: number;
    readonly compat: Compat;
  },
): WalkWithSurge {
  const isStrict = rules.compat === 'strict';
  const taking = isStrict ? sites : sites.filter(({ placement }) => placement !== 'vanished');
  const listOf = groupOldSites(taking);
  const repeat = listOf('repeat');
  const leaving = listOf('repeat-vacate');
  const vacating = [...leaving, ...listOf('vacate')];
  const surging = taking.filter(isSurgingAnyway).length;
  const supplied = taking.filter(isSupplied).length;
  const room = Math.max(0, rules.maxSurge - surging);
  const spare = Math.max(0, supplied + leaving.length - rules.desiredNodes);
  const [stray] = isStrict ? taking.flatMap(outdatedStrays) : [];
  return {
    deletes: listOf('delete'),
    vacated: vacating.slice(0, spare),
    occupied: vacating.slice(spare),
    refused: listOf('refused'),
    creates: listOf('create'),
    repeats: repeat.slice(0, room),
    stale: repeat.slice(room),
    candidates: listOf('candidate'),
    room: Math.max(0, room - repeat.length),
    surgingCount: surging + repeat.length,
    ...(stray === undefined ? {} : { stray }),
  };
}

/** Sites with an old pod by what they are worth, each list in the order of the rollout. */
function groupOldSites(sites: readonly Site[]): (step: StepWithSurge) => readonly OldSite[] {
  const olds = sites.flatMap((site) => {
    const { state, node } = site;
    const hasOld = state.kind === 'only-old' || state.kind === 'both';
    return hasOld ? [{ site, node, old: state.old }] : [];
  });
  const lists = Map.groupBy(olds, ({ site }) => stepWithSurge(site));
  for (const list of lists.values()) list.sort(compareSites);
  return (step) => lists.get(step) ?? [];
}

/** Counts against maxSurge, whether or not a create is repeated there. */
function isSurgingAnyway(site: Site): boolean {
  const step = stepWithSurge(site);
  return step === 'surging' || (step === 'create' && site.hasOpenCreate);
}

function outdatedStrays({ placement, state }: Site): readonly string[] {
  return placement === 'vanished' && state.kind === 'only-old' ? [state.old.pod.name] : [];
}
