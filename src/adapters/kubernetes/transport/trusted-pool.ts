/**
 * The pool of connections to one API server, under the certificate authority that holds now.
 *
 * Where the authority comes from a file, a kubelet exchanges the file when the cluster's authority changes, and the
 * process goes on: what is read anew is asked before each request, and another text opens a new pool. Requests that run
 * end under the old one; a session of the old pool is never resumed under the new authority. How often the file is read,
 * and what of a file that holds none, is the reader's business.
 */
import { PooledAgent } from './pooled-agent.ts';
import type { PooledAgentOptions } from './pooled-agent.ts';

/** Options of a pool whose authority may change. */
export interface TrustedPoolOptions extends PooledAgentOptions {
  /** The authority that holds now, where it may change while the process runs: a certificate at least. Never throws. */
  readonly readCaPem?: () => string;
}

/** One pool at a time. */
export class TrustedPool {
  readonly #options: TrustedPoolOptions;
  #trusted: string | undefined;
  #agent: PooledAgent;

  /** Throws for a certificate or key that OpenSSL cannot read. */
  constructor(options: TrustedPoolOptions) {
    this.#options = options;
    this.#trusted = options.caPem;
    this.#agent = new PooledAgent(options);
  }

  /** The pool for the next request. */
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
    this.#agent = new PooledAgent({ ...this.#options, caPem });
  }
}
