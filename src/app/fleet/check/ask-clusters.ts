/**
 * Asks the clusters of a plan's stages whether their API servers would take what they would be given: a server-side dry run,
 * with defaulting, validation, quota and webhooks, of which nothing is kept (issue 18).
 *
 * As a step sends it (send-at-version.ts), so that it says the same of owners of fields. Clusters that nobody changes or that are
 * silent are not asked. It changes nothing, ends after CHECK_FOR_MS at the latest but for requests under way, and says of
 * whom it did not come to that they were not checked. Rejects when a table fails.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { FleetDaemonSet, FleetManifest } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetPlan } from '../../../core/fleet/plan-fleet.ts';
import { fleetRenderer } from '../../../core/fleet/render-fleet.ts';
import { clusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterConnector } from '../../../ports/cluster/cluster-access.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import { sendAtVersion } from '../send-at-version.ts';
import { notChecked, unconnected, verdictOf } from './verdict.ts';
import type { CheckVerdict, ClusterCheck } from './verdict.ts';

/** Clusters asked side by side. */
const AT_ONCE = 16;
const CHECK_FOR_MS = 120_000;

/** With what clusters are asked. */
export interface CheckSources {
  readonly registry: Pick<RegistryStore, 'readCluster'>;
  readonly connector: ClusterConnector;
  readonly clock: Clock;
  /** Once aborted nobody else is asked. */
  readonly signal: AbortSignal;
  /** Called after each cluster. */
  readonly onAsked: (asked: number, all: number) => void;
}

/** Asks them, in the order of the plan. */
export async function askClusters(
  fleet: FleetDaemonSet,
  { stages }: Pick<FleetPlan, 'stages'>,
  sources: CheckSources,
): Promise<readonly ClusterCheck[]> {
  const ids = stages.flatMap(({ clusters }) => clusters.map(({ id }) => clusterId(id)));
  const { registry, clock, signal, onAsked } = sources;
  const deadlineMs = clock.monotonicMs() + CHECK_FOR_MS;
  const isForced = fleet.strategy.conflicts === 'overwrite';
  const renderFor = fleetRenderer(fleet);
  let asked = 0;
  const check = async (id: ClusterCheck['id']): Promise<CheckVerdict> => {
    if (signal.aborted) return notChecked('interrupted');
    if (clock.monotonicMs() >= deadlineMs) return notChecked('no time was left for it');
    const registration = await registry.readCluster(id);
    if (registration === undefined) return notChecked('it is not registered any more');
    const rendering = renderFor(registration);
    if (rendering.kind === 'refused') return notChecked('its registration was changed just now');
    const { manifest } = rendering;
    return askCluster({ registration, manifest, isForced, deadlineMs }, sources);
  };
  return sideBySide(ids, AT_ONCE, async (id) => {
    const verdict = await check(id);
    asked += 1;
    onAsked(asked, ids.length);
    return { id, ...verdict };
  });
}

interface Question {
  readonly registration: ClusterRegistration;
  readonly manifest: FleetManifest;
  /** Takes fields that others own. */
  readonly isForced: boolean;
  /** Monotonic. */
  readonly deadlineMs: number;
}

async function askCluster(
  { registration, manifest, isForced, deadlineMs }: Question,
  { connector }: Pick<CheckSources, 'connector'>,
): Promise<CheckVerdict> {
  try {
    const connected = await connector.connect(registration);
    if (connected.kind === 'refused') return unconnected(connected.refusal);
    const options = { isDryRun: true, isForced, deadlineMs };
    const sent = await sendAtVersion(connected.access, manifest, options);
    return sent.kind === 'unread' ? notChecked(sent.message) : verdictOf(sent, registration);
  } finally {
    // A command ends when its connections are closed.
    connector.forget(registration.id);
  }
}
