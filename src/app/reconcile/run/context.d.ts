/**
 * What every step of one run shares: the hint, the limits, the ports, and what was read.
 *
 * Nothing of it outlives the invocation; a frozen and thawed process finds nothing half-used here.
 */
import type { Breach, StateChange } from '../../../core/plan/invariants.ts';
import type { Hint } from '../../../core/model/hint.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Effect, Outcome } from '../../../core/model/effects.ts';
import type { View } from '../../../core/model/plan.ts';
import type { PodProjection } from '../../../core/model/projections.ts';
import type { DaemonSetState, StatusPause } from '../../../core/model/state.ts';
import type { ClusterAccess, ConnectRefusal } from '../../../ports/cluster/cluster-access.ts';
import type { ClusterGate } from '../../isolation/cluster-gate.ts';
import type { DaemonSetRef, NamespacedName } from '../../../ports/stores/view-store.ts';
import type {
  ReconcileDependencies,
  ReconcileRun,
  StepDependencies,
} from '../process/dependencies.ts';
import type { EffectAssertions } from './asserted-access.ts';
import type { StoredInputs } from '../input/stored-inputs.ts';
import type { ReadView } from '../input/read-view.ts';
/** What a run came across, in whichever step. */
export interface RunNote {
  /** Where the view stood when it was read last; for the log line. */
  epoch?: string;
  seq?: number;
  /** Somebody else wrote the status: the run goes no further, and records it with whatever it records. */
  paused?: StatusPause;
}
/** Result of a compare-and-set: the state as it stands now. */
export type StateWrite =
  | {
      readonly kind: 'written';
      readonly state: DaemonSetState;
    }
  | {
      readonly kind: 'lost';
    }
  /** Nothing was written, because a promise would have been broken; it was told already. */
  | {
      readonly kind: 'stopped';
      readonly breach: Breach;
    };
/** One invocation, as its steps see it. */
export interface RunContext {
  readonly note: RunNote;
  readonly hint: Hint;
  /** The way to the cluster, through its circuit breaker. */
  readonly gate: ClusterGate;
  readonly run: ReconcileRun;
  /** When the run ends by the wall clock: a sandbox that stood still finds time left on its monotonic one (row 21). */
  readonly wallDeadlineMs: number;
  readonly dependencies: StepDependencies;
  /** Records intents before effects; a run that loses this write has sent nothing (protocol 4). */
  readonly recordIntents: (ref: DaemonSetRef, change: StateChange) => Promise<StateWrite>;
  /** What this run may send: nothing by which a promise would be broken. */
  readonly assertions: EffectAssertions;
}
/** The same for the end of the run, which alone sends timers and writes the state. */
export interface EndContext extends RunContext {
  readonly dependencies: ReconcileDependencies;
}
/** What was read, and what the run is about. */
export interface LoadedInput {
  readonly stored: StoredInputs;
  readonly daemonSet: DaemonSetObject;
  readonly read: ReadView;
  /** The state as stored, or an empty one; of this era. */
  readonly state: DaemonSetState;
  readonly access: LazyAccess;
  readonly nowMs: number;
}
/** A subject with its view. */
export interface ReconcileInput extends LoadedInput {
  /** Pods as the slices show them: the next run knows these, and not what `read` has from live reads. */
  readonly shown: readonly PodProjection[];
  readonly view: View;
}
/** What a step works with that may send something. */
export interface Step {
  readonly context: RunContext;
  readonly input: LoadedInput;
  readonly access: ClusterAccess;
}
/** namespace and name of the run's DaemonSet. */
export declare function keyOf({ hint }: RunContext): NamespacedName;
/** Monotonic time after which no request is started: the rest is for recording. */
export declare function effectDeadlineMs({ run, dependencies }: RunContext): number;
/** Sends effects, none after that time. */
export declare function send(
  effects: readonly Effect[],
  { context, access }: Pick<Step, 'context' | 'access'>,
): Promise<readonly Outcome[]>;
/** Of an effect that was sent and not answered for. */
export declare const NO_OUTCOME: Outcome;
/** Sends one effect. */
export declare function sendOne(
  effect: Effect,
  step: Pick<Step, 'context' | 'access'>,
): Promise<Outcome>;
/** False once the deadline passed, by either clock, or the process was told to stop. */
export declare function mayContinue(context: RunContext): boolean;
/** Connects at most once per attempt, and only when something needs the cluster. */
export declare class LazyAccess {
  #private;
  constructor(context: RunContext, stored: StoredInputs);
  /** Why there is no access, once it was asked for. */
  get refusal(): ConnectRefusal | undefined;
  /** The cluster, or undefined when it refuses. In observe mode it is never asked for (design 5). */
  get(): Promise<ClusterAccess | undefined>;
}
