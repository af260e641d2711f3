/**
 * A populated cluster without loops, the events queue, and watchers as plain processes with the rights that are
 * shipped: what the tests of this directory begin with.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWatcher } from '../../../scripts/build/watcher-bundle.ts';
import { startReaper } from '../../../scripts/lib/reaper.ts';
import { createApiClient, type ApiClient } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { openEventsQueue, type EventsQueue } from './events-queue.ts';
import { populate, type PopulationSize } from './population.ts';
import { readShippedCommand } from './shipped-command.ts';
import { startWatcherProcess, type WatcherProcess } from './watcher-process.ts';

/** Everything that runs; the caller owes `close()`. */
export interface OpenedScene {
  readonly controlPlane: ControlPlane;
  readonly admin: ApiClient;
  readonly queue: EventsQueue;
  readonly size: PopulationSize;
  /** What every watcher gets; files that it names are in `directory`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  /** What the watcher's image is built from: a directory of its own, as another suite may build in dist meanwhile. */
  readonly imageContext: string;
  /** Starts a watcher; `environment` comes on top of what every one gets. */
  readonly startWatcher: (
    name: string,
    environment?: Readonly<Record<string, string>>,
  ) => WatcherProcess;
  readonly close: () => Promise<void>;
}

const CLUSTER = 'memory';

/** Builds the bundle, starts the cluster and fills it. */
export async function openScene(size: PopulationSize): Promise<OpenedScene> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-watcher-memory-'));
  const reaper = startReaper({ temporaryDirectory: directory });
  const imageContext = join(directory, 'context');
  const bundle = join(imageContext, 'dist/watcher/watcher.mjs');
  await bundleWatcher(repositoryPath('.'), bundle);
  // No loop acts on the pods; nobody counts a hundred thousand requests.
  const controlPlane = await startControlPlane({ name: CLUSTER, loops: 'off', auditLog: false });
  const stops: (() => Promise<void> | void)[] = [controlPlane.stop];
  const close = async (): Promise<void> => {
    for (const stop of stops.splice(0).toReversed()) await stop();
    await reaper.close();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const admin = createApiClient(controlPlane.connectionOf('admin'));
    stops.push(admin.close);
    await applyFiles(admin, [repositoryPath('infra/watcher/rbac.yaml')]);
    await populate(admin, size);
    const queue = await openEventsQueue(directory);
    stops.push(queue.close);
    const credentials = await writeCredentials(controlPlane, directory);
    const environmentOfAll = { ...queue.environment, ...credentials, ROLLCALL_CLUSTER: CLUSTER };
    const startWatcher: OpenedScene['startWatcher'] = (name, environment = {}) => {
      const watcher = startWatcherProcess({
        name,
        bundle,
        command: readShippedCommand(),
        environment: { ...environmentOfAll, ...environment },
        logPath: join(directory, `${name}.log`),
        reaper,
      });
      stops.push(watcher.stop);
      return watcher;
    };
    const environment = environmentOfAll;
    const made = { controlPlane, admin, queue, size, environment, directory };
    return { ...made, imageContext, startWatcher, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The watcher's own service account, whose rights are those of infra/watcher/rbac.yaml alone. */
async function writeCredentials(
  { server, caPem, tokens }: ControlPlane,
  directory: string,
): Promise<Readonly<Record<string, string>>> {
  const caFile = join(directory, 'ca.pem');
  const tokenFile = join(directory, 'token');
  await writeFile(caFile, caPem);
  await writeFile(tokenFile, tokens.watcher, { mode: 0o600 });
  return {
    ROLLCALL_API_SERVER: server,
    ROLLCALL_CA_FILE: caFile,
    ROLLCALL_TOKEN_FILE: tokenFile,
  };
}
