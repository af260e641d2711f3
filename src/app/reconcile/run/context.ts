/**
 * What every step of one run shares: the hint, the limits, the ports, and what was read.
 *
 * Nothing of it outlives the invocation; a frozen and thawed process finds nothing half-used here.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Breach, StateChange } from '../../../core/plan/invariants.ts';
import type { RunPart } from '../../../core/cost/counted.ts';
import type { Hint } from '../../../core/model/hint.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Effect, Outcome } from '../../../core/model/effects.ts';
import type { FoundIntents } from '../../../core/intents/intents.ts';
import type { Guard, IntentJudgement, View } from '../../../core/model/plan.ts';
import type { FormerTemplate } from '../../../core/model/staged-progress.ts';
import type { FreshnessGuard } from '../../../core/view/freshness.ts';
import type { PodCause, PodProjection } from '../../../core/model/projections.ts';
import type {
  DaemonSetState,
  HistoryEntry,
  StatusPause,
  TemplateCopies,
} from '../../../core/model/state.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import { isResourceVersion, type ResourceVersion } from '../../../core/model/identifiers.ts';
import { isPastDeadline, type StartLimits } from '../../../core/pod/request-life.ts';
import type { ClusterAccess, ConnectRefusal } from '../../../ports/cluster/cluster-access.ts';
import type { ClusterGate } from '../../isolation/cluster-gate.ts';
import type { DaemonSetRef, NamespacedName } from '../../../ports/stores/view-store.ts';
import type {
  ReconcileDependencies,
  ReconcileRun,
  StepDependencies,
} from '../process/dependencies.ts';
import type { EffectAssertions } from './asserted-access.ts';
import type { RunResult } from './result.ts';
import type { StoredInputs } from '../read/stored-inputs.ts';
import type { ReadView } from '../read/read-view.ts';

/** What a run came across, in whichever step. */
export interface RunNote {
  /** Where the view stood when it was read last; for the log line. */
  epoch?: string;
  seq?: number;
  /** How far the run is counted already, monotonic, and as what (core/cost/counted.ts); absent: it is not counted. */
  counted?: {
    readonly toMs: number;
    readonly kind: RunPart['kind'];
    readonly next: RunPart['part'];
  };
  /** Another client wrote the status: the run goes no further, and records that with its other records. */
  paused?: StatusPause;
}

/** Result of a compare-and-set: the state as it stands now. */
export type StateWrite =
  | { readonly kind: 'written'; readonly state: DaemonSetState }
  | { readonly kind: 'lost' }
  /** Nothing was written, because a promise would have been broken; it was told already. */
  | { readonly kind: 'stopped'; readonly breach: Breach };

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

/**
 * Own creates and deletes of pods are unseen, each known by its identity: their nodes count as
 * unavailable and get nothing else, so that others may go on. Without work for others the run defers.
 */
export interface Waiting {
  readonly guard: FreshnessGuard;
  readonly retryInMs: number;
  /**
   * True if an own write of the status is unseen, as another would only meet a conflict; and beside writes that an
   * earlier run read live: it counted them, and this one does not.
   */
  readonly isStatusHeld: boolean;
}

/** What was judged of it: whether the run may act, and what became of its earlier writes. */
export interface Judged {
  readonly guard: Guard;
  readonly intents: IntentJudgement;
  /** True if the deferral was capped, or live reads stand for a view that is too old. */
  readonly isLive: boolean;
  /** Unseen intents that this run read live and found as they were answered; absent: none was read. */
  readonly found?: FoundIntents;
  /** Present while own writes are unseen that planning accounts for, one by one. */
  readonly waiting?: Waiting;
}

/** All that a run decides on: built once, given to every step under this name, and only replaced as a whole. */
export interface ReconcileInput extends LoadedInput, Judged {
  /** Pods as the slices show them: the next run knows these, and not what `read` has from live reads. */
  readonly shown: readonly PodProjection[];
  readonly view: View;
  /** Hash of the current revision: from history, else from the view. */
  readonly currentHash: string | undefined;
  readonly answers: Answers;
}

/** What needs were answered with (needs.ts); one that is answered is not asked for again. */
export interface Answers {
  readonly history?: {
    readonly entry: HistoryEntry | undefined;
    /** True if the revisions as seen are those that the entry was told from: they may be trimmed. */
    readonly isSettled: boolean;
  };
  readonly template?:
    | {
        readonly kind: 'found';
        readonly former: FormerTemplate;
        /** What is known of copies by now, where an unknown one was found. */
        readonly copies?: TemplateCopies;
      }
    | { readonly kind: 'missing' }
    /** It could not be read just now, though it is needed: its nodes wait for another look. */
    | { readonly kind: 'unavailable'; readonly message: string };
  readonly events?: readonly PodCause[];
  /** `read` and `view` are of one live list by now. */
  readonly pods?: 'listed';
}

/** What a step works with that may send something. */
export interface Step {
  readonly context: RunContext;
  readonly input: ReconcileInput;
  readonly access: ClusterAccess;
}

/** A step that notes what comes of it. */
export interface NotedStep extends Step {
  readonly result: RunResult;
}

/** namespace and name of the run's DaemonSet. */
export function keyOf({ hint }: Pick<RunContext, 'hint'>): NamespacedName {
  return { namespace: hint.key.namespace, name: hint.key.name };
}

/** For how long a run may send. */
type Limits = Pick<RunContext, 'run' | 'wallDeadlineMs' | 'dependencies'>;

/** Monotonic time after which no request is started: the rest is for recording. */
export function effectDeadlineMs({ run, dependencies }: Omit<Limits, 'wallDeadlineMs'>): number {
  return run.deadlineMs - dependencies.options.recordReserveMs;
}

function startLimitsOf(context: Limits): StartLimits {
  const wallDeadlineMs = context.wallDeadlineMs - context.dependencies.options.recordReserveMs;
  return { deadlineMs: effectDeadlineMs(context), wallDeadlineMs };
}

/** Sends effects, none after that time. */
export function send(
  effects: readonly Effect[],
  { context, access }: Pick<Step, 'context' | 'access'>,
): Promise<readonly Outcome[]> {
  return access.execute(effects, startLimitsOf(context));
}

/** Of an effect that was sent and not answered for. */
export const NO_OUTCOME: Outcome = { kind: 'ambiguous', message: 'no outcome' };

/** Sends one effect. */
export async function sendOne(
  effect: Effect,
  step: Pick<Step, 'context' | 'access'>,
): Promise<Outcome> {
  const [outcome = NO_OUTCOME] = await send([effect], step);
  return outcome;
}

/** The version that a write returned; undefined when it cannot be compared. */
export function versionOf(
  outcome: Extract<Outcome, { kind: 'done' }>,
): ResourceVersion | undefined {
  const { metadata } = outcome.object;
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  return isResourceVersion(version) ? version : undefined;
}

/** False once the deadline passed, by either clock, or the process was told to stop. */
export function mayContinue(context: Limits): boolean {
  if (context.run.signal?.aborted === true) return false;
  const { clock } = context.dependencies;
  const at = { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
  return !isPastDeadline(startLimitsOf(context), at);
}

/** Connects at most once per attempt, and only when something needs the cluster. */
export class LazyAccess {
  readonly #context: Pick<RunContext, 'gate' | 'assertions' | 'dependencies'>;
  readonly #stored: Pick<StoredInputs, 'registration' | 'meta' | 'ref'>;
  #refusal: ConnectRefusal | undefined;
  #opened: Promise<ClusterAccess | undefined> | undefined;

  constructor(
    context: Pick<RunContext, 'gate' | 'assertions' | 'dependencies'>,
    stored: Pick<StoredInputs, 'registration' | 'meta' | 'ref'>,
  ) {
    this.#context = context;
    this.#stored = stored;
  }

  /** Why there is no access, once it was asked for. */
  get refusal(): ConnectRefusal | undefined {
    return this.#refusal;
  }

  /** The cluster, or undefined when it refuses. In observe mode it is never asked for (design 5). */
  get(): Promise<ClusterAccess | undefined> {
    this.#opened ??= this.#connect();
    return this.#opened;
  }

  async #connect(): Promise<ClusterAccess | undefined> {
    const { gate, assertions, dependencies } = this.#context;
    const { registration, meta, ref } = this.#stored;
    if (registration.mode === 'observe') {
      this.#refusal = { kind: 'no-credential' };
      return undefined;
    }
    const answer = await gate.connect(registration, meta, dependencies.connector);
    if (answer.kind === 'connected') {
      const { mode, startUp } = registration;
      return assertions.wrap(answer.access, { uid: ref.uid, mode, ...defined({ startUp }) });
    }
    this.#refusal = answer.refusal;
    return undefined;
  }
}
