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
import type { LookupFunction } from 'node:net';

/** Options of a pool. */
export interface PooledAgentOptions {
  readonly caPem?: string;
  readonly clientCertificate?: { readonly certificatePem: string; readonly keyPem: string };
  readonly tlsVerification: 'required' | 'skipped';
  readonly socketsMax: number;
  readonly lookup?: LookupFunction;
  readonly monotonicMs: () => number;
}

/** Below the idle time-outs of common load balancers and proxies (60 s and more). */
const IDLE_MAX_MS = 30_000;

/** The pool; `retire` lets running requests finish and keeps no connection after them. */
export class PooledAgent extends Agent {
  readonly #freedAtMs = new WeakMap<object, number>();
  readonly #monotonicMs: () => number;
  #isRetired = false;

  constructor(options: PooledAgentOptions) {
    const { caPem, clientCertificate } = options;
    super({
      keepAlive: true,
      maxSockets: options.socketsMax,
      maxFreeSockets: options.socketsMax,
      scheduling: 'lifo',
      minVersion: 'TLSv1.2',
      rejectUnauthorized: options.tlsVerification === 'required',
      secureContext: createSecureContext({
        minVersion: 'TLSv1.2',
        ...(caPem === undefined ? {} : { ca: caPem }),
        ...(clientCertificate === undefined
          ? {}
          : { cert: clientCertificate.certificatePem, key: clientCertificate.keyPem }),
      }),
      ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
    });
    this.#monotonicMs = options.monotonicMs;
  }

  /** One host, one credential: one pool. */
  override getName(): string {
    return 'api-server';
  }

  /** Called by Node when a connection becomes free: false closes it. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.#isRetired) return false;
    this.#freedAtMs.set(socket, this.#monotonicMs());
    // Typed as void; what Node returns here says whether the connection may stay.
    return super.keepSocketAlive(socket) as unknown as boolean;
  }

  /** Closes free connections that stood idle too long. */
  dropStale(): void {
    const nowMs = this.#monotonicMs();
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
