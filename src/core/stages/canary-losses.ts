/**
 * Canary nodes that went NotReady after their turn: what they had shown counts no more, and others
 * go in their place. One that comes back within a minute is waited for. Then one node goes in the
 * place of one loss, and of each other one that peers share which are not updated. If the added one
 * is lost as well, by itself, that is a sign. Bounded by LOSSES_MAX.
 */
import { OUTAGE_MS_MAX } from '../health/trial.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { CanaryLoss, NodeFailure } from '../model/rollout-record.ts';

/** 10 KB of a record at most. */
export const LOSSES_MAX = 64;
/** A kubelet that restarts is Ready again by then, and peers that die with a node are seen. */
export const SETTLED_MS = 60_000;

/** A canary node that has had its turn, as a run sees it. */
export interface SeenCanary {
  readonly name: NodeName;
  /** Zone and pool (`stratumOf`). */
  readonly stratum: string;
  readonly isLost: boolean;
}

/** The losses after another look at the canary, in the order in which they came. */
export function noteLosses(
  known: readonly CanaryLoss[],
  at: {
    readonly seen: readonly SeenCanary[];
    /** All of its nodes: one that was added, and is in it no more, stands in for no other. */
    readonly canary: readonly NodeName[];
    /** Of the trial: which peers went bad, and when. */
    readonly failures: readonly NodeFailure[];
    readonly nowMs: number;
  },
): readonly CanaryLoss[] {
  const { seen, canary, failures, nowMs } = at;
  const byName = new Map(seen.map((each) => [each.name, each]));
  const kept = known.map((loss): CanaryLoss => {
    const { added, isOver: wasOver, isShared, ...rest } = loss;
    const now = byName.get(loss.node);
    const isOver = now?.isLost !== true;
    const isAnew = wasOver === true && !isOver;
    const atMs = isAnew ? nowMs : loss.atMs;
    const isOfPeers =
      (isShared === true && !isAnew) || (now !== undefined && hasPeers(failures, now, atMs));
    return {
      ...rest,
      atMs,
      ...(isOver ? { isOver } : {}),
      ...(isOfPeers ? { isShared: true } : {}),
      ...(added !== undefined && canary.includes(added) ? { added } : {}),
    };
  });
  const names = new Set(known.map(({ node }) => node));
  const found = seen
    .filter(({ name, isLost }) => isLost && !names.has(name))
    .map((each): CanaryLoss => {
      const isShared = hasPeers(failures, each, nowMs) ? { isShared: true as const } : {};
      return { node: each.name, atMs: nowMs, ...isShared };
    });
  return [...kept, ...found].slice(0, LOSSES_MAX);
}

/** True if nodes like it that are not updated went bad within minutes of it. */
function hasPeers(
  failures: readonly NodeFailure[],
  { stratum }: SeenCanary,
  atMs: number,
): boolean {
  return failures.some(
    (each) =>
      !each.isUpdated && each.stratum === stratum && Math.abs(each.atMs - atMs) <= OUTAGE_MS_MAX,
  );
}

export function addedNodes(losses: readonly CanaryLoss[] = []): ReadonlySet<NodeName> {
  return new Set(losses.flatMap(({ added }) => added ?? []));
}

export interface LossMoment {
  readonly nowMs: number;
  /** When a breach was overruled last: losses before it are the nodes' own. Absent: none was. */
  readonly resumedAtMs?: number;
}

/** Losses in whose place another node is to go: in all `mostAdded` at most, and one that no peers share. */
export function lossesToReplace(
  losses: readonly CanaryLoss[],
  at: LossMoment & { readonly mostAdded: number },
): readonly CanaryLoss[] {
  const added = losses.filter((loss) => loss.added !== undefined);
  let room = at.mostAdded - added.length;
  let lone = added.some((loss) => isLone(loss, at)) ? 0 : 1;
  return losses.filter((loss) => {
    if (loss.added !== undefined || loss.isOver === true || room <= 0) return false;
    if (isLone(loss, at)) {
      if (lone === 0) return false;
      lone -= 1;
    }
    room -= 1;
    return true;
  });
}

/** True once a loss is taken for one. */
export function isSettled({ atMs }: CanaryLoss, { nowMs }: LossMoment): boolean {
  return nowMs - atMs >= SETTLED_MS;
}

/** Of the nodes that went in the place of others those that were lost as well, both by themselves. */
export function findLostAgain(
  losses: readonly CanaryLoss[],
  at: LossMoment,
): readonly CanaryLoss[] {
  const added = new Set(losses.flatMap((loss) => (isLone(loss, at) ? (loss.added ?? []) : [])));
  return losses.filter(
    (loss) =>
      added.has(loss.node) && loss.isOver !== true && isLone(loss, at) && isSettled(loss, at),
  );
}

function isLone(
  { atMs, isShared }: CanaryLoss,
  { resumedAtMs = Number.NEGATIVE_INFINITY }: LossMoment,
): boolean {
  return isShared !== true && atMs > resumedAtMs;
}

/** When losses of now are taken for some: nothing else would have a run look then. */
export function lossMoments(losses: readonly CanaryLoss[] = []): readonly number[] {
  return losses.flatMap(({ atMs, isOver }) => (isOver === true ? [] : [atMs + SETTLED_MS]));
}
