/**
 * The dependencies of the steps of fleets, and their bounds. None of the bounds is a limit of a table.
 *
 * When a step is due, core/fleet/rollout/when-due.ts decides.
 */
import type { ClusterConnector } from '../../../ports/cluster/cluster-access.ts';
import type { FleetNotifier } from '../../../ports/fleet-notifier.ts';
import type { FleetReader } from '../../../ports/fleet-reader.ts';
import type { ProcessPorts } from '../../../ports/process.ts';
import type {
  FleetRolloutStore,
  RegistryRevisionStore,
  FleetStore,
} from '../../../ports/stores/fleet-rollout-store.ts';
import type { FreezeStore } from '../../../ports/stores/freeze-store.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import type { StateStore, ViewReader } from '../../../ports/stores/view-store.ts';

/** Dependencies of `stepFleets`. */
export interface StepFleetsDependencies extends ProcessPorts {
  readonly fleets: Pick<FleetStore, 'listFleets' | 'readFleet' | 'readDocument'>;
  readonly rollouts: FleetRolloutStore;
  readonly registry: Pick<RegistryStore, 'readCluster' | 'listClusters'> &
    Pick<RegistryRevisionStore, 'readRegistryRevision'>;
  readonly freezes: Pick<FreezeStore, 'readFreeze'>;
  readonly reader: FleetReader;
  readonly view: Pick<ViewReader, 'readMeta' | 'readName' | 'readDaemonSet' | 'readSlice'> &
    Pick<StateStore, 'readState'>;
  readonly connector: ClusterConnector;
  readonly notifier: FleetNotifier;
}

/** Clusters that are read side by side. */
export const READ_AT_ONCE = 32;
/** Clusters that are given something at once; freeze and record are read again before each. */
export const GIVEN_AT_ONCE = 10;
/** Clusters that are looked for in one step to be given something. */
export const GIVEN_MAX = 500;
/** How often clusters of the ring are looked at. */
export const CATCH_UP_EVERY_MS = 900_000;
/** Registrations that change one after the other are dealt with once in this time. */
export const ASSIGN_EVERY_MS = 300_000;
/** Assigned again at least so often, whatever the revision of the registry says: a write may have been lost. */
export const ASSIGN_AT_LEAST_MS = 86_400_000;
