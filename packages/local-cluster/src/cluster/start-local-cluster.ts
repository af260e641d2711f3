/**
 * Starts a local cluster in this thread: API server, controllers, scheduler, machines with their node agents.
 *
 * It composes and decides nothing. There is no DaemonSet controller in it: that is Rollcall's part. Started in an order
 * in which each finds what it needs; stopped in the reverse order, so that what was begun is finished.
 */
import path from 'node:path';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { createAuthority } from '../access/certificates.ts';
import { createTokenAuthenticator } from '../access/tokens.ts';
import { startControllers } from '../controllers/start-controllers.ts';
import { startFleet } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { startScheduler } from '../scheduler/start-scheduler.ts';
import { createApiLoad } from '../runtime/surroundings.ts';
import { startHttpsServer } from '../server/https-server.ts';
import { openJournal } from '../store/journal.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { createBootstrapObjects } from './bootstrap-objects.ts';
import { createLocalApi } from './create-api.ts';
import { createTokens, keepIdentity, usersByToken } from './identities.ts';
import type { ClusterIdentity } from './identities.ts';
import type { LocalCluster, LocalClusterOptions } from './local-cluster.ts';

const OBJECTS_DIRECTORY = 'objects';
const COMPONENT_GROUPS = ['system:masters', 'system:authenticated'];

/** Starts it; resolves when the API answers and every machine has registered. The caller owes a `stop()`. */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalCluster> {
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const stopOne of stops.splice(0).toReversed()) await stopOne();
  };
  try {
    return { ...(await bringUp(options, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function bringUp(
  options: LocalClusterOptions,
  stops: (() => Promise<void> | void)[],
): Promise<Omit<LocalCluster, 'stop'>> {
  const { clock, random, log } = options;
  const store = openStore(options, stops);
  const isFirstStart = store.version() === 0n;
  const { authority, tokens } = await openIdentity(options);
  const { handler, clients } = createLocalApi({
    store,
    clock,
    random,
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
  });
  const component = (name: string): ReturnType<typeof clients.clientFor> =>
    clients.clientFor({ name, groups: COMPONENT_GROUPS });
  await createBootstrapObjects(component('system:apiserver'));

  const apiLoad = createApiLoad();
  const https = await startHttpsServer({
    handler,
    authenticate: createTokenAuthenticator(usersByToken(tokens)),
    certificate: authority.serving,
    port: options.port,
    clock,
    log,
    delayMs: apiLoad.delayMs,
  });
  stops.push(https.stop);
  if (options.runsComponents !== false) {
    const controllers = startControllers({
      clients,
      clock,
      log,
      settings: { caPem: authority.caPem },
    });
    stops.push(controllers.stop);
    const scheduler = startScheduler({ client: component('system:kube-scheduler'), clock, log });
    stops.push(scheduler.stop);
    const fleet = startFleet({ clients, clock, random, log, apiLoad });
    stops.push(fleet.stop);
    if (isFirstStart) await bootMachines(options, { store, fleet });
  }
  return { name: options.name, server: https.server, caPem: authority.caPem, tokens };
}

/** Boots the machines; those that joined earlier have their Nodes from then, and follow them. */
async function bootMachines(
  { machines, joinedMsAgo, clock, random }: LocalClusterOptions,
  { store, fleet }: { readonly store: Store; readonly fleet: Fleet },
): Promise<void> {
  if (joinedMsAgo === undefined) {
    await fleet.boot(machines);
    return;
  }
  const earlier = { ...boundClock(clock), nowMs: () => clock.nowMs() - joinedMsAgo };
  const { clients } = createLocalApi({ store, clock: earlier, random });
  const client = clients.clientFor({ name: 'system:machines', groups: COMPONENT_GROUPS });
  for (const { name, labels, annotations = {} } of machines) {
    const outcome = await client.create('nodes', { metadata: { name, labels, annotations } });
    if (outcome.kind === 'refused')
      throw new Error(`Node ${name}: ${outcome.status.message ?? ''}`);
  }
}

/** Its methods, whatever they are called on. */
function boundClock(clock: Clock): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, callback) => clock.after(delayMs, callback),
    sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
  };
}

function openStore(options: LocalClusterOptions, stops: (() => Promise<void> | void)[]): Store {
  const { dataDirectory, log } = options;
  if (dataDirectory === undefined) return createMemoryStore();
  const journal = openJournal(path.join(dataDirectory, OBJECTS_DIRECTORY));
  stops.push(() => {
    journal.close();
  });
  if (journal.droppedBytes > 0) {
    log.warn('the end of the journal was torn and is dropped', { bytes: journal.droppedBytes });
  }
  return createMemoryStore({ journal });
}

async function openIdentity(options: LocalClusterOptions): Promise<ClusterIdentity> {
  const create = async (): Promise<ClusterIdentity> => ({
    authority: await createAuthority({ nowMs: options.clock.nowMs() }),
    tokens: createTokens(options.random),
  });
  if (options.dataDirectory === undefined) return create();
  return keepIdentity(options.dataDirectory, create);
}
