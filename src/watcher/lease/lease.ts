/**
 * The watcher's Lease: where epochs come from (the version of the write that takes it: S8, protocol 14), and how
 * functions reach the watcher.
 *
 * Each taking writes a new incarnation. While held it is read, then renewed with the version read:
 *   other holder, or absent   a newer watcher started, or cannot be ruled out (faults row 72): this epoch is over
 *   version below our own, or a renewal of ours gone   etcd was restored (protocol 15)
 * Who lost it stands by until the other one stops renewing, or gives it back; who may take it at its start: `start`
 * (ADR 0024).
 */
import { epoch, incarnation, type Epoch, type Incarnation } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import { jittered } from '@rollcall/base/ports/random.ts';
import type { LeaseWrite, SourceFailure, WatchSource } from '../../ports/cluster/watch-source.ts';
import { createBackoff, untilAborted, type Backoff } from '@rollcall/base/wait.ts';
import {
  isBelow,
  isRenewedBefore,
  leaseFacts,
  leaseHeldBy,
  leaseReleased,
  versionOf,
} from './lease-object.ts';
import type { LeaseFacts } from './lease-object.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** How often who stands by looks while the holder renews once: with one look a cluster could go unwatched for 64 s, not 46 s. */
const STANDBY_LOOKS = 4;
/** A renewal that was on its way may come between the read and the write of a release. */
const RELEASE_TRIES = 3;

interface LeaseDependencies extends ProcessPorts {
  readonly source: WatchSource;
  readonly options: LeaseOptions;
  /** Called at each look while another watcher holds the Lease. */
  readonly onWaiting: (facts: LeaseFacts, holder: 'own-installation' | 'another') => void;
}

/** A Lease that was taken. */
export interface TakenLease {
  readonly epoch: Epoch;
  readonly incarnation: Incarnation;
  /** Id of the snapshot request that stood in it, if one did. */
  readonly requestId: string | undefined;
  readonly object: KubernetesObject;
}

type LeaseEnd = 'lost' | 'missing' | 'restored' | 'stopped';

/** Takes, renews and awaits the watcher's Lease. One operation at a time. */
export class LeaseKeeper {
  readonly #on: LeaseDependencies;
  /** The incarnation that this process took or tried to take last: a Lease with it is its own. */
  #own: Incarnation | undefined;
  /** Pulse of a Lease that has stood still for its duration. */
  #free: string | undefined;
  #mayOverrule: boolean;

  constructor(dependencies: LeaseDependencies) {
    this.#on = dependencies;
    this.#free = dependencies.options.free;
    this.#mayOverrule = dependencies.options.start === 'take-from-any';
  }

  /** Takes the Lease, from whom `start` allows; repeated until it succeeds. Undefined when aborted. */
  async take(signal: AbortSignal): Promise<TakenLease | undefined> {
    const { clock, random, log } = this.#on;
    const own = incarnation(random.uniqueId());
    const former = this.#own;
    this.#own = own;
    const isOwn = (holder: string): boolean => holder === own || holder === former;
    const vacancy = this.#vacancy((facts, isWaiting) => {
      // Given back by another installation that was seen at work: it may only be restarting.
      if (facts.holder === undefined) return !isWaiting || this.#isOurs(facts);
      return this.#mayTake(facts, isOwn(facts.holder));
    });
    const backoff = this.#backoff();
    while (!signal.aborted) {
      const read = await this.#read(signal);
      if (read.kind === 'failed' && !vacancy.isWaiting) {
        await this.#pause(backoff, read.failure, signal);
        continue;
      }
      if (read.kind === 'failed' || !vacancy.isFree(read.value)) {
        await this.#untilNextLook(signal);
        continue;
      }
      const write = await this.#write(this.#held(own, read.value), signal);
      switch (write.kind) {
        case 'written': {
          const { version, requestId } = leaseFacts(write.lease);
          if (version === undefined)
            throw new Error('the API server returned a Lease without version');
          log.info('took the lease', { epoch: version, incarnation: own });
          // A watcher that takes it from this one in turn is not overruled again.
          this.#mayOverrule = false;
          return { epoch: epoch(version), incarnation: own, requestId, object: write.lease };
        }
        case 'conflict':
          await clock.sleep(backoff.nextMs(), signal);
          break;
        case 'ambiguous':
          // It may have been applied. The next try reads first and is sent with what it finds.
          log.warn('taking the lease was ambiguous and is repeated', { reason: write.message });
          await clock.sleep(backoff.nextMs(), signal);
          break;
        case 'failed':
          await this.#pause(backoff, write.failure, signal);
      }
    }
    return undefined;
  }

  /** Renews until the Lease is no longer ours, or the signal aborts. Hears requests for snapshots. */
  async hold(
    taken: TakenLease,
    hooks: { readonly signal: AbortSignal; readonly onRequest: (requestId: string) => void },
  ): Promise<LeaseEnd> {
    const { clock, random, options } = this.#on;
    const { signal } = hooks;
    const backoff = this.#backoff();
    let held = taken.object;
    let requestId = taken.requestId;
    let delayMs = jittered(random, options.renewMs, 0.2);
    for (;;) {
      await clock.sleep(delayMs, signal);
      if (signal.aborted) return 'stopped';
      const renewal = await this.#renew(taken.incarnation, held, signal);
      if (renewal.kind === 'over') return renewal.end;
      if (renewal.kind === 'failed') {
        delayMs = backoff.nextMs(renewal.failure?.retryAfterMs);
        continue;
      }
      held = renewal.lease;
      const asked = leaseFacts(held).requestId;
      if (asked !== undefined && asked !== requestId) hooks.onRequest(asked);
      requestId = asked;
      if (renewal.kind === 'written') backoff.reset();
      const regularMs = jittered(random, options.renewMs, 0.2);
      delayMs = renewal.kind === 'read' ? Math.min(backoff.nextMs(), regularMs) : regularMs;
    }
  }

  /**
   * Stands by until the present holder is gone, gave it back, has not renewed for its duration, or etcd
   * went back.
   */
  async awaitVacancy(lost: TakenLease, signal: AbortSignal): Promise<void> {
    const floor = versionOf(lost.object);
    const vacancy = this.#vacancy((facts) => {
      if (isBelow(facts, floor)) return true;
      return facts.holder === undefined && this.#isOurs(facts);
    });
    while (!signal.aborted) {
      const read = await this.#read(signal);
      if (read.kind === 'ok' && vacancy.isFree(read.value)) return;
      await this.#untilNextLook(signal);
    }
  }

  /**
   * Gives the Lease back if it is still this incarnation's: who stands by takes over at its next look
   * instead of after `durationMs`. Harmless when it fails. True if it was given back.
   */
  async release(taken: TakenLease, signal: AbortSignal): Promise<boolean> {
    for (let tries = 0; tries < RELEASE_TRIES && !signal.aborted; tries += 1) {
      const read = await this.#read(signal);
      if (read.kind === 'failed' || read.value === undefined) return false;
      if (leaseFacts(read.value).holder !== taken.incarnation) return false;
      const released = leaseReleased(read.value, this.#on.clock.nowMs());
      const { kind } = await this.#write(released, signal);
      if (kind === 'written') return true;
      if (kind === 'failed') return false;
    }
    return false;
  }

  /** Whether a Lease may be taken from its holder at once. */
  #mayTake(facts: LeaseFacts, isOwn: boolean): boolean {
    if (isOwn || facts.pulse === this.#free || this.#mayOverrule) return true;
    return this.#on.options.start !== 'stand-by' && this.#isOurs(facts);
  }

  #isOurs({ installation }: LeaseFacts): boolean {
    return installation === this.#on.options.installation;
  }

  #vacancy(mayTake: (facts: LeaseFacts, isWaiting: boolean) => boolean): Vacancy {
    const { clock, options, onWaiting } = this.#on;
    return new Vacancy({
      clock,
      durationMs: options.durationMs,
      mayTake,
      onStill: ({ pulse }) => {
        this.#free = pulse;
      },
      onWaiting: (facts) => {
        if (facts.holder === undefined) return;
        onWaiting(facts, this.#isOurs(facts) ? 'own-installation' : 'another');
      },
    });
  }

  #untilNextLook(signal: AbortSignal): Promise<void> {
    const { clock, random, options } = this.#on;
    return clock.sleep(jittered(random, options.renewMs / STANDBY_LOOKS, 0.2), signal);
  }

  async #renew(own: Incarnation, held: KubernetesObject, signal: AbortSignal): Promise<Renewal> {
    // Read first: after a restore of etcd the very version that is held can be given out again, to
    // another holder, and the precondition of the write would not notice (row 71).
    const current = await this.#reread(own, held, signal);
    if (current.kind !== 'read') return current;
    const write = await this.#write(this.#held(own, current.lease), signal);
    switch (write.kind) {
      case 'written':
        if (isBelow(leaseFacts(write.lease), versionOf(held)))
          return { kind: 'over', end: 'restored' };
        return { kind: 'written', lease: write.lease };
      case 'failed':
        this.#on.log.warn('renewing the lease failed', { reason: write.failure.message });
        return { kind: 'failed', failure: write.failure };
      case 'conflict':
      case 'ambiguous':
        return this.#reread(own, held, signal);
    }
  }

  async #reread(own: Incarnation, held: KubernetesObject, signal: AbortSignal): Promise<Renewal> {
    const read = await this.#read(signal);
    if (read.kind === 'failed') return { kind: 'failed', failure: read.failure };
    if (read.value === undefined) return { kind: 'over', end: 'missing' };
    const facts = leaseFacts(read.value);
    if (isBelow(facts, versionOf(held))) return { kind: 'over', end: 'restored' };
    if (facts.holder !== own) return { kind: 'over', end: 'lost' };
    if (isRenewedBefore(facts, leaseFacts(held))) return { kind: 'over', end: 'restored' };
    return { kind: 'read', lease: read.value };
  }

  #read(signal: AbortSignal): ReturnType<WatchSource['readLease']> {
    return bounded(this.#on.source.readLease(), signal);
  }

  /** A write that is given up may still be applied, so the next holder reads first. */
  #write(lease: KubernetesObject, signal: AbortSignal): Promise<LeaseWrite | Failure> {
    return bounded(this.#on.source.writeLease(lease), signal);
  }

  #held(own: Incarnation, former: KubernetesObject | undefined): KubernetesObject {
    const { clock, options } = this.#on;
    const durationSeconds = Math.ceil(options.durationMs / 1000);
    const { installation } = options;
    const by = { former, nowMs: clock.nowMs(), durationSeconds, ...defined({ installation }) };
    return leaseHeldBy(own, by);
  }

  #backoff(): Backoff {
    const { random, options } = this.#on;
    return createBackoff(random, { baseMs: options.backoffBaseMs, capMs: options.backoffCapMs });
  }

  async #pause(backoff: Backoff, failure: SourceFailure, signal: AbortSignal): Promise<void> {
    this.#on.log.warn('the lease cannot be taken yet', {
      failure: failure.kind,
      reason: failure.message,
    });
    await this.#on.clock.sleep(backoff.nextMs(failure.retryAfterMs), signal);
  }
}

interface Failure {
  readonly kind: 'failed';
  readonly failure: SourceFailure;
}

type Renewal =
  | { readonly kind: 'written' | 'read'; readonly lease: KubernetesObject }
  | Failure
  | { readonly kind: 'over'; readonly end: LeaseEnd };

async function bounded<T>(request: Promise<T>, signal: AbortSignal): Promise<T | Failure> {
  const answer = await untilAborted(request, signal).catch(failureOf);
  return answer === 'aborted' ? failureOf(undefined) : answer;
}

/** The port's requests never reject; one that does is a bug there, and is tried again here. */
function failureOf(cause: unknown): Failure {
  const message = cause instanceof Error ? cause.message : 'given up';
  return { kind: 'failed', failure: { kind: 'unavailable', message } };
}

/** Bounds of a Lease, in milliseconds. */
export interface LeaseOptions {
  /**
   * At its start, while another watcher holds the Lease, it takes it if it is of the same installation, stands by,
   * or takes it from its holder.
   */
  readonly start: 'take' | 'stand-by' | 'take-from-any';
  /** Name of the installation that it belongs to, as the Lease tells it; absent: it names none. */
  readonly installation?: string;
  /** Pulse of a Lease that was judged free before the start: it need not stand still once more. */
  readonly free?: string;
  readonly renewMs: number;
  /** A holder that did not renew for so long is gone. */
  readonly durationMs: number;
  readonly backoffBaseMs: number;
  readonly backoffCapMs: number;
}

interface VacancyTerms {
  readonly clock: Clock;
  readonly durationMs: number;
  /** Whether it may be taken as it was read; `isWaiting`: it was read before, and could not be. */
  readonly mayTake: (facts: LeaseFacts, isWaiting: boolean) => boolean;
  /** It has stood still for its duration. */
  readonly onStill: (facts: LeaseFacts) => void;
  /** It may not be taken yet. */
  readonly onWaiting: (facts: LeaseFacts) => void;
}

/**
 * Whether a watcher on standby may take a Lease: its holder gave it back, has not renewed it for its duration, or it is
 * allowed at once (`mayTake`). Told by reading it again and again, by this process's own monotonic clock.
 */
class Vacancy {
  readonly #terms: VacancyTerms;
  #pulse: string | undefined;
  #changedMs = 0;

  constructor(terms: VacancyTerms) {
    this.#terms = terms;
  }

  /** True once a Lease was read that could not be taken. */
  get isWaiting(): boolean {
    return this.#pulse !== undefined;
  }

  /** Whether the Lease, as it was read now, may be taken. */
  isFree(lease: KubernetesObject | undefined): boolean {
    if (lease === undefined) return true;
    const { clock, durationMs, mayTake, onStill, onWaiting } = this.#terms;
    const facts = leaseFacts(lease);
    if (mayTake(facts, this.isWaiting)) return true;
    if (facts.pulse !== this.#pulse) {
      this.#pulse = facts.pulse;
      this.#changedMs = clock.monotonicMs();
    }
    if (clock.monotonicMs() - this.#changedMs >= durationMs) {
      onStill(facts);
      return true;
    }
    onWaiting(facts);
    return false;
  }
}
