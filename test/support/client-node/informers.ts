/** client-node's informers: a cache that follows the cluster, through its beginning and an interruption. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PatchStrategy, makeInformer, setHeaderOptions } from '@kubernetes/client-node';
import type { Informer, ObjectCache, V1ConfigMap } from '@kubernetes/client-node';
import { Clients, configMap, makeNamespace, type ClientPlace } from './place.ts';
import { Seen } from './seen.ts';

const namespace = 'client-informers';
const PATH = `/api/v1/namespaces/${namespace}/configmaps`;
const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

const running: Informer<V1ConfigMap>[] = [];

const make = (
  clients: Clients,
  name: string,
  labels: Record<string, string>,
): Promise<V1ConfigMap> =>
  clients.core.createNamespacedConfigMap({ namespace, body: configMap(name, { labels }) });
const change = (clients: Clients, name: string, value: string): Promise<V1ConfigMap> =>
  clients.core.patchNamespacedConfigMap({ namespace, name, body: { data: { value } } }, MERGE);

interface Opened {
  readonly informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;
  readonly events: Seen<string>;
  readonly names: () => readonly (string | undefined)[];
  readonly listCount: () => number;
}

function open(clients: Clients, labelSelector: string): Opened {
  let lists = 0;
  const list = (): ReturnType<typeof clients.core.listNamespacedConfigMap> => {
    lists += 1;
    return clients.core.listNamespacedConfigMap({ namespace, labelSelector });
  };
  const informer = makeInformer(clients.config, PATH, list, labelSelector);
  const events = new Seen<string>();
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, ({ metadata }) => {
      events.add(`${verb} ${metadata?.name ?? ''}`);
    });
  }
  running.push(informer);
  const names = (): readonly (string | undefined)[] =>
    informer.list(namespace).map(({ metadata }) => metadata?.name);
  return { informer, events, names, listCount: () => lists };
}

/** Defines it. */
export function describeInformers(place: ClientPlace): void {
  describe('client-node: informers', () => {
    const clients = new Clients(place);
    before(() => makeNamespace(clients.config, namespace));
    after(async () => {
      for (const informer of running.splice(0)) await informer.stop();
    });
    defineFollowing(clients);
    defineCatchingUp(clients);
  });
}

/** One informer, one selection. */
function defineFollowing(clients: Clients): void {
  it('hold what is there, and follow what happens', async () => {
    const labels = { test: 'follows' };
    await make(clients, 'there', labels);
    const { informer, events, names } = open(clients, 'test=follows');
    await informer.start();
    assert.deepEqual([await events.count(1), names()], [['add there'], ['there']]);
    await make(clients, 'new', labels);
    await change(clients, 'there', '2');
    await events.count(3);
    assert.equal(informer.get('there', namespace)?.data?.['value'], '2');
    await clients.core.deleteNamespacedConfigMap({ namespace, name: 'there' });
    assert.deepEqual(await events.count(4), [
      'add there',
      'add new',
      'update there',
      'delete there',
    ]);
    assert.deepEqual(names(), ['new']);
  });

  it('see nothing outside of their selection', async () => {
    const { informer, events, names } = open(clients, 'test=selected');
    await informer.start();
    await make(clients, 'outside', { test: 'other' });
    await make(clients, 'inside', { test: 'selected' });
    assert.deepEqual([await events.count(1), names()], [['add inside'], ['inside']]);
  });
}

/** After an interruption, and beside others. */
function defineCatchingUp(clients: Clients): void {
  it('catch up after an interruption without listing again', async () => {
    const labels = { test: 'interrupted' };
    for (const name of ['changed', 'removed']) await make(clients, name, labels);
    const { informer, events, names, listCount } = open(clients, 'test=interrupted');
    await informer.start();
    await events.count(2);
    await informer.stop();
    await change(clients, 'changed', 'meanwhile');
    await clients.core.deleteNamespacedConfigMap({ namespace, name: 'removed' });
    await make(clients, 'added', labels);
    await informer.start();
    const caughtUp = (await events.count(5)).slice(2);
    assert.deepEqual(caughtUp, ['update changed', 'delete removed', 'add added']);
    assert.deepEqual([names().toSorted(), listCount()], [['added', 'changed'], 1]);
  });

  it('agree with each other in the end, however many there are', async () => {
    const labels = { test: 'agree' };
    const informers = [
      open(clients, 'test=agree'),
      open(clients, 'test=agree'),
      open(clients, 'test=agree'),
    ];
    for (const { informer } of informers) await informer.start();
    const created = Array.from({ length: 12 }, (_, index) => `agreed-${String(index)}`);
    await Promise.all(created.map((name) => make(clients, name, labels)));
    await Promise.all(created.map((name) => change(clients, name, 'last')));
    const isCurrent = (cached: V1ConfigMap | undefined): boolean =>
      cached?.data?.['value'] === 'last';
    for (const { informer, events } of informers) {
      await events.until(() => created.every((name) => isCurrent(informer.get(name, namespace))));
    }
    const versions = informers.map(({ informer }) =>
      created.map((name) => informer.get(name, namespace)?.metadata?.resourceVersion),
    );
    assert.deepEqual([versions[1], versions[2]], [versions[0], versions[0]]);
  });
}
