/**
 * Asks the clusters of a plan by a server-side dry run whether they would take what they would be
 * given. It sends what a step sends, and says whom it did not get to. Not counted against the
 * fleet: a cluster that could not be asked, a webhook without dry run, and a person without the
 * right.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import type { FleetPlan } from '../../../core/fleet/plan-fleet.ts';
import { fleetRenderer } from '../../../core/fleet/render-fleet.ts';
import { clusterId } from '../../../core/model/identifiers.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterConnector } from '../../../ports/cluster/cluster-access.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import { sendManifest, type Answer } from '../send-manifest.ts';
import type { FieldConflict } from '../../../ports/cluster/manifest-access.ts';
import type { FleetRefusal } from '../refusals.ts';

/** Clusters asked side by side. */
const AT_ONCE = 16;
const CHECK_FOR_MS = 120_000;

interface CheckSources {
  readonly registry: Pick<RegistryStore, 'readCluster'>;
  readonly connector: ClusterConnector;
  readonly clock: Clock;
  /** Once aborted, no further cluster is asked. */
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
    const limits = { deadlineMs };
    try {
      const sending = { registration, manifest, isForced, isDryRun: true, limits };
      return verdictOf(await sendManifest(sending, sources), registration);
    } finally {
      // A command ends when its connections are closed.
      sources.connector.forget(id);
    }
  };
  return sideBySide(ids, AT_ONCE, async (id) => {
    const verdict = await check(id);
    asked += 1;
    onAsked(asked, ids.length);
    return { id, ...verdict };
  });
}

/** What a cluster says. Only `conflict` and `refused` speak against it. */
type CheckVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'conflict'; readonly conflicts: readonly FieldConflict[] }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'not-checked'; readonly message: string };

/** The verdict of one cluster. */
export type ClusterCheck = CheckVerdict & { readonly id: ClusterId };

/** As RBAC is told (apiserver, handlers/responsewriters). Admission refuses with the same status, and other words. */
const NO_RIGHT = /\bcannot [a-z]+ resource\b/;

export function verdictOf(
  answer: Answer,
  { authentication }: Pick<ClusterRegistration, 'authentication'>,
): CheckVerdict {
  if (answer.kind === 'applied') return { kind: 'accepted' };
  const { message } = answer;
  if (answer.kind === 'unanswered') return notChecked(message);
  if (answer.cause === 'Conflict') return { kind: 'conflict', conflicts: answer.conflicts };
  const { status } = answer;
  if (status === undefined) return notChecked(message);
  const isRight = status === 403 && NO_RIGHT.test(message) && authentication.kind === 'eks';
  return isRight ? notChecked(`you may not ask: ${message}`) : { kind: 'refused', message };
}

function notChecked(message: string): CheckVerdict {
  return { kind: 'not-checked', message };
}

/** What speaks against it, by cluster and field. */
export function problemsOf(checks: readonly ClusterCheck[]): FleetRefusal['problems'] {
  return checks.flatMap((check): FleetRefusal['problems'] => {
    const { id: cluster } = check;
    if (check.kind === 'refused') return [{ cluster, field: '', message: check.message }];
    if (check.kind !== 'conflict') return [];
    return check.conflicts.map(({ manager, field }) => ({
      cluster,
      field,
      message: `is owned by ${manager}`,
    }));
  });
}
