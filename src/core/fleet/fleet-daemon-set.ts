/**
 * A FleetDaemonSet (`rollcall.dev/v1alpha1`): one DaemonSet for many clusters, and its stages. Its
 * namespace and name are the DaemonSet's in every cluster (ADR 0066). It was read
 * (ports/fleet-reader.ts) and is valid, with every default filled in.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, LabelSelector } from '@rollcall/base/objects.ts';
import type { OrderRule, RolloutWindow, Share } from '../policy/rollout-policy.ts';

/** apiVersion of a FleetDaemonSet. */
export const FLEET_API_VERSION = 'rollcall.dev/v1alpha1';

/** A DaemonSet of every cluster: namespace and name. */
export interface FleetKey {
  readonly namespace: string;
  readonly name: string;
}

/** `namespace/name`, as logs and the CLI print it. */
export function formatFleetKey({ namespace, name }: FleetKey): string {
  return `${namespace}/${name}`;
}

/** Which clusters: those that are named, and those whose registration has these labels. */
export interface ClusterChoice {
  readonly names: readonly string[];
  readonly selector?: LabelSelector;
}

/** Where the DaemonSet is placed. */
export interface FleetPlacement {
  /** Absent: every cluster of the stack. */
  readonly choice?: ClusterChoice;
  /** Never these, whatever `choice` says. */
  readonly exclude?: ClusterChoice;
}

/** A change of the manifest for some clusters. */
export interface FleetOverride {
  readonly name: string;
  /** Absent: every cluster. */
  readonly choice?: ClusterChoice;
  /** Applied first. */
  readonly strategicMerge?: JsonObject;
  /** Operations of JSON Patch, applied after it. */
  readonly jsonPatch?: readonly JsonObject[];
}

/** Where a person has to agree: before a stage opens, or after it passed. */
type StageApproval = 'none' | 'before' | 'after';

/** Clusters that get the DaemonSet together. */
export interface FleetStage {
  readonly name: string;
  /** Absent: any cluster. */
  readonly choice?: ClusterChoice;
  /** So many of them; percentages are of those that `choice` names, rounded up. Absent: all that are left. */
  readonly share?: Share;
  /** Of each of its clusters only so many nodes, in the first stage alone; percentages round up. */
  readonly nodes?: Share;
  /** Clusters that roll at the same time; percentages of the stage's clusters, rounded up. */
  readonly maxConcurrency: Share;
  /** Clusters in which the release may fail before the fleet halts; percentages of the stage's clusters, rounded down. */
  readonly maxFailures: Share;
  /** Clusters that may be unable to take it, or to keep it, before the fleet halts; as many percent. */
  readonly maxRefusals: Share;
  /** How long its clusters have to be well before the next stage opens. */
  readonly soakMs: number;
  readonly approval: StageApproval;
  /** Empty: at any time. */
  readonly windows: readonly RolloutWindow[];
}

/** A halt stops the rollout, or goes back to the last good revision as well. */
export type FleetBreach = 'halt' | 'rollback';

/** Fields that others own: the cluster fails, told by manager and field; or they are taken. */
type FleetConflicts = 'abort' | 'overwrite';

/** A template that another client changed in a cluster after the rollout: only reported, or applied again. */
type FleetDrift = 'report' | 'heal';

/** How the fleet is rolled. */
export interface FleetStrategy {
  /** At least one; the last one takes every cluster that is left. */
  readonly stages: readonly [FleetStage, ...FleetStage[]];
  /** Which clusters go first, inside a stage and where a stage takes a share. */
  readonly order: readonly OrderRule[];
  readonly onHalt: FleetBreach;
  readonly conflicts: FleetConflicts;
  readonly drift: FleetDrift;
  /** A fleet that gets no further for so long is a breach; absent: none. */
  readonly progressDeadlineMs?: number;
  /**
   * Text of the annotation `rollcall.dev/rollout` that each cluster's DaemonSet is given: how it is staged inside the
   * cluster. Absent: the manifest has its own.
   */
  readonly policyText?: string;
}

/** A FleetDaemonSet. */
export interface FleetDaemonSet extends FleetKey {
  /** The DaemonSet, whole, without what an API server writes. */
  readonly manifest: FleetManifest;
  readonly placement: FleetPlacement;
  readonly overrides: readonly FleetOverride[];
  readonly strategy: FleetStrategy;
}

/** A DaemonSet as a user writes it: no cluster has given it a UID or a version yet. */
export type FleetManifest = JsonObject & {
  readonly metadata: FleetKey & JsonObject;
  readonly spec: Pick<DaemonSetObject['spec'], 'selector' | 'template' | 'updateStrategy'>;
};

/** One thing wrong with a FleetDaemonSet, or with what it becomes in a cluster. */
export interface FleetProblem {
  /** Path of the field, as `spec.strategy.stages[0].soak`; empty: the whole. */
  readonly field: string;
  /** The fault and its correction, without any value of the text. */
  readonly message: string;
}

/** Result of reading one. */
export type FleetReading =
  | {
      readonly kind: 'fleet';
      readonly fleet: FleetDaemonSet;
      /** As it was written, with the manifest in it: what is stored, and read again. */
      readonly document: JsonObject;
      /** Other objects of the file that the manifest came from: they are not part of the fleet. */
      readonly leftOut: readonly string[];
    }
  | { readonly kind: 'invalid'; readonly problems: readonly [FleetProblem, ...FleetProblem[]] };
