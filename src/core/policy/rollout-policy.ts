/**
 * What the annotation `rollcall.dev/rollout` of a DaemonSet asks for: how its rolling update is staged (issue 17).
 *
 * Alike in copilot and takeover. Texts are read by a port (ports/rollout-policy.ts): what stands here is valid, with
 * every default filled in. A DaemonSet without the annotation is rolled as upstream does, and none of this applies.
 * A policy that cannot be read holds the rollout and changes nothing.
 */
import type { LabelSelector } from '@rollcall/base/objects.ts';

/** The annotation that holds a policy, as YAML or JSON. */
export const POLICY_ANNOTATION = 'rollcall.dev/rollout';

/** So many nodes, or whole percent of nodes (share.ts says of which). */
export type Share =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'percent'; readonly percent: number };

/** One level of the order: nodes are grouped by this label's value. */
export interface OrderRule {
  readonly label: string;
  /** Values that go first, in this order; the others follow by name, nodes without the label at the end. */
  readonly values: readonly string[];
  /** Nodes that bear the label (with one of `values`, if there are any) go after all others. */
  readonly isLast: boolean;
}

/** Which nodes try a revision before all others. */
export type Canary =
  | { readonly kind: 'share'; readonly share: Share; readonly spread: readonly string[] }
  | { readonly kind: 'selector'; readonly selector: LabelSelector };

/** What canaries differ in unless the policy says so: where bad releases differ most often. */
export const SPREAD_DEFAULT: readonly string[] = [
  'topology.kubernetes.io/zone',
  'kubernetes.io/arch',
  'node.kubernetes.io/instance-type',
];

/** Where a person has to agree before the next step opens. */
export type Approval = 'none' | 'after-canary' | 'each-step';

/** A weekday, 0 = Sunday, as JavaScript counts. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** When steps may open: [startMinute, endMinute) of local days; one that ends before it starts ends the day after. */
export interface RolloutWindow {
  /** Weekdays on which it starts. */
  readonly days: readonly Weekday[];
  /** Minutes since local midnight, 0 to 1439; `endMinute` 1 to 1440. */
  readonly startMinute: number;
  readonly endMinute: number;
  /** As the user wrote it: Area/City or UTC. */
  readonly timeZone: string;
}

export type OnHalt = 'pause' | 'rollback';

/** A policy, with every default filled in. */
export interface RolloutPolicy {
  readonly isPaused: boolean;
  /** Absent: that of the DaemonSet's own strategy, under OnDelete as well, else 1. Percentages round up. */
  readonly maxUnavailable?: Share;
  /** Nodes that keep their old pod. Percentages round down. */
  readonly partition?: Share;
  readonly order: readonly OrderRule[];
  /** Percentages round up. */
  readonly canary: Canary;
  /** How long a step's pods have to be well before the next one opens. */
  readonly soakMs: number;
  readonly approval: Approval;
  /** A rollout that gets no further for so long is a breach; absent: none. */
  readonly progressDeadlineMs?: number;
  /** Empty: at any time. A step opens inside one of them. */
  readonly windows: readonly RolloutWindow[];
  readonly onHalt: OnHalt;
  /** `staged`: the way back to a good release keeps all gates. */
  readonly returns: 'at-once' | 'staged';
  /** Nodes that are never updated by the rollout. */
  readonly exclude?: LabelSelector;
  /** `attributed`: nodes that went bad by themselves neither block nor use up maxUnavailable, up to a cap. */
  readonly budget: 'parity' | 'attributed';
  /** Share of its pods, in percent, beyond which a change that removes them within ten minutes is held. */
  readonly removalPercent: number;
}

/** One thing wrong with a policy's text. */
export interface PolicyProblem {
  /** Path of the field, as `canary.nodes` or `window[0].days`; empty: the whole text. */
  readonly field: string;
  /** What is wrong and what would be right, for a person. No part of the text is in it that may be secret. */
  readonly message: string;
}

/** What came of reading the annotation. */
export type PolicyReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'policy'; readonly policy: RolloutPolicy }
  | { readonly kind: 'invalid'; readonly problems: readonly [PolicyProblem, ...PolicyProblem[]] };
