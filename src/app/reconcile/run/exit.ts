/**
 * How a run ends, as a closed union: what a step hands back when there is nothing more for it to do.
 *
 * Steps only say how it ends (`End`); the caller adds what was read (`Exit`). `end-run.ts` alone sends timers and writes the
 * state; a step has no port to do so (`StepDependencies`). What a step records before it sends effects goes through
 * `RunContext.recordIntents`.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Guard, Plan } from '../../../core/model/plan.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { LoadedInput, ReconcileInput } from './context.ts';
import type { RunResult, DeferralCode, ReconcileResult } from './result.ts';
import type { RetryReason } from '../../../core/retry/retry.ts';

/** Why a run is put off, and for how long. */
export interface Deferral {
  readonly code: DeferralCode;
  readonly message: string;
  readonly delayMs: number;
}

/** Why a key has to wait longer each time. */
export type BackOff = RetryReason & { readonly code: DeferralCode; readonly message: string };

/** What was found, before its view was read: an end is recorded in it. */
export type FoundInput = Pick<LoadedInput, 'stored' | 'state' | 'nowMs' | 'access'>;

/** An end about which nothing is recorded. */
export type Over =
  /** There is nothing to arrange. */
  | { readonly kind: 'over'; readonly result: ReconcileResult }
  /** The last complete run saw exactly this; `resendDueAtMs`: its due time is so near that it is sent once more. */
  | { readonly kind: 'skipped'; readonly nowMs: number; readonly resendDueAtMs: number | undefined }
  /** Put off, without anything to record it in. */
  | { readonly kind: 'unrecorded'; readonly deferral: Deferral };

/** An end that is recorded in the state. */
export type PutOff =
  /** Put off; since when is kept, because it is capped. */
  | { readonly kind: 'deferral'; readonly deferral: Deferral }
  /** Put off for longer each time. */
  | { readonly kind: 'back-off'; readonly reason: BackOff }
  /** The breaker of the cluster is open until then, and the key waits for it already. */
  | { readonly kind: 'breaker-wait'; readonly message: string; readonly untilMs: number }
  /** The cluster cannot be used. */
  | { readonly kind: 'unavailable'; readonly message: string }
  /** The selector is exactly empty (spec 2.3 step 4). */
  | { readonly kind: 'selecting-all'; readonly daemonSet: DaemonSetObject };

/** Why a run goes no further than it has come, before a plan is carried out. */
export type End = Over | PutOff;

/** What was to be done was done, or tried. */
export interface CarriedOut {
  readonly kind: 'carried-out';
  readonly input: ReconcileInput;
  readonly plan: Plan;
  readonly guard: Guard;
  readonly result: RunResult;
  /** The state as stored now: read, or written with intents. */
  readonly recorded: DaemonSetState;
  readonly access: ClusterAccess | undefined;
}

/** The end of an attempt. */
export type Exit =
  | Over
  | (End & { readonly input: FoundInput })
  | CarriedOut
  /** Another run recorded its intents first: nothing was done, and the caller looks again. */
  | { readonly kind: 'lost' };
