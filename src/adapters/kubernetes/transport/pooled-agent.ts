/**
 * A keep-alive connection pool for one API server under one credential.
 *
 * Certificates are parsed once, not per connection, and the pool key is constant: Node's own spells
 * out the whole CA for each request. A connection that stood idle too long is not used again: a load
 * balancer may have dropped it without a word, and a write lost on it would be ambiguous. That check
 * happens at use, because timers do not run while a function is frozen.
 */
import { Agent } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext } from 'node:tls';
import { defined } from '@rollcall/base/defined.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Credential } from '../credentials/token-source.ts';
import type { Endpoint } from '../egress/endpoint.ts';
import type { LookupFunction } from 'node:net';

/** An API server, and how either side is known to the other. */
export interface ConnectionOptions {
  readonly endpoint: Endpoint;
  readonly caPem?: string;
  /** The authority that holds now, where it may change while this is open: a certificate at least. Never throws. */
  readonly readCaPem?: () => string;
  readonly credential: Credential;
  readonly clock: Clock;
  /** `skipped` only where a user's own kubeconfig says so. Default `required`. */
  readonly tlsVerification?: 'required' | 'skipped';
  /** Resolves the host; the seam for checks on addresses. Default: the system's resolver. */
  readonly lookup?: LookupFunction;
}

export type PoolOptions = Omit<ConnectionOptions, 'endpoint'>;

/** Below the idle time-outs of common load balancers and proxies (60 s and more). */
const IDLE_MAX_MS = 30_000;

/** The pool; `retire` lets running requests finish and keeps no connection after them. */
export class PooledAgent extends Agent {
  readonly #freedAtMs = new WeakMap<object, number>();
  readonly #clock: Clock;
  #isRetired = false;

  constructor(options: PoolOptions, socketsMax: number) {
    const { caPem: ca, credential, lookup, clock } = options;
    const minVersion = 'TLSv1.2';
    const isCertificate = credential.kind === 'client-certificate';
    super({
      keepAlive: true,
      maxSockets: socketsMax,
      maxFreeSockets: socketsMax,
      scheduling: 'lifo',
      minVersion,
      rejectUnauthorized: options.tlsVerification !== 'skipped',
      secureContext: createSecureContext({
        minVersion,
        ...defined({ ca }),
        ...(isCertificate ? { cert: credential.certificatePem, key: credential.keyPem } : {}),
      }),
      ...defined({ lookup }),
    });
    this.#clock = clock;
  }

  /** One host, one credential: one pool. */
  override getName(): string {
    return 'api-server';
  }

  /** Called by Node when a connection becomes free: false closes it. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.#isRetired) return false;
    this.#freedAtMs.set(socket, this.#clock.monotonicMs());
    // Typed as void; what Node returns here says whether the connection may stay.
    return super.keepSocketAlive(socket) as unknown as boolean;
  }

  /** Closes free connections that stood idle too long. */
  dropStale(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const sockets of Object.values(this.freeSockets)) {
      for (const socket of sockets ?? []) {
        if (nowMs - (this.#freedAtMs.get(socket) ?? nowMs) > IDLE_MAX_MS) socket.destroy();
      }
    }
  }

  /** Closes free connections now, and busy ones once they are free. */
  retire(): void {
    this.#isRetired = true;
    for (const sockets of Object.values(this.freeSockets)) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }
}

/**
 * One pool at a time, under the certificate authority that holds now.
 *
 * Where the authority comes from a file, a kubelet exchanges the file when the cluster's authority changes, and the
 * process goes on: what is read anew is asked before each request, and another text opens a new pool. Requests that run
 * end under the old one; a session of the old pool is never resumed under the new authority. How often the file is read,
 * and what of a file that holds none, is the reader's business.
 */
export class TrustedPool {
  readonly #options: PoolOptions;
  readonly #socketsMax: number;
  #trusted: string | undefined;
  #agent: PooledAgent;

  /** Throws for a certificate or key that OpenSSL cannot read. */
  constructor(options: PoolOptions, socketsMax: number) {
    this.#options = options;
    this.#socketsMax = socketsMax;
    this.#trusted = options.caPem;
    this.#agent = new PooledAgent(options, socketsMax);
  }

  agent(): PooledAgent {
    const caPem = this.#options.readCaPem?.() ?? this.#trusted;
    if (caPem !== this.#trusted && caPem !== undefined) this.#trust(caPem);
    return this.#agent;
  }

  /** Lets running requests finish and closes every connection. */
  retire(): void {
    this.#agent.retire();
  }

  #trust(caPem: string): void {
    this.#trusted = caPem;
    this.#agent.retire();
    this.#agent = new PooledAgent({ ...this.#options, caPem }, this.#socketsMax);
  }
}
