import type { Breach, EffectRules } from '../../../core/plan/invariants.ts';
import type { DaemonSetKey } from '../../../core/model/identifiers.ts';
import type { Intent } from '../../../core/model/state.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../../ports/process.ts';
/** Whom a breach is told to, and of which key. */
interface BreachReport {
  readonly key: DaemonSetKey;
  readonly log: Log;
  readonly metrics: Metrics;
}
/** What one run recorded and sent; serves all attempts of it. */
export declare class EffectAssertions {
  #private;
  constructor(report: BreachReport, burstPodsMax: number);
  /** One error line and one metric. */
  report({ invariant, message }: Breach): void;
  /** From now on these may be sent. */
  noteRecorded(intents: readonly Intent[]): void;
  /** Wraps an access for the effects of this DaemonSet, in a cluster of this mode. */
  wrap(access: ClusterAccess, of: Pick<EffectRules, 'uid' | 'mode'>): ClusterAccess;
}
export {};
