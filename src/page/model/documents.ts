/**
 * The documents that the page reads: those of `-o json` (docs/reference/json.md), by the types of what makes them.
 *
 * What a command puts together itself is put together here of the same parts.
 */
import type { FleetClusterLine, StageTally } from '../../app/fleet/rollout/list-clusters.ts';
import type { FleetStatus as FleetState } from '../../app/fleet/rollout/fleet-status.ts';
import type { HoldingFleet } from '../../app/fleet/rollout/holding-fleet.ts';
import type {
  RolloutStatus as RolloutState,
  ShownBudget,
} from '../../app/rollout/rollout-status.ts';
import type { CoverageDay, CoverageSum } from '../../core/coverage/report.ts';
import type { LogLine } from '../../core/log/merge-log.ts';
import type { LeftOut, LogEntry } from '../../core/model/log-entry.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { Gate } from '../../core/model/staged-progress.ts';
import type { Verdict } from '../../core/model/verdict.ts';
import type { RolloutPhase } from '../../core/rollout/gate-words.ts';
import type { FleetHealth } from '../../core/status/health/health-facts.ts';
import type { NextStep } from '../../core/status/next-steps.ts';
import type { MappedCluster, NodeMap as DrawnMap } from '../../core/status/node-map.ts';
import type { Outage } from '../../core/status/outages.ts';
import type { ReasonGroup } from '../../core/status/reason-groups.ts';
import type { PlannedNode, PlannedStep } from '../../core/what-if/tell-plan.ts';

export type { FleetHealth, NextStep, Outage };

export type { MappedCluster as MapCluster };

/** `get nodes`. */
export interface NodeMap extends DrawnMap {
  readonly atMs: number;
  /** The one that was asked for; absent: the worst of each node. */
  readonly daemonSet?: string;
}

/** A line of `get rollouts`. */
export interface RolloutItem extends Pick<
  RolloutState,
  'cluster' | 'namespace' | 'name' | 'summary'
> {
  readonly state: RolloutPhase;
  readonly gate?: Gate;
}

/** A line of `get fleets`. */
export interface FleetItem extends Pick<
  FleetState,
  'namespace' | 'name' | 'generation' | 'summary'
> {
  readonly state: RolloutPhase;
}

/** `get rollouts` and `get fleets`. */
export interface ListOf<Item> {
  readonly items: readonly Item[];
}

/** `rollout status`. */
export interface RolloutStatus extends RolloutState {
  readonly next: readonly NextStep[];
}

/** `fleet status`. */
export interface FleetStatus extends Omit<FleetState, 'stages'> {
  readonly next: readonly NextStep[];
  readonly stages: readonly StageTally[];
  readonly clusters: readonly FleetClusterLine[];
}

/** An answer of `why`: told, or the reason why nothing can be. */
export interface Answer {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly outages: readonly Outage[];
  /** Of one that cannot be told. */
  readonly message?: string;
  readonly remedy?: string;
  readonly mode?: ClusterMode;
  readonly lastSentAtMs?: number;
  readonly counts?: Readonly<Record<string, number>>;
  readonly groups?: readonly ReasonGroup[];
  readonly nodes?: readonly Pick<Verdict, 'node' | 'code' | 'message' | 'placement'>[];
  readonly budget?: ShownBudget;
  readonly fleet?: HoldingFleet;
}

/** `why`. */
export interface Explanation {
  readonly answers: readonly Answer[];
}

/** An entry of `log`: the entry, what it is about, and its words. */
export type ToldEntry = LogEntry & Pick<LogLine, 'cluster' | 'subject'> & { readonly text: string };

/** `log`. */
export interface Log {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly entries: readonly ToldEntry[];
  readonly omitted: number;
  readonly leftOut: readonly LeftOut[];
  readonly unnamed: number;
  readonly unreadable: readonly string[];
  readonly outages: readonly Outage[];
}

export type { CoverageDay };

/** A DaemonSet of one cluster in `coverage`. */
export interface CoverageRow extends CoverageSum {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly ownerLabel?: string;
}

/** `coverage`. */
export interface Coverage {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly rows: readonly CoverageRow[];
  readonly unreadable: readonly string[];
}

/** `plan`. */
export interface Plan {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly result: 'changes' | 'none' | 'refused';
  readonly refusals: readonly string[];
  readonly nodes: readonly PlannedNode[];
  readonly steps: readonly PlannedStep[];
  readonly notes: readonly string[];
  readonly outages?: readonly Outage[];
}

/** What a command says instead of its document. */
export interface CommandError {
  readonly message: string;
  readonly remedy: string;
  readonly exitCode?: number;
}
