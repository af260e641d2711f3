/**
 * Plays an edit forward to its end, by the very plans that runs make, on a model of the cluster (model-cluster.ts).
 *
 *   view ─▶ planReconcile of each who acts ─▶ deeds on the model ─▶ the next thing that happens, or a due time ─▶ again
 *
 * It ends at rest, where nothing is due and nothing changed; or it says that it does not end within so many turns. Where the
 * built-in controller acts, its part is planned as `compat: strict` plans it, without stages.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { IntentJudgement, Plan, PlanContext, StagingContext, View } from '../model/plan.ts';
import type { OpenStep } from '../model/rollout-record.ts';
import type { StagedProgress } from '../model/staged-progress.ts';
import type { DaemonSetState } from '../model/state.ts';
import type { Verdict } from '../model/verdict.ts';
import { planReconcile } from '../plan/plan.ts';
import { POLICY_ANNOTATION } from '../policy/rollout-policy.ts';
import { computeStatus, hasSameStatus } from '../status/status.ts';
import { ModelCluster } from './model-cluster.ts';
import type { Actor, Deed, ModelStart } from './model-cluster.ts';

/** Whose hands an edit is in. */
export interface Hands {
  /** `all`: pods, placement and rollout. `deletes`: the deletes of a staged rollout alone (copilot). `none`: it only looks. */
  readonly rollcall: 'all' | 'deletes' | 'none';
  /** Whether the built-in controller runs there. */
  readonly hasBuiltIn: boolean;
}

/** What is played. */
export interface PlayInput extends ModelStart {
  readonly hands: Hands;
  readonly state: DaemonSetState;
  /** controller-revision-hash of the template after the edit; undefined: not known before the API server has it. */
  readonly hash: string | undefined;
  /** Of the policy after the edit; absent: the rollout has no stages. */
  readonly staging?: StagingContext;
  /** The template that pods of an earlier revision are made of, where a staged rollout asks for some. */
  readonly formerTemplate: DaemonSetObject['spec']['template'];
  readonly requestTimeoutMs: number;
  readonly burstPodsMax: number;
}

export interface PlayedStep {
  readonly kind: OpenStep['kind'] | 'rolling-update';
  /** Values of the order's labels; empty: there is none. */
  readonly name: string;
  readonly atMs: number;
}

export interface PlayedDeed extends Deed {
  /** Place in `steps`; absent: it is of no rollout. */
  readonly step?: number;
}

/** What came of it. */
export interface Played {
  /** `does-not-end`: nothing stood still within the bound; what is told is its beginning. */
  readonly end: 'rest' | 'does-not-end';
  readonly endMs: number;
  readonly turns: number;
  readonly deeds: readonly PlayedDeed[];
  readonly steps: readonly PlayedStep[];
  /** How far a staged rollout is in the end; absent: there is none. */
  readonly stages?: Pick<StagedProgress, 'record' | 'gate'>;
  /** One for each node, in the end. */
  readonly verdicts: readonly Verdict[];
  /** A mass removal that waits for a confirmation in the end. */
  readonly isRemovalHeld: boolean;
}

const NO_INTENTS: IntentJudgement = { unseen: [], unresolved: [], settled: [] };
const AGAIN_MS = 1_000;
/** Looks at nodes in all: a thousand nodes one by one take half of them, and some seconds. */
const NODE_LOOKS_MAX = 4_000_000;
const TURNS_LEAST = 150;
const TURNS_MAX = 20_000;
/** Turns without any deed, one after the other: time alone changes nothing any more. */
const IDLE_TURNS_MAX = 400;
/** What is due later than that is not waited for. */
const HORIZON_MS = 30 * 86_400_000;

/** How many turns a cluster of so many nodes is played for. */
function turnsMaxOf(nodes: number): number {
  return Math.max(
    TURNS_LEAST,
    Math.min(TURNS_MAX, Math.floor(NODE_LOOKS_MAX / Math.max(1, nodes))),
  );
}

/** Plays it; `turnsMax` bounds it. */
export function playEdit(input: PlayInput, turnsMax = turnsMaxOf(input.nodes.length)): Played {
  const play = new Play(input);
  const horizonMs = input.nowMs + HORIZON_MS;
  let idleTurns = 0;
  for (let turn = 1; turn <= turnsMax; turn += 1) {
    const nextMs = play.turn();
    idleTurns = play.hasActed ? 0 : idleTurns + 1;
    const isAtRest = nextMs === undefined || nextMs > horizonMs || idleTurns > IDLE_TURNS_MAX;
    if (isAtRest) return play.tell('rest', turn);
    play.cluster.advance(nextMs);
  }
  return play.tell('does-not-end', turnsMax);
}

class Play {
  readonly cluster: ModelCluster;
  hasActed = false;
  readonly #input: PlayInput;
  readonly #deeds: PlayedDeed[] = [];
  readonly #steps: PlayedStep[] = [];
  #state: DaemonSetState;
  #builtInBackoff: DaemonSetState['backoff'] = [];
  #stages: StagedProgress | undefined;
  #seen: View | undefined;
  #opened = '';

  constructor(input: PlayInput) {
    this.#input = input;
    this.cluster = new ModelCluster(input);
    this.#state = withoutRequests(input.state, input.daemonSet);
    this.#note(0, undefined);
  }

  /** Each part of the model looks once. Returns when the next look is due; undefined: everything rests. */
  turn(): number | undefined {
    const { hands } = this.#input;
    this.hasActed = false;
    this.#seen = undefined;
    const plans: Plan[] = [];
    let isCapped = false;
    const before = this.#standing();
    if (hands.hasBuiltIn) plans.push(this.#builtIn());
    if (hands.rollcall !== 'none') plans.push(this.#rollcall());
    for (const plan of plans) isCapped ||= leavesWork(plan);
    this.#writeStatus();
    const isMoved = isCapped || before !== this.#standing();
    const dues = plans.flatMap(({ dueAtMs }) => dueAtMs ?? []);
    const moments = [this.cluster.nextEventMs ?? [], dues, isMoved ? this.#now + AGAIN_MS : []];
    const next = moments.flat();
    return next.length === 0 ? undefined : Math.max(this.#now + 1, Math.min(...next));
  }

  tell(end: Played['end'], turns: number): Played {
    const verdicts = this.#lastPlan().verdicts();
    return {
      end,
      endMs: this.#now,
      turns,
      deeds: this.#deeds,
      steps: this.#steps,
      ...defined({ stages: this.#stages }),
      verdicts,
      isRemovalHeld: this.#state.shrink?.held !== undefined && this.#input.hands.rollcall === 'all',
    };
  }

  get #now(): number {
    return this.cluster.nowMs;
  }

  #lastPlan(): Plan {
    return this.#input.hands.rollcall === 'none' ? this.#planBuiltIn() : this.#planRollcall();
  }

  /** As upstream: nothing is staged, held or confirmed. */
  #planBuiltIn(): Plan {
    const { daemonSet } = this.cluster;
    const { rollout: _rollout, shrink: _shrink, ...state } = this.#state;
    const context = { ...this.#context(), mode: 'takeover', state } as const;
    const backoff = this.#builtInBackoff;
    return planReconcile(this.cluster.view(asUpstream(daemonSet)), {
      ...context,
      state: { ...state, backoff },
    });
  }

  #builtIn(): Plan {
    const plan = this.#planBuiltIn();
    this.#builtInBackoff = plan.backoff;
    this.#apply(plan, 'built-in');
    return plan;
  }

  #planRollcall(): Plan {
    const { hands, staging } = this.#input;
    const mode = hands.rollcall === 'all' ? 'takeover' : 'copilot';
    const seen = this.cluster.view();
    this.#seen = seen;
    const plan = (more: Partial<StagingContext>): Plan =>
      planReconcile(seen, {
        ...this.#context(),
        mode,
        ...(staging === undefined ? {} : { staging: { ...staging, ...more } }),
      });
    const first = plan({});
    const need = first.needs.find(({ kind }) => kind === 'template');
    const causes = first.needs.some(({ kind }) => kind === 'events') ? { causes: [] } : {};
    if (need?.kind !== 'template') return 'causes' in causes ? plan(causes) : first;
    const template = JSON.parse(JSON.stringify(this.#input.formerTemplate)) as NonNullable<
      StagingContext['former']
    >['template'];
    return plan({ ...causes, former: { hash: need.hash, template } });
  }

  #rollcall(): Plan {
    const plan = this.#planRollcall();
    const { stages, shrink, backoff } = plan;
    const isAsked = this.cluster.daemonSet.metadata.annotations?.[POLICY_ANNOTATION] !== undefined;
    const { rollout, ...kept } = this.#state;
    this.#state = {
      ...kept,
      backoff,
      ...defined({
        rollout: stages?.record ?? (isAsked ? rollout : undefined),
        shrink: shrink?.record ?? kept.shrink,
      }),
    };
    this.#stages = stages;
    if (stages !== undefined) this.#open(stages.record.step);
    this.#apply(plan, 'rollcall');
    return plan;
  }

  #open({ kind, name, index }: OpenStep): void {
    const opened = `${kind} ${String(index)} ${name}`;
    if (opened === this.#opened) return;
    this.#opened = opened;
    this.#steps.push({ kind, name, atMs: this.#now });
  }

  #apply(plan: Plan, by: Actor): void {
    const from = this.cluster.deeds.length;
    const hasEffects = this.cluster.apply(plan, by);
    this.hasActed ||= hasEffects;
    this.#note(from, by);
  }

  /** Deeds since then, each with the step in which it fell. */
  #note(from: number, by: Actor | undefined): void {
    for (const deed of this.cluster.deeds.slice(from)) {
      const isOfRollout = deed.kind === 'delete' && OF_ROLLOUT.has(deed.reason ?? '');
      if (isOfRollout && this.#steps.length === 0 && by !== undefined) {
        this.#steps.push({ kind: 'rolling-update', name: '', atMs: this.#now });
      }
      const step = isOfRollout ? { step: this.#steps.length - 1 } : {};
      this.#deeds.push({ ...deed, ...step });
    }
  }

  /** Of what was seen before the deeds, as a run writes it. */
  #writeStatus(): void {
    const { daemonSet } = this.cluster;
    const seen = this.#seen ?? this.cluster.view();
    const next = computeStatus(seen, { currentHash: this.#input.hash, observeGeneration: true });
    if (!hasSameStatus(daemonSet.status, next)) {
      this.cluster.daemonSet = { ...daemonSet, status: next };
    }
  }

  /** What brings a look soon after when it changes. */
  #standing(): string {
    return `${this.#opened} ${this.#stages?.gate.kind ?? ''} ${String(this.#state.shrink?.held?.token)}`;
  }

  #context(): Omit<PlanContext, 'mode' | 'staging'> {
    const { hash, requestTimeoutMs, burstPodsMax } = this.#input;
    return {
      guard: { kind: 'act' },
      state: this.#state,
      currentHash: hash,
      intents: NO_INTENTS,
      requestTimeoutMs,
      burstPodsMax,
    };
  }
}

/** Whether the next look finds more to do though nothing happens before. */
function leavesWork({ cappedCount, adopts, releases }: Plan): boolean {
  return cappedCount + adopts.length + releases.length > 0;
}

const OF_ROLLOUT: ReadonlySet<string> = new Set(['outdated', 'replaced']);

function asUpstream(daemonSet: DaemonSetObject): DaemonSetObject {
  const { metadata } = daemonSet;
  const annotations = { ...metadata.annotations, 'rollcall.dev/compat': 'strict' };
  return { ...daemonSet, metadata: { ...metadata, annotations } };
}

/** Requests are answered in the model; a node whose pod is refused stays refused, until an edit raises the generation. */
function withoutRequests(
  state: DaemonSetState,
  { metadata: { generation } }: DaemonSetObject,
): DaemonSetState {
  const { refusals = [], retry: _retry, ...kept } = state;
  const standing = refusals
    .filter((refusal) => refusal.generation === generation)
    .map((refusal) => ({ ...refusal, notBeforeMs: NEVER_MS }));
  return { ...kept, intents: [], ...(standing.length === 0 ? {} : { refusals: standing }) };
}

/** Later than any time that is played. */
const NEVER_MS = 8_640_000_000_000;
