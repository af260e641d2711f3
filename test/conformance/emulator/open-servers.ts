/**
 * Starts a real server for the comparison: etcd and the API server alone, with nothing behind them that acts on
 * objects.
 *
 * Like the local one (differential.test.ts) it gets the shipped RBAC, so that requests of other users are judged alike.
 */
import { createApiClient, type ApiConnection } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import type { TestActor } from '../control-plane/identities.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { openServer, type ComparedServer } from './server.ts';

/** A running server; the caller owes a `stop()`. */
export interface RunningServer {
  readonly server: ComparedServer;
  readonly stop: () => Promise<void>;
}

/** Starts a real API server. */
export async function openRealServer(name: string): Promise<RunningServer> {
  const controlPlane = await startControlPlane({ name, loops: 'off', auditLog: false });
  try {
    // Only a server that has been restarted has no history: a watch from version 1 is then too old.
    await controlPlane.restart('apiServer');
    return await describeServer({
      name,
      connectionOf: controlPlane.connectionOf,
      stop: controlPlane.stop,
    });
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
}

/** Prepares a server that runs, and describes it. */
export async function describeServer(parts: {
  readonly name: string;
  readonly connectionOf: (actor: TestActor) => ApiConnection;
  readonly stop: () => Promise<void>;
}): Promise<RunningServer> {
  const admin = createApiClient(parts.connectionOf('admin'));
  try {
    await applyFiles(admin, [
      repositoryPath('infra/watcher/rbac.yaml'),
      repositoryPath('infra/functions/rbac.yaml'),
    ]);
  } finally {
    admin.close();
  }
  const server = openServer(parts.name, parts.connectionOf);
  return {
    server,
    stop: async () => {
      server.close();
      await parts.stop();
    },
  };
}
