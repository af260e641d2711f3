/** A mirror by list and watch: against the real handler, and through everything that ends a watch. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type {
  ApiAnswer,
  ApiHandler,
  ApiRequest,
  WatchSink,
} from '../../../src/api/request/api-request.ts';
import { createClientFactory } from '../../../src/client/in-process-client.ts';
import type {
  LocalClient,
  ObservedChange,
  Observation,
  Selection,
} from '../../../src/client/local-client.ts';
import { ADMINISTRATOR, createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

const IN_X = { resource: 'configmaps', namespace: 'x' } as const;

/** Passes requests on, and lets a test end or cut the watches that are open. */
class InterruptibleHandler implements ApiHandler {
  readonly asked: string[] = [];
  readonly #handler: ApiHandler;
  readonly #watches = new Map<WatchSink, Cancel>();

  constructor(handler: ApiHandler) {
    this.#handler = handler;
  }

  handle(request: ApiRequest): ApiAnswer {
    const answer = this.#handler.handle(request);
    if (request.method === 'GET') this.asked.push(request.target);
    if (answer.kind !== 'watch') return answer;
    return {
      kind: 'watch',
      open: (sink) => {
        const cancel = answer.open(sink);
        this.#watches.set(sink, cancel);
        return () => {
          this.#watches.delete(sink);
          cancel();
        };
      },
    };
  }

  get watchesCount(): number {
    return this.#watches.size;
  }

  /** Ends all watches, as when their time is over. */
  endWatches(): void {
    for (const sink of [...this.#watches.keys()]) sink.end();
  }

  /** Lets all watches fall silent without an end, as when a connection stalls. */
  stallWatches(): void {
    for (const cancel of this.#watches.values()) cancel();
  }
}

interface Bench {
  readonly world: LocalWorld;
  readonly handler: InterruptibleHandler;
  readonly client: LocalClient;
  readonly put: (name: string, data: Readonly<Record<string, string>>) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  readonly label: (name: string, value: string) => Promise<void>;
}

async function createBench(): Promise<Bench> {
  const world = await createLocalWorld();
  const handler = new InterruptibleHandler(world.handler);
  const { admin } = world;
  await world.create('namespaces', { metadata: { name: 'x' } });
  const refOf = (name: string): { resource: 'configmaps'; namespace: string; name: string } => ({
    ...IN_X,
    name,
  });
  return {
    world,
    handler,
    client: createClientFactory({ handler }).clientFor(ADMINISTRATOR),
    put: async (name, data) => {
      const existing = await admin.get(refOf(name));
      if (existing.kind === 'ok') await admin.update(refOf(name), { ...existing.object, data });
      else await world.create('configmaps', { metadata: { name, namespace: 'x' }, data });
    },
    remove: async (name) => {
      assert.equal((await admin.delete(refOf(name))).kind, 'ok');
    },
    label: async (name, value) => {
      const body = { metadata: { labels: { app: value } } };
      assert.equal((await admin.patch(refOf(name), { type: 'merge', body })).kind, 'ok');
    },
  };
}

/** Observes, checking at each change that the mirror holds it already and that `previous` is what was told before. */
function observeChecked(
  client: LocalClient,
  selection: Selection,
): { readonly observation: Observation; readonly told: string[] } {
  const told: string[] = [];
  const known = new Map<string, unknown>();
  const holder: { observation?: Observation } = {};
  const onChange = ({ type, object, previous }: ObservedChange): void => {
    const { name, namespace } = object.metadata;
    assert.equal(previous, known.get(name), 'previous is what was told before');
    assert.equal(type === 'ADDED', previous === undefined);
    if (type === 'DELETED') known.delete(name);
    else known.set(name, object);
    assert.equal(holder.observation?.get(name, namespace), known.get(name));
    const value = (object['data'] as Readonly<Record<string, string>> | undefined)?.['v'];
    told.push(`${type} ${name} ${value ?? '-'}`);
  };
  holder.observation = client.observe(selection, onChange);
  return { observation: holder.observation, told };
}

const namesIn = (observation: Observation): unknown =>
  [...observation.list()].map(({ metadata }) => metadata.name).sort();

describe('an observation', () => {
  test('tells of what is there as ADDED, never from inside observe, then of what happens', async () => {
    const { client, put, remove } = await createBench();
    await put('a', { v: '1' });
    await put('b', { v: '1' });
    const { observation, told } = observeChecked(client, IN_X);
    assert.equal(told.length, 0);
    await settle();
    assert.deepEqual(told.splice(0), ['ADDED a 1', 'ADDED b 1']);
    await put('a', { v: '2' });
    await put('c', { v: '1' });
    await remove('b');
    await settle();
    assert.deepEqual(told, ['MODIFIED a 2', 'ADDED c 1', 'DELETED b 1']);
    assert.deepEqual(namesIn(observation), ['a', 'c']);
    assert.equal(observation.get('b', 'x'), undefined);
    assert.equal(observation.get('a'), undefined, 'there is no cluster-scoped one');
    observation.stop();
  });

  test('holds stored objects themselves', async () => {
    const { client, put, world } = await createBench();
    await put('a', { v: '1' });
    const { observation } = observeChecked(client, IN_X);
    await put('b', { v: '1' });
    await settle();
    for (const name of ['a', 'b']) {
      assert.equal(observation.get(name, 'x'), world.store.get({ ...IN_X, name }));
    }
    observation.stop();
  });

  test('loses what matches its selector no longer, and gains what begins to', async () => {
    const { client, put, label } = await createBench();
    await put('a', { v: '1' });
    await put('b', { v: '1' });
    await label('a', 'yes');
    const { observation, told } = observeChecked(client, { ...IN_X, labelSelector: 'app=yes' });
    await settle();
    await label('b', 'yes');
    await label('a', 'no');
    await settle();
    assert.deepEqual(told, ['ADDED a 1', 'ADDED b 1', 'DELETED a 1']);
    observation.stop();
  });

  test('is silent once it was stopped, and its watch is closed', async () => {
    const { client, put, handler } = await createBench();
    await put('a', { v: '1' });
    const { observation, told } = observeChecked(client, IN_X);
    await settle();
    assert.equal(handler.watchesCount, 1);
    await put('b', { v: '1' });
    observation.stop();
    await put('c', { v: '1' });
    await settle();
    assert.equal(told.includes('ADDED c 1'), false);
    assert.equal(handler.watchesCount, 0);
    const early = observeChecked(client, IN_X);
    early.observation.stop();
    await settle();
    assert.deepEqual(early.told, []);
  });
});

describe('a watch that ends', () => {
  test('goes on from the last version without a list', async () => {
    const { client, put, handler } = await createBench();
    const { observation, told } = observeChecked(client, IN_X);
    await settle();
    await put('a', { v: '1' });
    await settle();
    handler.asked.length = 0;
    handler.endWatches();
    await put('a', { v: '2' });
    await settle();
    assert.deepEqual(told, ['ADDED a 1', 'MODIFIED a 2']);
    assert.equal(handler.asked.length, 1);
    assert.match(handler.asked[0] ?? '', /watch=true.*allowWatchBookmarks=true.*resourceVersion=/);
    assert.equal(handler.watchesCount, 1);
    observation.stop();
  });

  test('goes on from the last bookmark', async () => {
    const { client, world, handler } = await createBench();
    const { observation, told } = observeChecked(client, IN_X);
    await settle();
    await world.create('namespaces', { metadata: { name: 'y' } });
    await world.clock.advance(61_000);
    world.store.compact();
    handler.asked.length = 0;
    handler.endWatches();
    await settle();
    assert.equal(handler.asked.length, 1, 'no list: the bookmark is newer than the compaction');
    assert.deepEqual(told, []);
    observation.stop();
  });

  test('and whose version has expired is followed by a list, of which the differences are told', async () => {
    const { client, put, remove, world, handler } = await createBench();
    for (const name of ['a', 'b', 'c', 'd']) await put(name, { v: '1' });
    const { observation, told } = observeChecked(client, IN_X);
    await settle();
    told.length = 0;
    handler.stallWatches();
    await put('a', { v: '2' });
    await remove('b');
    await put('e', { v: '1' });
    await remove('d');
    await put('d', { v: '2' });
    await settle();
    assert.equal(told.length, 0);
    world.store.compact();
    handler.asked.length = 0;
    handler.endWatches();
    await settle();
    assert.deepEqual(told, [
      'DELETED b 1',
      'MODIFIED a 2',
      'DELETED d 1',
      'ADDED d 2',
      'ADDED e 1',
    ]);
    assert.deepEqual(
      handler.asked.map((target) => target.includes('watch=true')),
      [true, false, true],
    );
    assert.deepEqual(namesIn(observation), ['a', 'c', 'd', 'e']);
    observation.stop();
  });
});

/** A handler that answers lists and watches as the test says. */
function scripted(lists: readonly (readonly { name: string; uid: string; version: string }[])[]): {
  readonly handler: ApiHandler;
  readonly sinks: WatchSink[];
  readonly watchedFrom: string[];
  readonly cancelledFrom: string[];
} {
  const sinks: WatchSink[] = [];
  const watchedFrom: string[] = [];
  const cancelledFrom: string[] = [];
  let listed = 0;
  return {
    sinks,
    watchedFrom,
    cancelledFrom,
    handler: {
      handle: ({ target }) => {
        const from = /resourceVersion=(\d+)/.exec(target)?.[1];
        if (from !== undefined) {
          watchedFrom.push(from);
          return {
            kind: 'watch',
            open: (sink) => {
              sinks.push(sink);
              // A server that has forgotten says so at once.
              if (from === '10') sink.frame({ type: 'ERROR', object: { code: 410 } });
              return () => {
                cancelledFrom.push(from);
              };
            },
          };
        }
        const list = lists[listed] ?? [];
        listed += 1;
        return {
          kind: 'object',
          status: 200,
          body: {
            kind: 'ConfigMapList',
            apiVersion: 'v1',
            metadata: { resourceVersion: String(listed * 10) },
            items: list.map(({ name, uid, version }) => ({
              metadata: { name, namespace: 'x', uid, resourceVersion: version },
              data: { v: version },
            })),
          },
        };
      },
    },
  };
}

test('after an error frame the new list is compared with what was told', async () => {
  const { handler, watchedFrom, cancelledFrom, sinks } = scripted([
    [
      { name: 'changed', uid: '1', version: '1' },
      { name: 'same', uid: '2', version: '2' },
      { name: 'gone', uid: '3', version: '3' },
      { name: 'anew', uid: '4', version: '4' },
    ],
    [
      { name: 'anew', uid: '5', version: '14' },
      { name: 'changed', uid: '1', version: '15' },
      { name: 'new', uid: '6', version: '16' },
      { name: 'same', uid: '2', version: '2' },
    ],
  ]);
  const client = createClientFactory({ handler }).clientFor(ADMINISTRATOR);
  const { observation, told } = observeChecked(client, IN_X);
  await settle();
  assert.deepEqual(told, [
    'ADDED changed 1',
    'ADDED same 2',
    'ADDED gone 3',
    'ADDED anew 4',
    'DELETED gone 3',
    'DELETED anew 4',
    'ADDED anew 14',
    'MODIFIED changed 15',
    'ADDED new 16',
  ]);
  assert.deepEqual(watchedFrom, ['10', '20']);
  assert.deepEqual(cancelledFrom, ['10']);
  assert.deepEqual(namesIn(observation), ['anew', 'changed', 'new', 'same']);
  const [old, current] = sinks;
  old?.end();
  old?.frame({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '99' } } });
  await settle();
  assert.equal(watchedFrom.length, 2, 'the old watch has no say any more');
  current?.end();
  await settle();
  assert.equal(watchedFrom[2], '20');
  observation.stop();
});
