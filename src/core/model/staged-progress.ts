/**
 * How far a staged rollout is, and what holds it: the record and the gate, as a plan carries them.
 *
 * And what a plan is given, or asks for, of templates that are not the DaemonSet's present one: a former revision, to make pods
 * of it, and the copy that admission compares them with (ADR 0063).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClusterId, NodeName } from './identifiers.ts';
import type { RolloutRecord } from './rollout-record.ts';
import type { CopySlot } from './state.ts';

/** The nodes once no step waits. */
export interface StepsEnd {
  /** They keep an old pod, by partition or exclude. */
  readonly keptNodes: number;
  /** They have an old pod that is replaced once they are Ready again. */
  readonly notReadyNodes: number;
  /** Neither kept nor awaited, and without an available pod of the revision. */
  readonly unwellNodes: number;
  /** Without an available pod, as under the former revision: no place is found for it. Absent: none. */
  readonly placelessNodes?: number;
}

/**
 * The gate of the next member, or the next step, of a cluster and of a fleet. Public;
 * docs/reference/codes.md lists the kinds. Counts are absent where a record alone tells it, and of a fleet.
 */
export type Gate =
  /** Members of open steps are being updated. */
  | { readonly kind: 'updating'; readonly pendingNodes?: number }
  /** All nodes of open steps are updated, and some are not well yet. */
  | {
      readonly kind: 'settling';
      readonly unwellNodes?: number;
      /** Pods failed within the hour as pods of the former revision did: no step opens before. Absent: none did. */
      readonly sharedUntilMs?: number;
    }
  /** Canary nodes that had their turn are not Ready, and no others have shown as much. `addsAtMs` absent: no other can. */
  | { readonly kind: 'lost'; readonly lostNodes: number; readonly addsAtMs?: number }
  | { readonly kind: 'soaking'; readonly untilMs: number }
  | { readonly kind: 'approval'; readonly stepIndex: number }
  /** `opensAtMs` absent: none of the windows opens within eight days. */
  | { readonly kind: 'window'; readonly opensAtMs?: number }
  | { readonly kind: 'paused'; readonly by?: 'policy' | 'order' }
  | { readonly kind: 'breach' }
  /** An operator, or a breach, sent its members back to what was good. */
  | { readonly kind: 'returning' }
  /** All that had the release, and are within reach, are back. */
  | { readonly kind: 'returned' }
  /** The view is too old, or not whole: silence is no success. */
  | { readonly kind: 'view' }
  /** No node that could be a canary matches the policy's selector. */
  | { readonly kind: 'no-canary' }
  /** No step waits; pods may be missing all the same. */
  | ({ readonly kind: 'done' } & Partial<StepsEnd>)
  /** All steps are open, and not every desired pod is updated and available: `missing` says which, in words. */
  | { readonly kind: 'unavailable'; readonly missing: string }
  /** All else is done; these nodes are updated once they are Ready again. */
  | { readonly kind: 'nodes-not-ready'; readonly notReadyNodes: number }
  | FleetHold
  /** The policy cannot be used, and holds everything. `message` absent: the problems are told beside it. */
  | { readonly kind: 'invalid'; readonly message?: string }
  | { readonly kind: 'frozen'; readonly by: string; readonly why: string }
  /** None of the stage's clusters shows evidence: never a success. Who agrees to this gate lets it pass all the same. */
  | { readonly kind: 'no-evidence'; readonly stage: string; readonly stepIndex: number }
  /** No cluster of the open stage was given it, since the API server of this one would refuse it, as a dry run showed. */
  | {
      readonly kind: 'refused';
      readonly cluster: ClusterId;
      /** The API server's answer. */
      readonly message: string;
      readonly sinceMs: number;
      /** Asked again then, and given if it is taken. */
      readonly askAtMs: number;
    }
  /** The template is newer than what the record is of: the next run begins with it. */
  | { readonly kind: 'unseen' }
  /** Nothing: the next look opens the next step, or ends the rollout. */
  | { readonly kind: 'next' };

/** A fleet gave the revision to these nodes alone, and decides when the others follow. */
export interface FleetHold {
  readonly kind: 'fleet';
  /** namespace/name. */
  readonly fleet: string;
  readonly message: string;
}

/** The record after one look, and what it waits for. */
export interface StagedProgress {
  readonly record: RolloutRecord;
  readonly gate: Gate;
  /** Copilot: nodes that run the revision ahead of their step, as the built-in controller makes pods of the newest template. */
  readonly strays: readonly NodeName[];
}

/** A revision's template, to make pods of. */
export interface FormerTemplate {
  readonly hash: string;
  /** spec.template, as the ControllerRevision's data have it. */
  readonly template: JsonObject;
  /** Template generation at which it was made, as label value; absent: not noted. */
  readonly generation?: string;
  /** The label of its pods, beside the template's own, that names the copy which admission compares them with. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A copy of the present template that is to be seen to (core/admission). */
export interface CopyWish {
  readonly slot: CopySlot;
  readonly hash: string;
}
