/**
 * The two control planes, as they are reached: plain JSON, so that runs in several processes can share them, one after
 * the other. One keeps its DaemonSets itself; the other is left to Rollcall, under the shipped RBAC.
 *
 * Runs that share them must not share places (place.ts), and no two of them may run at a time.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createApiClient, type ApiConnection } from '../conformance/control-plane/api.ts';
import { startControlPlane } from '../conformance/control-plane/control-plane.ts';
import type { ControlPlane } from '../conformance/control-plane/control-plane.ts';
import type { TestActor } from '../conformance/control-plane/identities.ts';
import { applyFiles } from '../conformance/scenarios/manifests.ts';
import { repositoryPath } from '../conformance/scenarios/repository.ts';

export type PlaneAccess = Pick<ControlPlane, 'server' | 'caPem' | 'tokens'>;

/** How both are. */
export interface Planes {
  readonly original: PlaneAccess;
  readonly rollcall: PlaneAccess;
}

/** Both, running; the caller owes `stop()`. */
export interface StartedPlanes {
  readonly planes: Planes;
  readonly stop: () => Promise<void>;
}

/** Starts both side by side. */
export async function startPlanes(): Promise<StartedPlanes> {
  const [original, rollcall] = await Promise.all([startPlane('original'), startPlane('rollcall')]);
  const stop = async (): Promise<void> => {
    await Promise.all([original.stop(), rollcall.stop()]);
  };
  const admin = createApiClient(rollcall.connectionOf('admin'));
  try {
    await applyFiles(admin, [
      repositoryPath('infra/watcher/rbac.yaml'),
      repositoryPath('infra/functions/rbac.yaml'),
    ]);
  } catch (error) {
    await stop();
    throw error;
  } finally {
    admin.close();
  }
  return { planes: { original: accessOf(original), rollcall: accessOf(rollcall) }, stop };
}

function startPlane(name: keyof Planes): Promise<ControlPlane> {
  return startControlPlane({
    name: `differential-${name}`,
    daemonSetController: name === 'original' ? 'on' : 'off',
    limits: 'lifted',
    auditLog: false,
  });
}

function accessOf({ server, caPem, tokens }: ControlPlane): PlaneAccess {
  const { admin, watcher, functions, observer } = tokens;
  return { server, caPem, tokens: { admin, watcher, functions, observer } };
}

export function connectionOf(
  { server, caPem, tokens }: PlaneAccess,
  actor: TestActor,
): ApiConnection {
  return { server, caPem, token: tokens[actor] };
}

/** Writes how both are reached, for other processes of the same user. */
export function writePlanes(path: string, planes: Planes): void {
  writeFileSync(path, JSON.stringify(planes), { mode: 0o600 });
}

/** Reads what `writePlanes` wrote. */
export function readPlanes(path: string): Planes {
  return JSON.parse(readFileSync(path, 'utf8')) as Planes;
}
