/**
 * What `npm start` plays besides showing clusters: nothing, a bad rollout in one of them, or a rollout over all of them.
 *
 * A play does its next step when it is looked at, and says what it waits for; it ends, and then there is nothing left to wait for.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ClusterOverview } from '../../engine/overview.ts';
import { packageFile } from '../../engine/package-files.ts';
import type { ClusterSource } from './cluster-source.ts';
import { readFleetDocuments } from './fleet/fleet-documents.ts';
import { PROVEN_IMAGE, playedRelease } from './fleet/fleet-plan.ts';
import { FleetPlay } from './fleet/fleet-play.ts';
import type { FleetPlan } from './fleet/fleet-plan.ts';
import type { FleetReport } from './fleet/fleet-play.ts';
import { INJECTION_TARGET } from './injected-failure.ts';
import { Injection } from './injection.ts';
import type { StartOptions } from './options.ts';

/** One play. */
export interface Play {
  /** Looks at the clusters, and does what is due. What it waits for; undefined: it ended. */
  advance(clusters: readonly ClusterOverview[], isSettled: boolean): Promise<string | undefined>;
  /** What is shown of it in place of the clusters' tables; absent: the tables show it. */
  lines?(clusters: readonly ClusterOverview[]): readonly string[];
  /** What the JSON document says of it. */
  report?(): FleetReport;
  /** Resolves when nothing of it is under way. */
  idle?(): Promise<void>;
}

/** What it plays with. */
export interface PlayParts {
  readonly options: StartOptions;
  readonly source: ClusterSource;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly say: (text: string) => void;
}

const FLEET_EXAMPLE = 'examples/fleet/fleet-agent.yaml';
const FLEET_FUNCTION = 'fleet';
const CANARY_CLUSTER = 'local-1';

/** The play that was asked for; undefined: none. */
export async function openPlay(parts: PlayParts): Promise<Play | undefined> {
  const { choice } = parts.options;
  if (choice.kind !== 'local') return undefined;
  const { fleet, inject: failure } = choice;
  if (fleet !== undefined) return openFleetPlay(fleet, parts);
  const { patchDaemonSet } = parts.source;
  if (failure === undefined || patchDaemonSet === undefined) return undefined;
  return new Injection({
    failure,
    patch: (body) => patchDaemonSet(INJECTION_TARGET, body),
    say: parts.say,
  });
}

async function openFleetPlay(
  plan: FleetPlan,
  { source, engine, clock, say }: PlayParts,
): Promise<FleetPlay> {
  const reader = createFleetReader();
  const release = playedRelease(plan.inject);
  const { onBreach } = plan;
  const file = packageFile(FLEET_EXAMPLE);
  const documents = await readFleetDocuments(file, release, { onBreach, reader });
  const { namespace, name } = documents.played.fleet;
  const place = { cluster: CANARY_CLUSTER, namespace, name };
  return new FleetPlay({
    plan,
    documents,
    compareMs: release.compareMs,
    engine,
    turn: () => engine.aws.fireSchedule(FLEET_FUNCTION),
    replacePod: async () => source.deleteOldestPod?.(place, PROVEN_IMAGE),
    reader,
    clock,
    random: createSystemRandom(),
    say,
  });
}
