/** One look at the fleet: where it is read, what is asked for, and what is known of the stack. */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { StackStanding } from '../../core/status/outages.ts';
import type { Freeze } from '../../core/may-act/freeze.ts';
import type { FleetRolloutStore, FleetStore } from '../../ports/stores/fleet-rollout-store.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { StateStore, ViewReader, WalkStore } from '../../ports/stores/view-store.ts';
import type { WantedLabel } from '../clusters/read-registry.ts';
import type { ExplainSources } from '../why/explain.ts';

export interface FleetSources {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listClusters' | 'listRefusals'>;
  readonly freezes: Pick<FreezeStore, 'readFreeze' | 'readStop'>;
  readonly view: ViewReader & Pick<StateStore, 'readState'> & Pick<WalkStore, 'readWalk'>;
  readonly fleets: Pick<FleetStore, 'readFleet' | 'listFleets'>;
  readonly rollouts: Pick<FleetRolloutStore, 'readRecord' | 'listRecords' | 'readClusterRecords'>;
  readonly clock: Clock;
}

/** Which clusters and DaemonSets to look at. */
export interface FleetFilter {
  /** Absent: all. */
  readonly clusters?: readonly string[];
  /** Of clusters; all must hold. */
  readonly labels?: readonly WantedLabel[];
  /** Of DaemonSets and FleetDaemonSets; absent: all. */
  readonly namespace?: string;
}

export type Explaining = Pick<ExplainSources, 'cache' | 'options' | 'policies'>;

export interface FleetLook extends FleetSources, Explaining {
  readonly filter: FleetFilter;
  readonly standing: StackStanding;
  /** Nothing, where it cannot be read: an outage says so. */
  readonly freeze: Freeze;
  readonly nowMs: number;
}
