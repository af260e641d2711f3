/**
 * The two control planes that are compared: one with the built-in DaemonSet loop, one with Rollcall's
 * engine in this process, in takeover, under the shipped RBAC. All other loops run on both.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient, type ApiClient } from '../conformance/control-plane/api.ts';
import { createActivityLog, type ActivityLog } from '../conformance/scenarios/activity-log.ts';
import { clusterId } from '../../src/core/model/identifiers.ts';
import { startEngine } from '../../src/engine/engine.ts';
import type { Place } from './place.ts';
import { startMirror, type Mirror } from './mirror.ts';
import { connectionOf, startPlanes, type PlaneAccess, type Planes } from './planes.ts';

export type SideName = 'original' | 'rollcall';

export interface Side {
  readonly name: SideName;
  readonly admin: ApiClient;
  readonly mirror: Mirror;
}

/** Both clusters; the caller owes `close()`. */
export interface Pair {
  readonly original: Side;
  readonly rollcall: Side;
  /** What Rollcall's engine logged and counted. */
  readonly activity: ActivityLog;
  /** What Rollcall says of the DaemonSets of a place now. */
  readonly explain: (place: Place) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
}

const PROBE_WAIT_MS = 3000;

/** Opens both; without planes to share, starts some of its own. */
export async function openPair(shared?: Planes): Promise<Pair> {
  const started = shared === undefined ? await startPlanes() : { planes: shared, stop: keep };
  const { planes } = started;
  const sides = await Promise.all([
    openSide('original', planes.original),
    openSide('rollcall', planes.rollcall),
  ]);
  const [original, rollcall] = sides;
  const closeSides = async (): Promise<void> => {
    await Promise.all(sides.map(closeSide));
    await started.stop();
  };
  const activity = createActivityLog();
  const dataDir = await mkdtemp(join(tmpdir(), 'rollcall-differential-'));
  const { server, caPem, tokens } = planes.rollcall;
  const starting = startEngine({
    clusters: [
      {
        id: clusterId('differential'),
        server,
        caPem,
        watcher: { kind: 'bearer', token: tokens.watcher },
        functions: { kind: 'bearer', token: tokens.functions },
        probe: { kind: 'bearer', token: tokens.admin },
        mode: 'takeover',
      },
    ],
    dataDir,
    log: activity.log,
    metrics: activity.metrics,
    probeWaitMs: PROBE_WAIT_MS,
  });
  starting.catch(closeSides);
  const engine = await starting;
  return {
    original,
    rollcall,
    activity,
    explain: async ({ namespace }) => {
      const overviews = await engine.overview();
      return overviews
        .flatMap(({ daemonSets }) => daemonSets)
        .filter((daemonSet) => daemonSet.namespace === namespace)
        .map((daemonSet) => JSON.stringify(daemonSet));
    },
    close: async () => {
      await engine.stop();
      await closeSides();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Whoever started them stops them. */
function keep(): Promise<void> {
  return Promise.resolve();
}

async function openSide(name: SideName, access: PlaneAccess): Promise<Side> {
  const admin = createApiClient(connectionOf(access, 'admin'));
  const mirror = await startMirror(connectionOf(access, 'observer'));
  return { name, admin, mirror };
}

async function closeSide({ admin, mirror }: Side): Promise<void> {
  await mirror.stop();
  admin.close();
}
