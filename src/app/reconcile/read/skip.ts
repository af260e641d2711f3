/**
 * Whether the last complete run saw exactly this (protocol 11, 12).
 *
 * Equality with the memo decides, never a number that a hint carries: no wake-up can be lost to
 * numbering (row 74). Every memo expires; a due time that passed always means a look. A memo of the future
 * does not say when anything is due: a clock that was ahead wrote it (row 14).
 */
import { DUE_TOLERANCE_MS } from '../../../core/model/hint.ts';
import { canonicalJson, type JsonObject } from '@rollcall/base/json.ts';
import type { Memo } from '../../../core/model/state.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import { CLOCKS_DIFFER_MS } from '../../../core/retry/retry.ts';
import type { StoredInputs, SlicedInputs } from './stored-inputs.ts';

/** A run or skip so close before a due time sends it again (protocol 12). */
export const RESEND_WITHIN_MS = 10_000;

export type SkipDecision =
  | { readonly kind: 'run' }
  /** `resendDueAtMs`: so close before a due time that its timer is sent once more. */
  | { readonly kind: 'skip'; readonly resendDueAtMs?: number };

/** What was read that a memo is made of. */
type Memorable = Pick<StoredInputs, 'meta' | 'position' | 'daemonSet' | 'registration' | 'frozen'>;

/** What a memo is compared with: it is in the state. */
export type MemoInputs = Memorable & Pick<StoredInputs, 'state'>;

/** Stamps and versions of this run, exactly as read (protocol 11). */
export function memoOf(
  stored: Memorable,
  run: { readonly release: string; readonly nowMs: number },
): Memo {
  const { meta, position, daemonSet, registration, frozen } = stored;
  return {
    era: meta.era,
    epoch: meta.epoch,
    nodesChanged: meta.nodesChanged,
    podsChanged: position.podsChanged,
    revisionsChanged: position.revisionsChanged,
    daemonSetChanged: daemonSet.stamp,
    configVersion: registration.configVersion,
    // A freeze that was thawed is another configuration: what a frozen run left undone is no longer "nothing new".
    configHash: frozen === undefined ? hashOf(registration) : hashOf({ registration, frozen }),
    release: run.release,
    ranAtMs: run.nowMs,
  };
}

/** Of what some run still holds, each hashed once: a run asks when it begins, and when it ends. */
const hashes = new WeakMap<object, number>();

function hashOf(value: object): number {
  const known = hashes.get(value);
  // Stryker disable next-line ConditionalExpression: what is remembered is what would be made again
  if (known !== undefined) return known;
  const made = hash48(canonicalJson(value as unknown as JsonObject)); // it holds JSON values only
  // Stryker disable next-line CallExpression: what is not remembered is made again
  hashes.set(value, made);
  return made;
}

/** Skips when the memo equals what was read and nothing is due. */
export function decideSkip(
  stored: MemoInputs,
  run: { readonly release: string; readonly nowMs: number; readonly memoLifeMs: number },
): SkipDecision {
  const memo = stored.state?.memo;
  if (memo === undefined || !isSameView(memo, memoOf(stored, run), stored.daemonSet))
    return { kind: 'run' };
  if (memo.ranAtMs - run.nowMs > CLOCKS_DIFFER_MS) return { kind: 'run' };
  const dueAtMs = Math.min(
    stored.state?.dueAtMs ?? Infinity,
    stored.state?.expiryAtMs ?? Infinity,
    memo.ranAtMs + run.memoLifeMs,
  );
  if (run.nowMs >= dueAtMs - DUE_TOLERANCE_MS) return { kind: 'run' };
  if (run.nowMs >= dueAtMs - RESEND_WITHIN_MS) return { kind: 'skip', resendDueAtMs: dueAtMs };
  return { kind: 'skip' };
}

/** What of a memo has to be as it was read; the DaemonSet's stamp is compared apart. */
const COMPARED = [
  'era',
  'epoch',
  'nodesChanged',
  'podsChanged',
  'revisionsChanged',
  'configVersion',
  'configHash',
  'release',
] as const;

function isSameView(left: Memo, right: Memo, daemonSet: StoredInputs['daemonSet']): boolean {
  return (
    isSameDaemonSet(left, daemonSet) && COMPARED.every((field) => left[field] === right[field])
  );
}

function isSameDaemonSet(memo: Memo, { stamp, object }: StoredInputs['daemonSet']): boolean {
  const version = object?.metadata.resourceVersion;
  return (
    memo.daemonSetChanged === stamp || (version !== undefined && memo.daemonSetVersion === version)
  );
}

/**
 * True if something that brings a run of its own has changed since the last complete one: pods, revisions or the DaemonSet.
 * Nodes may change without concerning any DaemonSet (ADR 0079).
 */
export function isNewerThanRun({
  state,
  position,
  daemonSet,
}: Pick<StoredInputs, 'state' | 'position' | 'daemonSet'>): boolean {
  const memo = state?.memo;
  return (
    memo?.podsChanged !== position.podsChanged ||
    memo.revisionsChanged !== position.revisionsChanged ||
    !isSameDaemonSet(memo, daemonSet)
  );
}

/** True if no memo can be of these positions, whatever the DaemonSet says: nothing will be skipped. */
export function hasMoved({ state, meta, position }: SlicedInputs): boolean {
  const memo = state?.memo;
  return (
    memo?.nodesChanged !== meta.nodesChanged ||
    memo.podsChanged !== position.podsChanged ||
    memo.revisionsChanged !== position.revisionsChanged
  );
}
