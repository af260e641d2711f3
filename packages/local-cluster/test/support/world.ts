/**
 * A local cluster's API on virtual time: the real store, rules, handler and clients, without machines or network.
 *
 * Nothing runs in it but what a test starts, so what happens is what the part under test did. `settle` lets everything
 * that is due now happen; time moves only through `clock`.
 */
import { createBootstrapObjects } from '../../src/cluster/bootstrap-objects.ts';
import { createLocalApi } from '../../src/cluster/create-api.ts';
import { createClientFactory } from '../../src/client/in-process-client.ts';
import type {
  ApiAnswer,
  ApiHandler,
  ApiRequest,
  RequestObserver,
} from '../../src/api/request/api-request.ts';
import type { ClientFactory, ClientOutcome, LocalClient } from '../../src/client/local-client.ts';
import type { ApiObject, ObjectRef, ResourceName } from '../../src/objects/api-object.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { settle, VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** The user of `admin`. */
export const ADMINISTRATOR = { name: 'kubernetes-admin', groups: ['system:masters'] } as const;

const SERVER_ERROR: ApiAnswer = {
  kind: 'object',
  status: 500,
  body: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'InternalError',
    message: 'refused by the test',
    code: 500,
  },
};

/** The world. */
export interface LocalWorld {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: MemoryLog;
  readonly store: Store;
  readonly handler: ApiHandler;
  readonly clients: ClientFactory;
  readonly admin: LocalClient;
  /** Clients of which these requests are answered with 500 instead of being carried out; watches are not asked about. */
  readonly clientsWithout: (isRefused: (request: ApiRequest) => boolean) => ClientFactory;
  /** Lets all that is due now happen, without moving time. */
  readonly settle: () => Promise<void>;
  /** Creates; throws with the refusal's message if the API server refuses. */
  readonly create: (resource: ResourceName, object: JsonObject) => Promise<ApiObject>;
  /** The stored object, read past the API. */
  readonly read: (ref: ObjectRef) => ApiObject | undefined;
  /** Events about objects of a name, oldest first, as `Type Reason: message`. */
  readonly eventsAbout: (name: string) => readonly string[];
}

/** Makes a world with the bootstrap namespaces and nothing else. */
export async function createLocalWorld(
  options: {
    readonly seed?: number;
    readonly store?: Store;
    readonly onRequest?: RequestObserver;
  } = {},
): Promise<LocalWorld> {
  const clock = new VirtualClock();
  const random = seededRandom(options.seed ?? 1);
  const store = options.store ?? createMemoryStore();
  const { onRequest } = options;
  const api = { store, clock, random, ...(onRequest === undefined ? {} : { onRequest }) };
  const { handler, clients, versionOf } = createLocalApi(api);
  const admin = clients.clientFor(ADMINISTRATOR);
  await createBootstrapObjects(admin);
  return {
    clock,
    random,
    log: new MemoryLog(),
    store,
    handler,
    clients,
    admin,
    clientsWithout: (isRefused) =>
      createClientFactory({
        versionOf,
        handler: {
          handle: (request) =>
            !request.target.includes('watch=') && isRefused(request)
              ? SERVER_ERROR
              : handler.handle(request),
        },
      }),
    settle: async () => {
      await settle();
      await clock.advance(0);
    },
    create: async (resource, object) => demand(await admin.create(resource, object)),
    read: (ref) => store.get(ref),
    eventsAbout: (name) => eventTexts(store, name),
  };
}

/** The same with the account that every pod of the namespace default needs. */
export async function createPodWorld(): Promise<LocalWorld> {
  const world = await createLocalWorld();
  await world.create('serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'default' },
  });
  return world;
}

/** The object of an outcome; throws with the refusal's message. */
export function demand(outcome: ClientOutcome): ApiObject {
  if (outcome.kind === 'ok') return outcome.object;
  throw new Error(outcome.status.message ?? outcome.status.reason ?? 'refused');
}

function eventTexts(store: Store, name: string): readonly string[] {
  return store
    .list('events')
    .filter((event) => (event['involvedObject'] as { readonly name?: string }).name === name)
    .toSorted((left, right) =>
      Number(BigInt(left.metadata.resourceVersion) - BigInt(right.metadata.resourceVersion)),
    )
    .map((event) => {
      const { type, reason, message } = event as ApiObject & Readonly<Record<string, string>>;
      return `${type} ${reason}: ${message}`;
    });
}
