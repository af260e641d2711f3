/**
 * Which old pods a staged rolling update replaces in this run: within the open nodes, within the budget (issue 17).
 *
 * Stricter than the plain one (rollout-without-surge.ts): old pods that are not available go first, but no more of them at
 * once than maxUnavailable (#123232), and nodes that are not Ready are never chosen: a deletion there does not
 * finish and would eat the budget. Nodes without a place in the rollout (vanished, only keeping a pod) count for nothing.
 * Excused nodes do not count, and need no room. With surge the plain walk is used, over sites of which those that are not open count as
 * being as they should be.
 *
 * Differs from upstream: all of it, for DaemonSets with a policy and for no other.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { Gate } from '../model/staged-progress.ts';
import type { Stages } from '../stages/stages-input.ts';
import { compareSites, isSafelyAvailable, isSupplied, type Site } from './rollout-states.ts';
import type { OldSite, WalkWithoutSurge } from './rollout-without-surge.ts';

export function walkStages(sites: readonly Site[], stages: Stages): WalkWithoutSurge {
  const taking = sites.filter(({ placement }) => placement === 'run');
  const unavailable = taking.filter(
    (site) => !isAvailableSite(site) && !stages.excused.has(site.node),
  );
  const olds = taking.flatMap((site) => {
    const { state, node, isTouched, hasOpenCreate } = site;
    const isFree = state.kind === 'only-old' && !isTouched && !hasOpenCreate;
    return isFree && stages.open.has(node) ? [{ site, node, old: state.old }] : [];
  });
  const refused = olds.filter(({ old }) => old.refused !== undefined && !old.isDoomed);
  const able = olds
    .filter((each) => !refused.includes(each))
    .sort((left, right) => compareLast(left, right, stages) || compareOlds(left, right));
  let room = stages.maxUnavailable - replacing(taking, stages.excused);
  let spare = stages.maxUnavailable - unavailable.length;
  const deletes: OldSite[] = [];
  for (const each of able) {
    if (stages.excused.has(each.node)) {
      deletes.push(each);
      continue;
    }
    const isCounted = !isAvailableSite(each.site);
    if (room <= 0 || (!isCounted && spare <= 0)) continue;
    room -= 1;
    if (!isCounted) spare -= 1;
    deletes.push(each);
  }
  const chosen = new Set(deletes);
  return {
    deletes,
    waiting: able.filter((each) => !chosen.has(each)),
    refused,
    unavailableCount: unavailable.length,
    unavailable: unavailable.map(({ node }) => node),
  };
}

/** What the old pod of a node waits for that is not open: at the end only for its node, or for another policy. */
export function whyClosed(nodeView: Site['nodeView'], gate: Gate): 'step' | 'ready' | 'kept' {
  if (gate.kind !== 'done') return 'step';
  return (gate.notReadyNodes ?? 0) > 0 && nodeView?.node.isReady === false ? 'ready' : 'kept';
}

function compareLast(left: OldSite, right: OldSite, { last }: Stages): number {
  return Number(last.has(left.node)) - Number(last.has(right.node));
}

/** Doomed ones first, as they may go anyway; then those that do not serve; then as in any rolling update. */
function compareOlds(left: OldSite, right: OldSite): number {
  const byDoom = Number(right.old.isDoomed) - Number(left.old.isDoomed);
  if (byDoom !== 0) return byDoom;
  const byHealth = Number(left.old.isAvailable) - Number(right.old.isAvailable);
  return byHealth === 0 ? compareSites(left, right) : byHealth;
}

/** A pod is there that counts for certain. */
function isAvailableSite(site: Site): boolean {
  return !site.isTouched && isSupplied(site);
}

/** Nodes in the middle of it: the old pod is gone, the new one not available yet. */
function replacing(sites: readonly Site[], excused: ReadonlySet<NodeName>): number {
  return sites.filter((site) => {
    if (excused.has(site.node)) return false;
    if (site.isTouched || site.state.kind === 'empty' || site.state.kind === 'crowded') return true;
    return site.state.kind === 'only-new' && !isSafelyAvailable(site.state.new);
  }).length;
}

/** Sites as the walk with surge is to see them: one that is not open is as it should be. */
export function closeSites(sites: readonly Site[], { open }: Stages): readonly Site[] {
  return sites.map((site) => {
    const { state, placement, node } = site;
    if (placement !== 'run' || open.has(node) || state.kind !== 'only-old') return site;
    return { ...site, state: { kind: 'only-new', new: state.old } };
  });
}
