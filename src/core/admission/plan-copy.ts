/**
 * Which copy of a template is to be written or looked at now (ADR 0063).
 *
 * A copy can only be made of the DaemonSet's present template, so it is made as soon as that one is proven: when a policy
 * is first seen at rest, and when a canary passed. It never takes the place of the former revision's, to which a later
 * breach leads. A copy that another client deleted is noticed at rest, a few times a day. Pure; nothing is sent from here.
 */
import type { CopyWish } from '../model/staged-progress.ts';
import type { PlanContext } from '../model/plan.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { CopySlot, TemplateCopies, TemplateCopy } from '../model/state.ts';
import { COPY_SLOTS } from './template-copy.ts';

/** A copy is read again after so long; less than the six hours after which a settled DaemonSet is looked at anyway. */
export const COPY_CHECK_MS = 5 * 3_600_000;

/** After a refusal it is not tried by every hint. */
export const COPY_RETRY_MS = 10 * 60_000;

/** The copy that this run sees to, if any: where Rollcall makes the pods, and may. */
export function planCopy(
  { hash, proven, former }: Pick<RolloutRecord, 'hash' | 'proven' | 'former'>,
  { state, staging, guard }: Pick<PlanContext, 'state' | 'staging' | 'guard'>,
  nowMs: number,
): { readonly copy?: CopyWish } {
  const isOurs = staging?.mode === 'takeover' && guard.kind === 'act';
  if (!isOurs || proven?.hash !== hash) return {};
  const held = state.copies?.held ?? [];
  const found = held.find((copy) => copy.hash === hash);
  if (isSettled(found, state.copies, nowMs)) return {};
  return { copy: { hash, slot: found?.slot ?? freeSlot(held, former?.hash) } };
}

/** Refused lately, or seen lately. */
function isSettled(
  found: TemplateCopy | undefined,
  copies: TemplateCopies | undefined,
  nowMs: number,
): boolean {
  if (nowMs - (copies?.refusedAtMs ?? -Infinity) < COPY_RETRY_MS) return true;
  return found !== undefined && nowMs - found.seenAtMs < COPY_CHECK_MS;
}

/** What is held once a copy was written, or found as it should be. */
export function withCopy(copies: TemplateCopies | undefined, copy: TemplateCopy): TemplateCopies {
  const others = (copies?.held ?? []).filter(({ slot }) => slot !== copy.slot);
  return { held: [...others, copy].sort((left, right) => (left.slot < right.slot ? -1 : 1)) };
}

/** An empty one, else the one that was seen to first; never that of the former revision. */
function freeSlot(held: readonly TemplateCopy[], formerHash: string | undefined): CopySlot {
  const seenAtMs = (slot: CopySlot): number =>
    held.find((copy) => copy.slot === slot)?.seenAtMs ?? -Infinity;
  const needed = held.find(({ hash }) => hash === formerHash)?.slot;
  const free = COPY_SLOTS.filter((slot) => slot !== needed);
  const [first = 'a'] = free.sort((left, right) => seenAtMs(left) - seenAtMs(right));
  return first;
}
