/**
 * A cluster as small as the core's promises need it: pods by name, a name fence, UIDs, versions,
 * finalizers, late requests. Drives `planReconcile` the way the shell does: record, send, answer.
 *
 * Not the simulated API server of the shells' tests: no HTTP, no live reads, one DaemonSet. Time is
 * moved by the caller; a request that is "late" starts when its run may just start one, and arrives, or
 * dies, within twice the time-out after that.
 */
import { isResolvedByTime, judgeIntents } from '../../src/core/intents/intents.ts';
import { mergeIntents, stampIntents } from '../../src/core/intents/merge-intents.ts';
import type { IntentAnswer, IntentChange } from '../../src/core/intents/merge-intents.ts';
import { resourceVersion, uid } from '../../src/core/model/identifiers.ts';
import type { ResourceVersion, Uid } from '../../src/core/model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Plan, PlannedCreate, PlannedDelete } from '../../src/core/model/plan.ts';
import type { NodeProjection, PodProjection, Tombstone } from '../../src/core/model/projections.ts';
import type { DaemonSetState, Intent } from '../../src/core/model/state.ts';
import { planReconcile } from '../../src/core/plan/plan.ts';
import { tombstonesOfMissing, keepTombstones } from '../../src/core/pod/tombstones.ts';
import { computeView } from '../../src/core/view/view.ts';
import { CURRENT_HASH, NOW_MS, TIMEOUT_MS, namedPod, state } from './core-fixtures.ts';

/** How long after its intents a run may still start a request: its effect deadline. */
const STARTS_WITHIN_MS = 25_000;

/** What becomes of a request. */
export type Fate = 'answered' | 'answer-lost' | 'late' | 'lost';

interface LateRequest {
  readonly arrivesAtMs: number;
  readonly apply: () => void;
}

/** The cluster, its pods, and the state of the DaemonSet between runs. */
export class FencedCluster {
  nowMs = NOW_MS;
  /** How far the clock of the API server, which says when a pod was made, is ahead. */
  apiAheadMs = 0;
  state: DaemonSetState;
  daemonSet: DaemonSetObject;
  /** Hash of the current revision: what pods are made of. */
  currentHash: string = CURRENT_HASH;
  readonly nodes: NodeProjection[];
  readonly pods = new Map<string, PodProjection>();
  /** Names of pods that a finalizer holds when they are deleted. */
  readonly finalizers = new Set<string>();
  #version = 1000;
  #late: LateRequest[] = [];
  #recorded: readonly Intent[] = [];
  #mustList = false;
  /** Pods that the last view showed, and what each view remembers of those that were gone by then. */
  #shown: readonly PodProjection[] = [];
  #gone: readonly Tombstone[] = [];
  readonly #goneIn = new WeakMap<readonly PodProjection[], readonly Tombstone[]>();

  constructor(daemonSet: DaemonSetObject, nodes: readonly NodeProjection[]) {
    this.daemonSet = daemonSet;
    this.nodes = [...nodes];
    this.state = state({ written: { era: 1 } });
  }

  /** A stable copy of what a watcher would show now. */
  snapshot(): readonly PodProjection[] {
    const pods = [...this.pods.values()];
    const { nowMs } = this;
    const living = new Set<string>(pods.map((pod) => pod.uid));
    this.#gone = keepTombstones([...tombstonesOfMissing(this.#shown, pods, nowMs), ...this.#gone], {
      nowMs,
      isLiving: (each) => living.has(each),
    });
    this.#goneIn.set(pods, this.#gone);
    this.#shown = pods;
    return pods;
  }

  /** Plans on this view, without recording or sending anything. */
  plan(pods: readonly PodProjection[] = this.snapshot()): Plan {
    return this.#judgeAndPlan(pods).plan;
  }

  /** One run: plans on `pods`, records intents, sends, records answers. */
  run(
    options: { readonly pods?: readonly PodProjection[]; readonly fate?: () => Fate } = {},
  ): Plan {
    const seen = options.pods ?? this.snapshot();
    const judged = this.#judgeAndPlan(seen);
    const { settled } = judged;
    const plan = this.#confirmed(judged.plan, settled, seen);
    const startsByMs = this.nowMs + STARTS_WITHIN_MS;
    const fresh: Intent[] = [
      ...plan.creates.map(({ node, name }): Intent => {
        return { kind: 'create', node, name, recordedAtMs: this.nowMs, startsByMs };
      }),
      ...plan.deletes.map(({ name, uid: victim, resourceVersion: version }): Intent => {
        const base = { kind: 'delete', name, uid: victim, resourceVersion: version } as const;
        return { ...base, recordedAtMs: this.nowMs, startsByMs, isAccepted: false };
      }),
    ];
    const record = stampIntents(this.state.intents, fresh);
    this.#recorded = record;
    const intents = mergeIntents(this.state.intents, { record, settle: settled });
    this.state = { ...this.state, intents, backoff: plan.backoff };
    const fate = options.fate ?? ((): Fate => 'answered');
    const heard = [
      ...plan.creates
        .filter((create) => this.#isConfirmed(create))
        .map((create) => this.#send(fate(), () => this.#create(create))),
      ...plan.deletes.map((each) => this.#send(fate(), () => this.#delete(each))),
    ];
    this.state = { ...this.state, intents: heard.reduce(mergeIntents, this.state.intents) };
    return plan;
  }

  /** Moves time; late requests arrive on the way. */
  advance(ms: number): void {
    this.nowMs += ms;
    const due = this.#late.filter(({ arrivesAtMs }) => arrivesAtMs <= this.nowMs);
    this.#late = this.#late.filter(({ arrivesAtMs }) => arrivesAtMs > this.nowMs);
    for (const request of due) request.apply();
  }

  /** Changes a pod under a new version, as kubelet, user or finalizer would. */
  update(name: string, change: Partial<PodProjection>): void {
    const pod = this.pods.get(name);
    if (pod === undefined) return;
    this.pods.set(name, { ...pod, ...change, resourceVersion: this.#nextVersion() });
  }

  /** Deletes a pod for good, or only marks it while a finalizer holds it or a kubelet must stop it. */
  remove(name: string, isGraceful = false): void {
    const pod = this.pods.get(name);
    if (pod === undefined) return;
    if (this.finalizers.has(name) || isGraceful) this.update(name, { isTerminating: true });
    else this.pods.delete(name);
  }

  #judgeAndPlan(pods: readonly PodProjection[]): {
    readonly plan: Plan;
    readonly settled: readonly Intent[];
  } {
    // How far the view was read is not known, so that identity alone settles intents.
    const at = { era: 1, nowMs: this.nowMs, requestTimeoutMs: TIMEOUT_MS };
    const intents = judgeIntents({ state: this.state, pods, marks: {}, ...at });
    const view = computeView({
      daemonSet: this.daemonSet,
      nodes: this.nodes,
      pods,
      gone: this.#goneIn.get(pods) ?? [],
      revisions: [],
      nowMs: this.nowMs,
    });
    const plan = planReconcile(view, {
      guard: { kind: 'act' },
      state: this.state,
      currentHash: this.currentHash,
      intents,
      requestTimeoutMs: TIMEOUT_MS,
      burstPodsMax: 250,
    });
    return { plan, settled: intents.settled };
  }

  /** The live list after a create that only time resolved: nothing is made beside what the view does not know. */
  #confirmed(plan: Plan, settled: readonly Intent[], seen: readonly PodProjection[]): Plan {
    if (settled.some(isResolvedByTime)) this.#mustList = true;
    if (!this.#mustList || plan.creates.length === 0) return plan;
    const known = new Set<string>(seen.map((pod) => pod.uid));
    for (const intent of this.state.intents) {
      const made = intent.kind === 'create' ? intent.answer?.uid : undefined;
      if (made !== undefined && !settled.includes(intent)) known.add(made);
    }
    this.#mustList = [...this.pods.values()].some((pod) => !known.has(pod.uid));
    return this.#mustList ? { ...plan, creates: [] } : plan;
  }

  /** The live read before a create under a successor name. */
  #isConfirmed({ predecessor }: PlannedCreate): boolean {
    if (predecessor === undefined) return true;
    return this.pods.get(predecessor.name)?.uid === predecessor.uid;
  }

  /** What a run hears of a request; nothing, where it may be on its way. */
  #send(fate: Fate, apply: () => IntentChange): IntentChange {
    if (fate === 'answered') return apply();
    if (fate === 'answer-lost') apply();
    if (fate === 'late') {
      const arrivesAtMs = this.nowMs + STARTS_WITHIN_MS + 2 * TIMEOUT_MS - 1;
      this.#late.push({ arrivesAtMs, apply: () => void apply() });
    }
    return {};
  }

  #create(create: PlannedCreate): IntentChange {
    const { name } = create;
    const taken = this.pods.get(name);
    if (taken !== undefined) return this.#refuse(create, taken);
    const version = this.#nextVersion();
    const { labels } = create.body['metadata'] as { readonly labels: PodProjection['labels'] };
    const made = namedPod(create.node, name, {
      uid: uid(`pod-${version}`),
      resourceVersion: version,
      createdAtMs: this.nowMs + this.apiAheadMs,
      labels,
    });
    this.pods.set(name, made);
    return { answers: [this.#answer(name, made.uid, version)] };
  }

  #answer(name: string, made: Uid, version: ResourceVersion): IntentAnswer {
    const intent = this.#recorded.find((each) => each.kind === 'create' && each.name === name);
    const recordedAtMs = intent?.recordedAtMs ?? this.nowMs;
    return { kind: 'created', name, recordedAtMs, uid: made, resourceVersion: version };
  }

  /** AlreadyExists: ours and alive is an answer; anything else resolves this request (faults 88). */
  #refuse(create: PlannedCreate, taken: PodProjection): IntentChange {
    const { name } = create;
    if (taken.phase !== 'Failed' && !taken.isTerminating) {
      const { uid: found, resourceVersion: version } = taken;
      return { answers: [this.#answer(name, found, version)] };
    }
    const settle = this.#recorded.filter(
      (intent) => intent.kind === 'create' && intent.name === name,
    );
    return { settle };
  }

  #delete(planned: PlannedDelete): IntentChange {
    const pod = this.pods.get(planned.name);
    const isVictim = pod?.uid === planned.uid && pod.resourceVersion === planned.resourceVersion;
    if (!isVictim) return {};
    this.remove(planned.name);
    return { answers: [{ kind: 'deleted', uid: planned.uid }] };
  }

  #nextVersion(): ResourceVersion {
    this.#version += 1;
    return resourceVersion(String(this.#version));
  }
}
