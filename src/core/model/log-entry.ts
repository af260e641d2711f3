/**
 * Entries of `rollcall log`, for people: each is written with the change that it reports (ADR 0082).
 *
 * Only known codes, counts, names and what operators said of themselves: no message of an API server and no part of an
 * object that may be secret. No decision reads an entry. Entries of effects stand in the state until they fill it.
 */
import type { OlderReason, StepKind } from './rollout-record.ts';

/** For so long an item of entries is kept. */
export const LOG_DAYS_MAX = 30;

/** Requests about pods, of copilot the template that is restored, and of nodes the start-up taints that go, or the conditions. */
export type LoggedEffect =
  'create' | 'delete' | 'adopt' | 'release' | 'restore-template' | 'remove-taint' | 'set-condition';

/** The outcome of a request; `unknown`: sent and not answered, or its run did not live to tell. */
export type LoggedOutcome = 'done' | 'refused' | 'unsent' | 'unknown';

/** Requests of one run with the same end. */
export interface EffectPart {
  readonly came: LoggedOutcome;
  /** Why it was refused: a RefusalCode, or what the answer meant (create-result.ts). */
  readonly code?: string;
  readonly count: number;
  /** Nodes, or names of pods that have none; the first 16. */
  readonly names: readonly string[];
}

/** All requests of one kind that a run recorded: unknown in the write that records them, told by the one with the outcomes. */
export interface EffectEntry {
  readonly kind: 'effect';
  readonly effect: LoggedEffect;
  /** When they were recorded. */
  readonly atMs: number;
  /** Version of the state that recorded them: with time and effect it is what tells two entries apart. */
  readonly run: number;
  readonly parts: readonly EffectPart[];
  /** Why pods were deleted, and how many each; absent: they are of another kind. */
  readonly causes?: Readonly<Record<string, number>>;
}

export type RolloutEntry =
  | {
      readonly kind: 'rollout';
      readonly atMs: number;
      readonly hash: string;
      readonly older?: OlderReason;
    }
  | {
      readonly kind: 'step';
      readonly atMs: number;
      readonly step: StepKind;
      readonly name: string;
      readonly index: number;
    }
  | {
      readonly kind: 'halt';
      readonly atMs: number;
      readonly cause: string;
      readonly message: string;
      readonly names: readonly string[];
    }
  | { readonly kind: 'return'; readonly atMs: number; readonly isOver: boolean };

/** Pods that had to go and were held back (ADR 0057). */
export interface RemovalEntry {
  readonly kind: 'removal';
  readonly atMs: number;
  readonly pods: number;
  readonly cause: string;
  readonly manager?: string;
}

/** Why a whole DaemonSet was not acted on: a code of its back-off. */
export interface WaitEntry {
  readonly kind: 'wait';
  readonly atMs: number;
  readonly code: string;
}

/** A person's order. */
export interface OrderEntry {
  readonly kind: 'order';
  readonly atMs: number;
  readonly order:
    | 'pause'
    | 'resume'
    | 'approve'
    | 'undo'
    | 'confirm'
    | 'freeze'
    | 'thaw'
    | 'mode'
    | 'stop-stack'
    | 'resume-stack'
    | 'remove-cluster';
  readonly by: string;
  readonly why?: string;
  readonly step?: number;
  readonly mode?: string;
  readonly functions?: readonly string[];
  /** The cluster that is registered no more: who reads finds its entries nowhere. */
  readonly removed?: string;
}

/** A watcher was not heard for longer than counts as silence. */
export interface SilenceEntry {
  readonly kind: 'silence';
  /** When it was heard again. */
  readonly atMs: number;
  readonly sinceMs: number;
}

/** A decision on a FleetDaemonSet: by a step, or by an operator's order. */
export interface FleetEntry {
  readonly kind: 'fleet';
  readonly atMs: number;
  /** A FleetDecisionKind. */
  readonly decision: string;
  readonly message: string;
  readonly cluster?: string;
}

/** One thing that happened. */
export type LogEntry =
  EffectEntry | RolloutEntry | RemovalEntry | WaitEntry | OrderEntry | SilenceEntry | FleetEntry;

/** Entries that had no room: how many, of how many requests, and of which time. */
export interface LeftOut {
  readonly entries: number;
  readonly requests: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** How coverage was counted, write by write: what its days are recomputed from (core/coverage/trace.ts). */
export interface CoverageTrace {
  /** From when on, seconds since 1970, and what was counted on then. */
  readonly at: number;
  readonly eligible: number;
  readonly covered: number;
  /** Threes: seconds, negative where they are unknown; and by how much `eligible` and `covered` changed at their end. */
  readonly spans: readonly number[];
  /** Pairs: seconds after `at`, and the bucket of a node that joined. Absent: none did. */
  readonly joined?: readonly number[];
}

/** Entries that stand in a state, the oldest first; bounded (core/log/append-log.ts). */
export interface StateLog {
  readonly entries: readonly LogEntry[];
  /** Absent: nothing was counted since the entries before these got an item. */
  readonly coverage?: CoverageTrace;
  /** Absent: all have room. */
  readonly leftOut?: LeftOut;
}

/** The subject of an item of entries. */
export type LogSubject =
  | {
      readonly kind: 'daemon-set';
      readonly namespace: string;
      readonly name: string;
      readonly uid: string;
    }
  /** A DaemonSet of that name in every cluster. */
  | { readonly kind: 'name'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'cluster' }
  | { readonly kind: 'stack' };

/** Entries with a place of their own. */
export interface LogItem extends StateLog {
  readonly subject: LogSubject;
  /** Of its newest entry: names the day and orders items. */
  readonly atMs: number;
  /** Tells items of one time apart, and is the same where the same is written again: the state's version, or an id. */
  readonly token: string;
}
