/**
 * A rolling update without surge: the first table of spec 2.9, and the walk over its budget.
 *
 * Old pods that are not available go unconditionally, and count; available ones only within max(0, maxUnavailable
 * − unavailable) (S3). Nodes that should not run the pod, vanished ones, and those stuck terminating count, as
 * upstream. A delete without an answer counts, and is repeated before new ones are chosen, without a second share
 * (protocol 4).
 *
 * Differs from upstream: the pod made first goes first, then by node name (upstream: random); nodes that the rest
 * of the run works at are left alone and count as unavailable.
 */
import { compareSites, isSafelyAvailable, type RolloutPod, type Site } from './rollout-states.ts';

/**
 * What a site is worth without surge. `delete`: at once, and it counts; `repeat`: an unanswered
 * delete of an available pod; `candidate`: within the budget; `refused`: a candidate whose delete was
 * refused lately, so that others have their turn.
 */
export type StepWithoutSurge =
  'fine' | 'unavailable' | 'delete' | 'repeat' | 'candidate' | 'refused';

export interface OldSite {
  readonly site: Site;
  readonly node: Site['node'];
  readonly old: RolloutPod;
}

export interface WalkWithoutSurge {
  /** Old pods that go, in the order in which a burst is cut. */
  readonly deletes: readonly OldSite[];
  /** Old pods that the budget leaves for later. */
  readonly waiting: readonly OldSite[];
  /** Old pods that would be candidates, had their delete not been refused lately. */
  readonly refused: readonly OldSite[];
  /** Sites that count against maxUnavailable. */
  readonly unavailableCount: number;
  /** Their nodes; told of staged rollouts alone. */
  readonly unavailable?: readonly Site['node'][];
}

/** The table of spec 2.9 for maxSurge 0, row by row. */
export function stepWithoutSurge(site: Site): StepWithoutSurge {
  if (site.isTouched) return 'unavailable';
  const { state } = site;
  switch (state.kind) {
    case 'crowded':
    case 'empty':
    case 'both':
      return 'unavailable';
    case 'only-new':
      return isSafelyAvailable(state.new) ? 'fine' : 'unavailable';
    case 'only-old':
      if (site.hasOpenCreate) return 'unavailable';
      if (!state.old.isAvailable) return 'delete';
      if (state.old.isDoomed) return 'repeat';
      return state.old.refused === undefined ? 'candidate' : 'refused';
  }
}

/** Walks all sites against the budget (spec 2.9). */
export function walkWithoutSurge(sites: readonly Site[], maxUnavailable: number): WalkWithoutSurge {
  const lists = {
    delete: new Array<OldSite>(),
    repeat: new Array<OldSite>(),
    candidate: new Array<OldSite>(),
    refused: new Array<OldSite>(),
  };
  let unavailableCount = 0;
  for (const site of sites) {
    const step = stepWithoutSurge(site);
    if (step === 'unavailable' || step === 'delete') unavailableCount += 1;
    if (step === 'fine' || step === 'unavailable' || site.state.kind !== 'only-old') continue;
    lists[step].push({ site, node: site.node, old: site.state.old });
  }
  for (const list of Object.values(lists)) list.sort(compareSites);
  const { repeat, candidate } = lists;
  const left = Math.max(0, maxUnavailable - unavailableCount);
  const fresh = Math.max(0, left - repeat.length);
  return {
    deletes: [...lists.delete, ...repeat.slice(0, left), ...candidate.slice(0, fresh)],
    waiting: [...repeat.slice(left), ...candidate.slice(fresh)],
    refused: lists.refused,
    unavailableCount: unavailableCount + repeat.length,
  };
}
