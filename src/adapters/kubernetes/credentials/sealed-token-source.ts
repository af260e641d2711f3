/**
 * Bound tokens of one registered cluster: read sealed from the store, opened, and kept while they are good.
 *
 * One is looked for again five minutes before it ends, and after the API server refused it, at most every five seconds
 * (L3).
 *
 *   t1 ── 401 ──▶ look ──▶ t1 again ──▶ tried once; after its 401 `rejected`, until the next look
 *                     └──▶ t2       ──▶ generation + 1: the identity is verified anew (protocol 24)
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { TokenFault } from '../../../ports/cluster/cluster-access.ts';
import type {
  CredentialStore,
  RefusedSeal,
  Seal,
  SealContext,
} from '../../../ports/stores/credential-store.ts';
import type { TokenSource } from './token-source.ts';

/** Where sealed tokens come from. */
export interface SealedTokens {
  readonly credentials: Pick<CredentialStore, 'readToken'>;
  readonly seal: Pick<Seal, 'open'>;
}

interface SourceOptions extends SealedTokens {
  readonly context: SealContext;
  readonly clock: Clock;
}

export type TokenState =
  | { readonly kind: 'usable' }
  | { readonly kind: 'faulty'; readonly fault: TokenFault }
  /** The store or the key service does not answer. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs: number };

/** There is no token to be had; the code says why. */
class NoTokenError extends Error {
  override readonly name = 'NoTokenError';
}

/** A newer token is looked for this long before the known one ends. */
const RENEW_BEFORE_MS = 300_000;
/** Not used in its last moments: it would end on its way. */
const EXPIRY_MARGIN_MS = 10_000;
/** Between two looks into the store. */
const LOOK_EVERY_MS = 5_000;

interface Held {
  readonly text: string;
  readonly expiresAtMs: number;
}

/**
 * The fault of the token that a refusal shows. That the key may not be used, or not now, says nothing: rights that were just
 * given take a minute to spread, and a key can be off for one. It is asked again soon, like a service that is silent.
 */
function refusedState({ code }: RefusedSeal): TokenState {
  if (code === 'invalid-ciphertext' || code === 'wrong-key' || code === 'too-large') {
    return { kind: 'faulty', fault: 'not-opened' };
  }
  const message = `the sealed token cannot be read: ${code}`;
  return { kind: 'unavailable', message, retryAfterMs: LOOK_EVERY_MS };
}

/** Tokens of one cluster under one registration: a source that says what is the matter. */
export class SealedTokenSource implements TokenSource {
  readonly #options: SourceOptions;
  #held: Held | undefined;
  #generation = 0;
  /** Refused by the API server since the last look. */
  #rejected: string | undefined;
  #state: TokenState = { kind: 'faulty', fault: 'not-sent' };
  #lookedAtMs: number | undefined;
  #looking: Promise<void> | undefined;

  constructor(options: SourceOptions) {
    this.#options = options;
  }

  /** Looks for a token where there is none that is good. Never rejects. */
  async prepare(): Promise<TokenState> {
    if (this.#isLookDue()) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
    return this.#judge();
  }

  async token(): Promise<string> {
    const state = await this.prepare();
    // An existing connection sends a refused token all the same: the answer shows the fault.
    const isTried = state.kind === 'usable' || this.#isRejected();
    if (this.#held !== undefined && isTried) return this.#held.text;
    throw new NoTokenError(state.kind === 'faulty' ? state.fault : state.kind);
  }

  generation(): number {
    return this.#generation;
  }

  invalidate(): boolean {
    this.#rejected = this.#held?.text;
    return this.#mayLook();
  }

  #isRejected(): boolean {
    return this.#rejected !== undefined && this.#rejected === this.#held?.text;
  }

  /** Milliseconds for which the held token is good; negative when there is none. */
  #remainingMs(): number {
    const { clock } = this.#options;
    return this.#held === undefined
      ? -1
      : this.#held.expiresAtMs - clock.nowMs() - EXPIRY_MARGIN_MS;
  }

  #mayLook(): boolean {
    const sinceMs = this.#options.clock.monotonicMs() - (this.#lookedAtMs ?? -Infinity);
    return sinceMs >= LOOK_EVERY_MS;
  }

  #isLookDue(): boolean {
    if (this.#looking !== undefined) return true;
    return this.#mayLook() && (this.#isRejected() || this.#remainingMs() < RENEW_BEFORE_MS);
  }

  #judge(): TokenState {
    if (this.#isRejected()) return { kind: 'faulty', fault: 'rejected' };
    if (this.#remainingMs() > 0) return { kind: 'usable' };
    return this.#state.kind === 'usable' ? { kind: 'faulty', fault: 'expired' } : this.#state;
  }

  async #look(): Promise<void> {
    const { clock } = this.#options;
    try {
      this.#state = await this.#read();
    } catch (error) {
      const name = error instanceof Error ? error.name : 'unknown failure';
      const message = `the sealed token cannot be read: ${name}`;
      this.#state = { kind: 'unavailable', message, retryAfterMs: LOOK_EVERY_MS };
    }
    this.#lookedAtMs = clock.monotonicMs();
  }

  async #read(): Promise<TokenState> {
    const { credentials, seal, context, clock } = this.#options;
    const sealed = await credentials.readToken(context.cluster, context.purpose);
    if (sealed === undefined) return { kind: 'faulty', fault: 'not-sent' };
    if (sealed.clusterUid !== context.clusterUid) return { kind: 'faulty', fault: 'other-cluster' };
    if (sealed.expiresAtMs <= clock.nowMs() + EXPIRY_MARGIN_MS) {
      return { kind: 'faulty', fault: 'expired' };
    }
    const opened = await seal.open(sealed.ciphertext, context);
    if (opened.kind === 'refused') return refusedState(opened);
    if (opened.text !== this.#held?.text) this.#generation += 1;
    // A server that has just started may refuse what it accepts a moment later: each look grants a try.
    this.#rejected = undefined;
    this.#held = { text: opened.text, expiresAtMs: sealed.expiresAtMs };
    return { kind: 'usable' };
  }
}
