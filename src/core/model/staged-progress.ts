/**
 * How far a staged rollout is, and what holds it: the record and the gate, as a plan carries them (issue 17).
 */
import type { NodeName } from './identifiers.ts';
import type { RolloutRecord } from './rollout-record.ts';

/** What the next node, or the next step, waits for. */
export type Gate =
  /** Nodes of open steps are being updated. */
  | { readonly kind: 'updating'; readonly pendingNodes: number }
  /** All nodes of open steps are updated, and some are not well yet. */
  | { readonly kind: 'settling'; readonly unwellNodes: number }
  | { readonly kind: 'soaking'; readonly untilMs: number }
  | { readonly kind: 'approval'; readonly stepIndex: number }
  /** `opensAtMs` absent: none of the windows opens within eight days. */
  | { readonly kind: 'window'; readonly opensAtMs?: number }
  | { readonly kind: 'paused'; readonly by: 'policy' | 'order' }
  | { readonly kind: 'breach' }
  /** An operator sent the nodes back to the proven revision. */
  | { readonly kind: 'undone' }
  /** The view is too old, or not whole: silence is no success. */
  | { readonly kind: 'view' }
  /** No node that could be a canary matches the policy's selector. */
  | { readonly kind: 'no-canary' }
  /** Nothing waits; `keptNodes` keep an old pod, by partition or exclude. */
  | { readonly kind: 'done'; readonly keptNodes: number };

/** The record after one look, and what it waits for. */
export interface StagedProgress {
  readonly record: RolloutRecord;
  readonly gate: Gate;
  /** Copilot: nodes that run the revision ahead of their step, as the built-in controller makes pods of the newest template. */
  readonly strays: readonly NodeName[];
}
