/**
 * A deterministic world: one cluster, its watchers, the queues, the functions, on virtual time.
 *
 *   API server ─▶ watcher ─▶ events.fifo ─▶ ingest ─▶ view ─▶ hints ─▶ reconcile ─▶ API server
 *
 * Watcher and functions are the real code; every port is simulated, and nothing but the seed and the
 * virtual clock decides what happens when. The observer stands outside of all faults. `settle` waits
 * until the cluster is as it should be, then demands a window without writes (L1).
 */
import { createHash } from 'node:crypto';
import assert from 'node:assert/strict';
import { CONFIRM_ANNOTATION } from '../../../src/core/removal-guard/removal-rules.ts';
import { clusterUid, uid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { HINT_SCHEMA, type Hint } from '../../../src/core/model/hint.ts';
import type { ClusterMeta } from '../../../src/core/model/view-items.ts';
import { encodeHint } from '../../../src/adapters/sqs/schema/hint-codec.ts';
import type { IngestOptions } from '../../../src/app/ingest/process/dependencies.ts';
import type { ReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { WatcherOptions } from '../../../src/watcher/session/options.ts';
import { MemoryFreezeStore } from '../memory-freeze-store.ts';
import { MemoryMetrics } from '../memory-metrics.ts';
import { MemoryRegistryStore } from '../memory-registry-store.ts';
import { MemoryViewStore } from '../memory-view-store.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { FunctionHost } from './function-host.ts';
import type { RecordFate, SimulatedMapping } from './mapping.ts';
import { createMappings } from './mappings.ts';
import { rawDaemonSet, rawNode, type RawDaemonSetOptions, type RawNodeOptions } from './objects.ts';
import { Observer } from './observer.ts';
import { CLUSTER, SENDER, registrationOf } from './registration.ts';
import { lastAvailabilityMs } from './last-availability.ts';
import { order } from './operator.ts';
import { differences, isRolledInCopilot } from './oracle.ts';
import { ProcessClock } from './process-clock.ts';
import { CoverageAudit, watchCoverage } from './coverage-audit.ts';
import { PromiseBroken, ruleOf } from './promise-broken.ts';
import { QUIET_STRETCH_MS, StabilityAudit } from './stability-audit.ts';
import { SimulatedQueues, deliveryOf, type QueueName } from './queues.ts';
import { textOfError } from './secret-audit.ts';
import { Site, observedConnector } from './site.ts';
import { policyOf } from './staged-pods.ts';
import { startWatcherProcess, type WatcherProcess } from './watcher-process.ts';

/** What follows a known moment (its timer, the status) is over by then. */
const MOMENT_GRACE_MS = 10_000;

/** How a world begins. */
export interface WorldOptions {
  readonly seed?: number;
  readonly nodes?: readonly string[];
  readonly reconcile?: Partial<ReconcileOptions>;
  readonly ingest?: Partial<IngestOptions>;
  readonly watcher?: Partial<WatcherOptions>;
  /** How far the wall clocks are off, in milliseconds. */
  readonly skewMs?: {
    readonly api?: number;
    readonly functions?: number;
    readonly watcher?: number;
  };
  /** Another observer than the ordinary one. */
  readonly observer?: Observer;
}

const RESYNC_MS = 60_000;
const QUIET_WINDOW_MS = 180_000;
const FOR_ANOTHER_TIME =
  /injected|lost \d+ compare-and-sets|did not finish in time|no time left for this record|batch took too long before it/;

/** The world. */
export class World {
  readonly clock = new VirtualClock();
  readonly random: Random;
  readonly observer: Observer;
  readonly stability = new StabilityAudit(this.clock, (text) => {
    this.observer.report(text);
  });
  readonly view = new MemoryViewStore();
  readonly registry = new MemoryRegistryStore();
  readonly freezes = new MemoryFreezeStore();
  readonly functionClock: ProcessClock;
  readonly apiClock: ProcessClock;
  readonly queues: SimulatedQueues;
  readonly host: FunctionHost;
  readonly watchers: WatcherProcess[] = [];
  readonly watcherMetrics = new MemoryMetrics();
  readonly trace: string[] = [];
  site: Site;
  /** Of the present site; checks S20. */
  coverage: CoverageAudit;
  /** Delay of deliveries, and fate of records. */
  deliveryDelayMs: (queue: QueueName) => number = () => 1;
  fate: (queue: QueueName) => RecordFate = () => 'deliver';
  /** How late a copy of a message may be. */
  copyMsMax = 60_000;
  /** When a tick of resync's schedule arrives, each in milliseconds from when it was due. */
  tickOfResync: () => readonly number[] = () => [0];
  readonly #options: WorldOptions;
  readonly #mappings: ReadonlyMap<QueueName, SimulatedMapping>;
  #lastActivityMs = 0;
  /** Changes of the registration, one after the other. */
  #configured = Promise.resolve();

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.observer = options.observer ?? new Observer();
    this.random = seededRandom(options.seed ?? 1);
    this.observer.onRequest = ({ name }) => {
      this.stability.noteRequest(name);
    };
    this.observer.onAsked = (run, retryAfterMs) => {
      this.stability.noteAsked(run, retryAfterMs);
    };
    this.observer.onViolation = (text) => {
      this.note(`BROKEN ${text}`);
    };
    this.functionClock = new ProcessClock(this.clock, options.skewMs?.functions);
    this.apiClock = new ProcessClock(this.clock, options.skewMs?.api);
    this.queues = new SimulatedQueues(this.clock, (queue, body) => {
      this.observer.secrets.check(`a message on ${queue}`, body);
      this.#mappings.get(queue)?.poke();
    });
    this.queues.onResent = (id) => {
      this.observer.report(`L5: message ${id}, which was refused for good, is sent again`);
    };
    this.queues.onTimer = ({ hint, dueAtMs, hops }) => {
      if (hops === 0) this.stability.noteTimer(hint.key, dueAtMs);
    };
    const burstPodsMax = options.reconcile?.burstPodsMax ?? 250;
    const { observer, clock } = this;
    this.host = new FunctionHost({
      clock: this.functionClock,
      random: this.random,
      registry: this.registry,
      freezes: this.freezes,
      view: watchCoverage(this.observer.watchView(this.view, this.clock), () => this.coverage),
      hintQueue: (clock) => this.queues.hintQueue(clock),
      receipts: this.queues.hintReceipts(),
      connector: (key, noted) =>
        observedConnector({
          clock,
          observer,
          sender: { key, burstPodsMax, ...(noted === undefined ? {} : { noted }) },
          siteOf: () => this.site,
        }),
      ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile }),
      ...(options.ingest === undefined ? {} : { ingest: options.ingest }),
      onRun: (name, reason) => {
        this.stability.noteRun(name, reason);
      },
      note: (text) => {
        this.note(text);
        if (!text.endsWith('skipped')) this.#lastActivityMs = this.clock.monotonicMs();
      },
    });
    this.#mappings = createMappings({
      host: this.host,
      queues: this.queues,
      clock: this.clock,
      delayMs: (queue) => this.deliveryDelayMs(queue),
      copyDelayMs: () => 1000 + this.random.next() * this.copyMsMax,
      fate: (queue) => this.fate(queue),
    });
    this.site = this.#newSite('uid-of-kube-system');
    this.coverage = this.#newCoverageAudit();
    this.observer.areClocksTrue = () =>
      this.functionClock.skewMs === 0 && this.apiClock.skewMs === 0;
    this.register();
    for (const name of options.nodes ?? []) this.addNode(name);
    this.#scheduleResync();
  }

  /** A world whose watcher runs and has closed its first snapshot. */
  static async start(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    world.startWatcher();
    await world.advance(2000);
    return world;
  }

  get api(): Site['api'] {
    return this.site.api;
  }

  get controllers(): Site['controllers'] {
    return this.site.controllers;
  }

  /** Adds a line to the trace. */
  note(text: string): void {
    this.trace.push(`${this.clock.monotonicMs()} ${text}`);
  }

  /** The same schedule gives the same hash (M2). */
  traceHash(): string {
    return createHash('sha256').update(this.trace.join('\n')).digest('hex');
  }

  /** Registers the present cluster under its name. */
  register(changes: Partial<ClusterRegistration> = {}): void {
    const registration = { ...registrationOf(this.api.clusterUid), ...changes };
    this.registry.seed(registration);
    this.site.copilot.noteMode(registration.mode);
  }

  /** The registration as it stands, past all faults. */
  registration(): Promise<ClusterRegistration | undefined> {
    const { hooks } = this.registry;
    this.registry.hooks = {};
    const stored = this.registry.readCluster(CLUSTER);
    this.registry.hooks = hooks;
    return stored;
  }

  /** Changes the registration as an operator does: its configuration version grows. */
  reconfigure(changes: Partial<ClusterRegistration>): Promise<void> {
    this.#configured = this.#configured.then(async () => {
      const stored = await this.registration();
      if (stored === undefined) return;
      this.register({ ...stored, ...changes, configVersion: stored.configVersion + 1 });
    });
    return this.#configured;
  }

  /** Another cluster stands at the endpoint from now on; the registration stays as it is. */
  rebuildCluster(uid: string): void {
    this.site = this.#newSite(uid);
    this.coverage = this.#newCoverageAudit();
  }

  addNode(name: string, options: RawNodeOptions = {}): void {
    this.api.put('nodes', rawNode(name, options));
  }

  addDaemonSet(name: string, options: RawDaemonSetOptions = {}): string {
    return this.api.createDaemonSet(rawDaemonSet(name, options)).metadata.uid;
  }

  /** Starts a watcher process; several may run at once. */
  startWatcher(): WatcherProcess {
    const process = startWatcherProcess({
      cluster: CLUSTER,
      senderId: `${SENDER}:session`,
      api: this.api,
      queues: this.queues,
      clock: this.clock,
      random: this.random,
      metrics: this.watcherMetrics,
      skewMs: this.#options.skewMs?.watcher ?? 0,
      ...(this.#options.watcher === undefined ? {} : { options: this.#options.watcher }),
    });
    this.watchers.push(process);
    return process;
  }

  /** Stops a watcher process as a kill does: it says goodbye to nobody. */
  stopWatcher(process: WatcherProcess): void {
    this.watchers.splice(this.watchers.indexOf(process), 1);
    void process.watcher.stop();
  }

  /** Virtual time passes. */
  advance(byMs: number): Promise<void> {
    return this.clock.advance(byMs);
  }

  /** Sends a hint as an operator does. */
  hint(name: string): void {
    this.queues.sendHint(this.#manualHint(name), `manual/${this.random.uniqueId()}`);
  }

  /** Invokes `reconcile` at once, beside whatever the queue does. */
  reconcileNow(name: string): Promise<unknown> {
    return this.host.reconcile([deliveryOf(encodeHint(this.#manualHint(name)))]);
  }

  /** META of the present cluster; fails when there is none. */
  async meta(): Promise<ClusterMeta> {
    const meta = await this.view.readMeta(this.api.clusterUid);
    assert.ok(meta !== undefined, 'there is no META');
    return meta;
  }

  /** The mapping of a queue: paused ones deliver nothing. */
  mapping(queue: QueueName): SimulatedMapping {
    const mapping = this.#mappings.get(queue);
    assert.ok(mapping !== undefined, `no mapping of ${queue}`);
    return mapping;
  }

  /** Lets a paused queue deliver again. */
  resume(queue: QueueName): void {
    this.mapping(queue).isPaused = false;
    this.mapping(queue).poke();
  }

  /**
   * Waits until every pod is as it should be; fails after `withinMs`, or once the last pod that was ready by then is
   * available: by a clock that was set back that is minutes later, and no status can say so before.
   */
  async converge(withinMs = 20 * 60_000): Promise<void> {
    let untilMs = this.clock.monotonicMs() + withinMs;
    let isPutOff = false;
    while (!(await this.#isCalm(5000)) || this.#differences().length > 0) {
      await this.#confirmShrinks();
      await this.#resumeRollouts();
      const availableInMs = this.#availableInMs();
      if (this.clock.monotonicMs() < untilMs) await this.clock.advance(500);
      else if (isPutOff || availableInMs <= 0) {
        const found = this.#differences().join('; ') || 'something is still going on';
        throw new PromiseBroken('L1', `not settled: ${found}`, this.trace.slice(-40));
      } else {
        isPutOff = true;
        untilMs += availableInMs + MOMENT_GRACE_MS;
      }
    }
    this.assertSafe();
  }

  /** Somebody has looked, and wants what nodes and DaemonSets say by now: each held shrink is confirmed (ADR 0057). */
  async #confirmShrinks(): Promise<void> {
    for (const { metadata } of this.api.list('daemonsets')) {
      const ref = { clusterUid: this.api.clusterUid, uid: uid(metadata.uid) };
      const token = (await this.#pastFaults(() => this.view.readState(ref)))?.shrink?.held?.token;
      const { annotations = {}, namespace = '', name } = metadata;
      if (token === undefined || annotations[CONFIRM_ANNOTATION] === token) continue;
      this.api.change('daemonsets', { namespace, name }, (set) => ({
        ...set,
        metadata: {
          ...set.metadata,
          annotations: { ...annotations, [CONFIRM_ANNOTATION]: token },
        },
      }));
    }
  }

  /** Somebody has looked, and takes up each rollout that was halted. */
  async #resumeRollouts(): Promise<void> {
    for (const { metadata } of this.api.list('daemonsets')) {
      const ref = { clusterUid: this.api.clusterUid, uid: uid(metadata.uid) };
      const rollout = (await this.#pastFaults(() => this.view.readState(ref)))?.rollout;
      // Whoever rolls it out agrees to each step that waits; one that waits for nobody is refused.
      const isAsked = (policyOf({ metadata })?.approval ?? 'none') !== 'none';
      if (isAsked) void order(this, metadata.name, 'approve');
      const isHeld = rollout?.breach !== undefined || rollout?.orders.paused !== undefined;
      if (!isHeld) continue;
      this.site.noteResume(metadata.uid);
      // Not awaited: it is this loop that moves the clock.
      void order(this, metadata.name, 'resume');
    }
  }

  /** Where every pod is of a revision that still soaks, its copy is written once that is over (ADR 0063). */
  #soakLeftMs(): number {
    const soaks = this.api.list('daemonsets').map((set) => {
      const record = this.view.peekState(this.api.clusterUid, set.metadata.uid)?.rollout;
      const isOver = record === undefined || record.proven?.hash === record.hash;
      return isOver ? 0 : (policyOf(set)?.soakMs ?? 0);
    });
    return Math.max(0, ...soaks);
  }

  #pastFaults<T>(read: () => Promise<T>): Promise<T> {
    const { hooks } = this.view;
    this.view.hooks = {};
    const answer = read();
    this.view.hooks = hooks;
    return answer;
  }

  /** Milliseconds until every pod that is ready is available by the functions' clock; zero or less: they are. */
  #availableInMs(): number {
    return lastAvailabilityMs(this.api) - this.functionClock.nowMs();
  }

  /** Converges, then demands a quiet window without a single write, and that all stays exact (L1). */
  async settle(withinMs?: number): Promise<void> {
    await this.converge(withinMs);
    // What was due shortly after (a timer, a heartbeat, a send after the longest back-off) may still correct a status.
    await this.clock.advance(60_000 + this.#soakLeftMs());
    const from = { writes: this.observer.writes, lines: this.trace.length };
    await this.clock.advance(QUIET_WINDOW_MS);
    const lines = this.trace.slice(from.lines);
    if (this.observer.writes !== from.writes) {
      throw new PromiseBroken('L1', 'writes in the quiet window', lines);
    }
    const [left] = this.#differences();
    if (left !== undefined) {
      throw new PromiseBroken('L1', `not exact after the quiet window: ${left}`, lines);
    }
    this.observer.logs.judge(this.view.dump());
    this.coverage.judge(this.view.dump());
    this.site.startUps.judgeEnd();
    this.assertSafe();
  }

  /** After it has settled: ten minutes in which nothing happens, and no key may be looked at for nothing (L5). */
  async rest(): Promise<void> {
    // By a clock that was set back pods may yet become available, one by one: each is a status that is due.
    const dueInMs = this.#availableInMs();
    if (dueInMs > 0) await this.clock.advance(dueInMs + MOMENT_GRACE_MS);
    const from = { counts: this.stability.counts, lines: this.trace.length };
    await this.clock.advance(QUIET_STRETCH_MS);
    const { visible, inFlight, delayed } = this.queues
      .named('delay')
      .queue.counts(this.clock.nowMs());
    const [unrest] = this.stability.findUnrest(from.counts, visible + inFlight + delayed);
    if (unrest === undefined) return;
    const lines = this.trace.slice(from.lines);
    throw new PromiseBroken('L5', `${unrest} while nothing happened`, lines.slice(-40));
  }

  /** Every promise held so far, and no handler failed for a reason of its own. */
  assertSafe(): void {
    const tail = this.trace.slice(-60);
    this.site.copies.check();
    this.observer.secrets.checkLines(this.host.log.lines);
    this.observer.secrets.check('a refusal', [...this.registry.refusals.values()]);
    this.observer.secrets.check('a metric', this.host.metrics.names);
    const [violation] = this.observer.violations;
    if (violation !== undefined) {
      throw new PromiseBroken(ruleOf(violation), violation.replace(/^[SLM]\d+: /, ''), tail);
    }
    const logged = this.host.lines('error').map(({ cause, message }) => cause ?? message);
    const causes = [...this.host.failures, ...logged].map(textOfError);
    // A late writer that loses every compare-and-set gives its record back, and so does who has no time: it comes again.
    const own = causes.filter((cause) => !FOR_ANOTHER_TIME.test(cause));
    const [failure] = own;
    if (failure !== undefined) throw new PromiseBroken('bug', `a handler failed: ${failure}`, tail);
    if (this.watcherMetrics.sum('WatcherBugs') > 0) {
      throw new PromiseBroken('bug', 'a watcher failed', tail);
    }
  }

  #manualHint(name: string): Hint {
    const key = { cluster: CLUSTER, namespace: 'ns', name };
    return { schema: HINT_SCHEMA, key, clusterUid: this.api.clusterUid, reason: 'manual' };
  }

  async #isCalm(forMs: number): Promise<boolean> {
    const isBusy = [...this.#mappings.values()].some((mapping) => mapping.isBusy);
    if (isBusy || this.clock.monotonicMs() - this.#lastActivityMs < forMs) return false;
    return (await this.view.readMeta(this.api.clusterUid))?.isComplete === true;
  }

  #isStalled(): boolean {
    return [...this.#mappings.values()].some(({ isPaused }) => isPaused);
  }

  #differences(): readonly string[] {
    if (this.site.builtIn !== undefined) return differences(this.api, isRolledInCopilot);
    return differences(this.api);
  }

  #newCoverageAudit(): CoverageAudit {
    const isClockTrue = (): boolean => this.functionClock.skewMs === 0;
    return new CoverageAudit(this.site.api, { clock: this.clock, isClockTrue }, (text) => {
      this.observer.report(text);
    });
  }

  #newSite(uid: string): Site {
    const site = new Site(clusterUid(uid), {
      clock: this.apiClock,
      observer: this.observer,
      onCommit: (commit) => {
        if (commit === undefined) {
          this.note('etcd restored');
          return;
        }
        const { kind, type, object, version } = commit;
        this.note(`${version} ${type} ${kind} ${object.metadata.name}`);
        if (kind !== 'leases') this.#lastActivityMs = this.clock.monotonicMs();
      },
    });
    site.stages.functionSkewMs = () => this.functionClock.skewMs;
    site.stages.halts.recordOf = (owner) =>
      this.view.peekState(site.api.clusterUid, owner)?.rollout;
    site.copies.recordOf = site.stages.halts.recordOf;
    site.copies.isHeard = () => this.queues.way === 'open' && !this.#isStalled();
    return site;
  }

  #scheduleResync(): void {
    this.clock.after(RESYNC_MS, () => {
      for (const lateMs of this.tickOfResync()) {
        if (lateMs === 0) void this.host.resync();
        else this.clock.after(lateMs, () => void this.host.resync());
      }
      this.#scheduleResync();
    });
  }
}
