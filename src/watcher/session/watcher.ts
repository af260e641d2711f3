/**
 * The watcher: one epoch after the other, until it is stopped (design 2).
 *
 *   cluster identity ─▶ take the Lease: an epoch ─▶ session ┬─ restored, missing, refused, bug ─▶ again
 *                            ▲                              └─ lost: stand by until it is vacant ──┘
 *
 * Everything it touches is a port, and it holds no truth. After `stop` nothing of it is left running, except requests
 * that cannot be cancelled, whose answers are dropped.
 */
import { epoch, incarnation } from '../../core/model/identifiers.ts';
import type { ClusterId, ClusterUid, Epoch, Incarnation } from '../../core/model/identifiers.ts';
import type { AnnouncementBody } from '../../core/model/watcher-message.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { defined } from '@rollcall/base/defined.ts';
import { createBackoff, untilAborted } from '@rollcall/base/wait.ts';
import { createInterner } from '../project/projection.ts';
import { LeaseKeeper, type TakenLease } from '../lease/lease.ts';
import type { LeaseFacts } from '../lease/lease-object.ts';
import { MessageSize } from '../project/message-size.ts';
import {
  DEFAULT_WATCHER_OPTIONS,
  type WatcherOptions,
  announcement,
  type ProcessMemory,
  type SessionDependencies,
  type SessionEnd,
  type SessionStatus,
} from './options.ts';
import { Session } from './session.ts';
import { Sender } from '../outbox/sender.ts';

interface WatcherDependencies extends Omit<SessionDependencies, 'options' | 'memory'> {
  /** The name under which its messages are sent; it must be the registered one. */
  readonly cluster: ClusterId;
  /** Bounds that differ from {@link DEFAULT_WATCHER_OPTIONS}. */
  readonly options?: Partial<WatcherOptions>;
}

/** The phase of a watcher. `standby`: another watcher holds the Lease. */
export interface WatcherStatus {
  readonly state: 'stopped' | 'starting' | 'standby' | 'running';
  readonly clusterUid?: ClusterUid;
  readonly epoch?: Epoch;
  readonly incarnation?: Incarnation;
  /** In standby: the Lease of another installation that it waits for. */
  readonly heldElsewhere?: LeaseFacts;
  readonly session?: SessionStatus;
}

/** A watcher of one cluster. */
export interface Watcher {
  /** Begins to watch; resolves at once, whatever is reachable. Throws if it was started before. */
  start(): Promise<void>;
  /** Stops promptly; nothing more is sent or written. */
  stop(): Promise<void>;
  /** Stops promptly, then gives the Lease back, if it has it and the API server answers soon. */
  retire(): Promise<void>;
  status(): WatcherStatus;
}

/** How long giving back the Lease may take; a pod that stops has a few seconds more (infra/watcher). */
export const RELEASE_MS = 5000;

/** Creates a watcher that is not started. */
export function createWatcher(dependencies: WatcherDependencies): Watcher {
  const loop = new WatcherLoop(dependencies);
  let running: Promise<void> | undefined;
  return {
    start: async () => {
      if (running !== undefined) throw new Error('the watcher was started before');
      running = loop.run();
      await Promise.resolve();
    },
    stop: async () => {
      loop.abort();
      await running;
    },
    retire: async () => {
      loop.abort();
      await running;
      await loop.release();
    },
    status: () => loop.status(),
  };
}

class WatcherLoop {
  readonly #on: WatcherDependencies;
  readonly #options: WatcherOptions;
  readonly #abort = new AbortController();
  readonly #log: Log;
  readonly #lease: LeaseKeeper;
  readonly #memory: ProcessMemory;
  readonly #notice: StandByNotice;
  #status: Omit<WatcherStatus, 'session'> = { state: 'stopped' };
  #session: Session | undefined;
  #taken: TakenLease | undefined;

  constructor(dependencies: WatcherDependencies) {
    this.#on = dependencies;
    this.#options = { ...DEFAULT_WATCHER_OPTIONS, ...dependencies.options };
    this.#log = dependencies.log.with({ cluster: dependencies.cluster });
    this.#lease = new LeaseKeeper({
      ...dependencies,
      log: this.#log,
      options: this.#options.lease,
      onWaiting: (facts, holder) => {
        this.#standBy(facts, holder);
      },
    });
    this.#memory = {
      size: new MessageSize(this.#options.messageBytesMax),
      unsendable: new Map(),
      interner: createInterner(),
      sliceCount: 1,
    };
    const [log, options, memory] = [this.#log, this.#options, this.#memory];
    this.#notice = new StandByNotice({ ...dependencies, log, options, memory });
  }

  abort(): void {
    this.#abort.abort();
    this.#notice.over();
    this.#session?.finish('stopped');
  }

  /** After its end: gives back the Lease that was taken last, if it is still held. */
  async release(): Promise<void> {
    if (this.#taken === undefined) return;
    const limit = new AbortController();
    const cancel = this.#on.clock.after(RELEASE_MS, () => {
      limit.abort();
    });
    const isReleased = await this.#lease.release(this.#taken, limit.signal);
    cancel();
    if (isReleased) this.#log.info('gave the lease back', { epoch: this.#taken.epoch });
  }

  status(): WatcherStatus {
    const session = this.#session?.status();
    return { ...this.#status, ...(session === undefined ? {} : { session }) };
  }

  async run(): Promise<void> {
    const { clock, random, metrics } = this.#on;
    const { epochBackoffBaseMs: baseMs, epochBackoffCapMs: capMs } = this.#options;
    const backoff = createBackoff(random, { baseMs, capMs });
    const { signal } = this.#abort;
    let reason: AnnouncementBody['reason'] = 'start';
    while (!signal.aborted) {
      this.#status = { state: 'starting' };
      const startedMs = clock.monotonicMs();
      const end = await this.#epoch(reason).catch((cause: unknown): SessionEnd => {
        metrics.count('WatcherBugs', { outcome: 'epoch' });
        this.#log.error('the epoch failed and a new one begins', {}, cause);
        return 'failed';
      });
      if (signal.aborted) break;
      metrics.count('WatcherEpochEnds', { outcome: end });
      this.#log.warn('the epoch is over', { end });
      reason = reasonAfter(end);
      // An epoch that lasted did not end because of how it began.
      if (clock.monotonicMs() - startedMs > capMs) backoff.reset();
      const isCalm = end === 'restored' || end === 'lost';
      if (!isCalm) await clock.sleep(backoff.nextMs(), signal);
    }
    this.#status = { state: 'stopped' };
  }

  async #epoch(reason: AnnouncementBody['reason']): Promise<SessionEnd> {
    const { signal } = this.#abort;
    const clusterUid = await this.#readClusterUid();
    if (clusterUid === undefined) return 'stopped';
    const state = this.#options.lease.start === 'stand-by' ? 'standby' : 'starting';
    this.#status = { state, clusterUid };
    const taken = await this.#lease.take(signal);
    if (taken === undefined) return 'stopped';
    this.#taken = taken;
    this.#notice.over();
    const { epoch, incarnation, requestId } = taken;
    const header = { cluster: this.#on.cluster, clusterUid, epoch, incarnation };
    const log = this.#log.with({ epoch, incarnation });
    const options = this.#options;
    const session = new Session(
      { ...this.#on, log, options, memory: this.#memory },
      { header, reason, requestId },
    );
    this.#session = session;
    this.#status = { state: 'running', clusterUid, epoch, incarnation };
    const [end] = await Promise.all([session.run(), this.#holdLease(taken, session)]);
    this.#session = undefined;
    if (end === 'lost' && !signal.aborted) {
      this.#status = { state: 'standby', clusterUid };
      this.#log.warn('another watcher took the lease; standing by until it is gone');
      await this.#lease.awaitVacancy(taken, signal);
    }
    return end;
  }

  /** While another installation holds the Lease, who asks is told, and the own stack. */
  #standBy(facts: LeaseFacts, holder: 'own-installation' | 'another'): void {
    const { clusterUid } = this.#status;
    if (clusterUid === undefined) return;
    if (holder === 'own-installation') {
      this.#status = { state: 'standby', clusterUid };
      this.#notice.over();
      return;
    }
    this.#status = { state: 'standby', clusterUid, heldElsewhere: facts };
    if (!this.#notice.tell(facts, { cluster: this.#on.cluster, clusterUid })) return;
    this.#log.warn('another installation holds the lease; standing by until it is gone', {
      ...defined({ installation: facts.installation, since: facts.acquiredAt }),
      incarnation: facts.holder,
    });
  }

  /** Holds the Lease for as long as the session lasts, and ends the session when it is lost. */
  async #holdLease(taken: TakenLease, session: Session): Promise<void> {
    try {
      const end = await this.#lease.hold(taken, {
        signal: session.signal,
        onRequest: (requestId) => {
          session.requestSnapshot(requestId);
        },
      });
      session.finish(end);
    } catch (cause) {
      this.#log.error('holding the lease failed', {}, cause);
      session.finish('failed');
    }
  }

  async #readClusterUid(): Promise<ClusterUid | undefined> {
    const { source, clock, random } = this.#on;
    const { signal } = this.#abort;
    const { backoffBaseMs: baseMs, backoffCapMs: capMs } = this.#options.lease;
    const backoff = createBackoff(random, { baseMs, capMs });
    while (!signal.aborted) {
      const answer = await untilAborted(source.getClusterUid(), signal);
      if (answer === 'aborted') return undefined;
      if (answer.kind === 'ok') return answer.value;
      const { kind: failure, message, retryAfterMs } = answer.failure;
      this.#log.warn('the cluster cannot be identified yet', { failure, reason: message });
      await clock.sleep(backoff.nextMs(retryAfterMs), signal);
    }
    return undefined;
  }
}

function reasonAfter(end: SessionEnd): AnnouncementBody['reason'] {
  if (end === 'restored') return 'restored';
  return end === 'refused' ? 'refused-body' : 'start';
}

type NoticeDependencies = Omit<SessionDependencies, 'source'>;

/**
 * Tells the own stack that this watcher stands by, as another installation holds the Lease (ADR 0024): once for each holder, until
 * the queue has it or the standing by is over. It is an announcement that no snapshot follows: the view is incomplete from then on, so
 * no run acts on a view without a watcher. Its epoch is the version of the Lease as it was read: above every epoch of this stack, below
 * the one that takes it back.
 */
class StandByNotice {
  readonly #on: NoticeDependencies;
  #toldOf: string | undefined;
  #sending = new AbortController();

  constructor(dependencies: NoticeDependencies) {
    this.#on = dependencies;
  }

  /** True if it is told now for the first time. */
  tell(
    { installation, version }: Pick<LeaseFacts, 'installation' | 'version'>,
    of: { readonly cluster: ClusterId; readonly clusterUid: ClusterUid },
  ): boolean {
    if (installation === undefined || version === undefined) return false;
    if (installation === this.#toldOf) return false;
    this.over();
    this.#toldOf = installation;
    const { random, options, memory } = this.#on;
    const { sendBackoffBaseMs: backoffBaseMs, sendBackoffCapMs: backoffCapMs } = options;
    const header = { ...of, epoch: epoch(version), incarnation: incarnation(random.uniqueId()) };
    const sending = { ...this.#on, backoffBaseMs, backoffCapMs };
    const sender = new Sender(sending, header, this.#sending.signal);
    const said = announcement('start', memory.sliceCount);
    void sender.send(sender.freeze({ kind: 'announcement', ...said, standsBy: installation }));
    return true;
  }

  /** Nothing of it is sent any more; a watcher that stands by again says so again. */
  over(): void {
    this.#toldOf = undefined;
    this.#sending.abort();
    this.#sending = new AbortController();
  }
}
