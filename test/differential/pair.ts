/**
 * The two control planes that are compared: one with the built-in DaemonSet loop, one with Rollcall's
 * engine in this process, in takeover, under the shipped RBAC. All other loops run on both.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient } from '../conformance/control-plane/api.ts';
import type { ApiClient } from '../conformance/control-plane/api.ts';
import { startControlPlane } from '../conformance/control-plane/control-plane.ts';
import type { ControlPlane } from '../conformance/control-plane/control-plane.ts';
import { createActivityLog } from '../conformance/scenarios/activity-log.ts';
import type { ActivityLog } from '../conformance/scenarios/activity-log.ts';
import { applyFiles } from '../conformance/scenarios/manifests.ts';
import { repositoryPath } from '../conformance/scenarios/repository.ts';
import { clusterId } from '../../src/core/model/identifiers.ts';
import { startEngine } from '../../src/local/engine.ts';
import type { Place } from './place.ts';
import { startMirror } from './mirror.ts';
import type { Mirror } from './mirror.ts';

/** Who keeps the DaemonSets of a side. */
export type SideName = 'original' | 'rollcall';

/** One of the two clusters. */
export interface Side {
  readonly name: SideName;
  readonly controlPlane: ControlPlane;
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

/** Starts both side by side. */
export async function openPair(): Promise<Pair> {
  const [original, rollcall] = await Promise.all([openSide('original'), openSide('rollcall')]);
  const closeSides = async (): Promise<void> => {
    await Promise.all([closeSide(original), closeSide(rollcall)]);
  };
  const activity = createActivityLog();
  const dataDir = await mkdtemp(join(tmpdir(), 'rollcall-differential-'));
  const { controlPlane } = rollcall;
  const starting = startEngine({
    clusters: [
      {
        id: clusterId('differential'),
        server: controlPlane.server,
        caPem: controlPlane.caPem,
        watcher: { kind: 'bearer', token: controlPlane.tokens.watcher },
        functions: { kind: 'bearer', token: controlPlane.tokens.functions },
        probe: { kind: 'bearer', token: controlPlane.tokens.admin },
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

async function openSide(name: SideName): Promise<Side> {
  const controlPlane = await startControlPlane({
    name: `differential-${name}`,
    daemonSetController: name === 'original' ? 'on' : 'off',
    limits: 'lifted',
    auditLog: false,
  });
  const admin = createApiClient(controlPlane.connectionOf('admin'));
  if (name === 'rollcall') {
    await applyFiles(admin, [
      repositoryPath('infra/watcher/rbac.yaml'),
      repositoryPath('infra/functions/rbac.yaml'),
    ]);
  }
  const mirror = await startMirror(controlPlane.connectionOf('observer'));
  return { name, controlPlane, admin, mirror };
}

async function closeSide({ controlPlane, admin, mirror }: Side): Promise<void> {
  await mirror.stop();
  admin.close();
  await controlPlane.stop();
}
