/**
 * One run's way to a cluster: through its circuit breaker, with every answer noted (L3, row 61).
 *
 * A healthy cluster costs nothing here: the breaker comes with META, and is written on changes alone. A
 * run is refused when it asks for the cluster, not before: whatever needs no API server is done all
 * the same. The gate is efficiency only. A breaker that is lost or cannot be written counts as closed,
 * and nothing that is decided behind the gate knows of it (S1–S5 rest on names and preconditions).
 */
import { CLOSED_BREAKER, admitRun, noteFinding } from '../../core/model/breaker.ts';
import type { ClusterBreaker, NotedTrouble } from '../../core/model/breaker.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type {
  ClusterAccess,
  ClusterConnector,
  ConnectRefusal,
} from '../../ports/cluster/cluster-access.ts';
import type { BreakerStore, ViewReader } from '../../ports/stores/view-store.ts';
import { talliedAccess, TalkTally } from './talk-tally.ts';

interface GateDependencies extends ProcessPorts {
  readonly view: BreakerStore & Pick<ViewReader, 'readMeta'>;
}

/** Attempts at telling a finding when others tell theirs; more would only say the same. */
const WRITES_MAX = 3;
/** Keys that wait for one breaker come back over this time, at most. */
const SPREAD_MAX_MS = 10_000;

function troubleOf(refusal: ConnectRefusal): NotedTrouble | undefined {
  if (refusal.kind === 'egress-refused' || refusal.kind === 'no-token') return refusal.kind;
  return refusal.kind === 'unavailable' && refusal.token !== undefined ? 'no-token' : undefined;
}

type Connection = Awaited<ReturnType<ClusterConnector['connect']>>;

/** The gate of one run; it serves all attempts of it. */
export class ClusterGate {
  readonly #dependencies: GateDependencies;
  readonly #tally: TalkTally;
  #meta: ClusterMeta | undefined;
  #breaker: ClusterBreaker = CLOSED_BREAKER;
  #isProbe = false;
  #refusedUntilMs: number | undefined;
  #access: ClusterAccess | undefined;

  constructor(dependencies: GateDependencies) {
    this.#dependencies = dependencies;
    this.#tally = new TalkTally(dependencies.clock);
  }

  /** When to come again, if the breaker refused this run. Spread, so that not all come at once. */
  get refusedUntilMs(): number | undefined {
    return this.#refusedUntilMs;
  }

  /** For how long the API server asked to be left alone, from now on (Retry-After); 0: it did not. */
  get askedMs(): number {
    return this.#tally.askedMs;
  }

  /** How long the API server took to answer this process lately; nothing, if this run had nothing to ask. */
  get answerTimes(): ClusterAccess['answerTimes'] {
    return this.#access?.answerTimes ?? [];
  }

  /** Opens the cluster that META is about, if its breaker admits this run. */
  async connect(
    registration: ClusterRegistration,
    meta: ClusterMeta,
    connector: Pick<ClusterConnector, 'connect'>,
  ): Promise<Connection> {
    // A later attempt of the probe is still the probe.
    if (!this.#isProbe) {
      this.#meta = meta;
      this.#breaker = meta.breaker ?? CLOSED_BREAKER;
      const untilMs = await this.#ask();
      if (untilMs !== undefined) return this.#refuse(untilMs);
    }
    const connection = await this.#tally.measure(
      () => connector.connect(registration),
      (answer) => {
        if (answer.kind === 'connected') return 'neutral';
        const { refusal } = answer;
        const trouble = troubleOf(refusal);
        if (trouble !== undefined) this.#tally.met.add(trouble);
        if (refusal.kind === 'wrong-cluster') return 'answered';
        if (refusal.kind !== 'unavailable') return 'neutral';
        return this.#tally.judgeUnusable(refusal);
      },
    );
    if (connection.kind === 'refused') return connection;
    const { clock } = this.#dependencies;
    const access = talliedAccess(connection.access, { tally: this.#tally, clock });
    this.#access = access;
    return { kind: 'connected', access };
  }

  /** Tells the breaker what this run found out. Once, at its end; never rejects. */
  async settle(): Promise<void> {
    if (this.#meta === undefined) return;
    const { clusterUid } = this.#meta;
    const { view, clock, random, log } = this.#dependencies;
    try {
      for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
        const next = noteFinding(this.#breaker, {
          kind: this.#tally.kind,
          isSlow: this.#tally.isSlow,
          isProbe: this.#isProbe,
          nowMs: clock.nowMs(),
          random: random.next(),
          met: this.#tally.met,
        });
        if (next === undefined) return;
        if ((await view.writeBreaker(clusterUid, next)) === 'written') {
          this.#report(next);
          return;
        }
        // The probe's answer counts for the opening that it was the probe of, and for no other.
        if (this.#isProbe) return;
        this.#breaker = (await view.readMeta(clusterUid))?.breaker ?? CLOSED_BREAKER;
      }
    } catch (error) {
      log.warn('the breaker could not be written', { clusterUid }, error);
    }
  }

  /** Undefined: go on. Otherwise the moment from which it is worth asking again. */
  async #ask(): Promise<number | undefined> {
    const { view, clock, log } = this.#dependencies;
    const admission = admitRun(this.#breaker, clock.nowMs());
    if (admission.kind === 'admitted') return undefined;
    if (admission.kind === 'refused') return admission.untilMs;
    const { next } = admission;
    const clusterUid = this.#meta?.clusterUid;
    if (clusterUid === undefined) return undefined;
    try {
      const written = await view.writeBreaker(clusterUid, next);
      // Another run probes: it will know within a time-out.
      if (written === 'lost') return clock.nowMs() + SPREAD_MAX_MS / 2;
    } catch (error) {
      log.warn('the breaker could not be written', { clusterUid }, error);
      return undefined;
    }
    this.#isProbe = true;
    this.#breaker = { ...next, version: next.version + 1 };
    return undefined;
  }

  #refuse(untilMs: number): Connection {
    const { clock, random, metrics } = this.#dependencies;
    const waitMs = Math.max(0, untilMs - clock.nowMs());
    const spreadMs = Math.min(SPREAD_MAX_MS, Math.max(waitMs, 1_000) / 2) * random.next();
    this.#refusedUntilMs = Math.round(untilMs + spreadMs);
    metrics.count('BreakerRefusals');
    const message = 'the API server did not answer lately; it is left alone for a while';
    return { kind: 'refused', refusal: { kind: 'unavailable', message } };
  }

  #report(next: ClusterBreaker): void {
    const { metrics, log } = this.#dependencies;
    const before = this.#breaker;
    const clusterUid = this.#meta?.clusterUid;
    if (next.open !== undefined && next.openings > before.openings) {
      metrics.count('BreakerChanges', { outcome: 'opened' });
      log.warn('the API server does not answer; it is left alone for a while', { clusterUid });
    }
    if (next.open === undefined && before.open !== undefined) {
      metrics.count('BreakerChanges', { outcome: 'closed' });
      log.warn('the API server answers again', { clusterUid });
    }
  }
}
