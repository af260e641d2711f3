/**
 * What the embedded engine is told: which clusters, as whom, and how to run.
 *
 * Three identities for each cluster, because three parties act there: its watcher, the functions, and
 * the operator who prepares and probes it. A laptop gives one credential for all; a test gives each its own.
 */
import type { ClusterId } from '../core/model/identifiers.ts';
import type { ClusterAuthentication, ClusterMode } from '../core/model/registration.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../ports/process.ts';
import type { LocalAwsOptions } from '@rollcall/local-aws/deployment/local-aws.ts';

/** A cluster to manage, and as whom. */
export interface EngineCluster {
  readonly id: ClusterId;
  readonly server: string;
  readonly caPem?: string;
  readonly mode: ClusterMode;
  /** With which it is registered the first time; absent: none. What stands in the registry stays. */
  readonly labels?: Readonly<Record<string, string>>;
  /** As whom the watcher lists and watches. */
  readonly watcher: ClusterAuthentication;
  /** As whom the functions act; `none` in mode observe. */
  readonly functions: ClusterAuthentication;
  /** As whom the cluster is prepared and probed: namespace rollcall-system, the takeover probe. */
  readonly probe: ClusterAuthentication;
  /** How to get a new credential when this one ends; absent when it does not. */
  readonly renewal?: {
    readonly expiresAtMs: number;
    readonly renew: () => Promise<FreshCredential>;
  };
}

export interface FreshCredential {
  readonly authentication: ClusterAuthentication;
  readonly expiresAtMs?: number;
}

export interface EngineOptions {
  readonly clusters: readonly EngineCluster[];
  /** Queues and tables live there between runs; in memory when absent. */
  readonly dataDir?: Exclude<LocalAwsOptions['dataDirectory'], undefined>;
  /** Where the name of the installation is kept (ADR 0024); default: the data directory, or nowhere. */
  readonly installationDir?: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** `take`: also from another installation that renews it, which then stands by. Default: that refuses the start. */
  readonly lease?: 'take';
  /** Disturbs deliveries, repeatably; for tests. */
  readonly faults?: LocalAwsOptions['faults'];
  /** How long the built-in DaemonSet loop gets to show itself before takeover; default: 20 s. */
  readonly probeWaitMs?: number;
  /**
   * Watchers are processes of their own (src/watcher/main.ts), as in a deployment, and sign with this secret: they outlive
   * this process. Absent: they run here, with secrets of this process.
   */
  readonly watchersElsewhere?: { readonly secretAccessKey: string };
  /** Told about long steps, for people. */
  readonly onProgress?: (text: string) => void;
}
