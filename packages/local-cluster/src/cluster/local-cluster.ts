/**
 * A local cluster as the engine, the command line and tests hold it.
 *
 * It looks like any cluster from outside: an HTTPS address, an authority, bearer tokens. Whether it runs in this thread
 * or in one of its own is start-local-cluster.ts's and cluster-thread.ts's matter.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { RequestObserver } from '../api/request/api-request.ts';
import type { MachineSpec } from '../machines/machine.ts';

/** What can be passed to another thread. */
export interface LocalClusterSettings {
  readonly name: string;
  /** On 127.0.0.1; 0 picks a free one. */
  readonly port: number;
  /** Machines that boot at once. */
  readonly machines: readonly MachineSpec[];
  /** How long ago their Nodes joined, as told by their creation: what compares nodes leaves out those that are minutes old. Default: now. */
  readonly joinedMsAgo?: number;
  /** Objects, certificates and tokens live there between runs; in memory when absent. */
  readonly dataDirectory?: string;
  /** The lowest level of log lines that leave the cluster's thread; default `info`. */
  readonly logLevel?: 'debug' | 'info';
  /** False: the API server alone, nothing acts on its objects; for the conformance suite. Default true. */
  readonly runsComponents?: boolean;
}

/** Settings and ports. */
export interface LocalClusterOptions extends LocalClusterSettings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly onRequest?: RequestObserver;
}

/** Actors that have a token of their own. */
export type LocalActor = 'admin' | 'watcher' | 'functions' | 'observer';

/** A running local cluster. */
export interface LocalCluster {
  readonly name: string;
  /** `https://127.0.0.1:PORT`. */
  readonly server: string;
  readonly caPem: string;
  readonly tokens: Readonly<Record<LocalActor, string>>;
  readonly stop: () => Promise<void>;
}
