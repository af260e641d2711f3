/** client-node's watch: what happens after a list, in order, under selectors, until it is closed or refused. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PatchStrategy, Watch, setHeaderOptions } from '@kubernetes/client-node';
import type { KubeConfig, V1ConfigMap } from '@kubernetes/client-node';
import { Clients, configMap, configOf, makeNamespace, type ClientPlace } from './place.ts';
import { Seen } from './seen.ts';

const namespace = 'client-watches';
const PATH = `/api/v1/namespaces/${namespace}/configmaps`;
const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

interface Running {
  /** Phase and name. */
  readonly events: Seen<readonly [string, string]>;
  readonly versions: () => readonly number[];
  readonly ended: Promise<unknown>;
  readonly controller: AbortController;
}

async function startWatch(
  config: KubeConfig,
  query: Record<string, string | number | boolean>,
): Promise<Running> {
  const events: Running['events'] = new Seen();
  const versions: number[] = [];
  const end = Promise.withResolvers<unknown>();
  const controller = await new Watch(config).watch(
    PATH,
    query,
    (phase, object: V1ConfigMap) => {
      versions.push(Number(object.metadata?.resourceVersion));
      events.add([phase, object.metadata?.name ?? '']);
    },
    end.resolve,
  );
  return { events, versions: () => versions, ended: end.promise, controller };
}

const make = (
  clients: Clients,
  name: string,
  labels: Record<string, string>,
): Promise<V1ConfigMap> =>
  clients.core.createNamespacedConfigMap({ namespace, body: configMap(name, { labels }) });
const patch = (clients: Clients, name: string, body: object): Promise<V1ConfigMap> =>
  clients.core.patchNamespacedConfigMap({ namespace, name, body }, MERGE);

/** Defines it. */
export function describeWatches(place: ClientPlace): void {
  describe('client-node: watches', () => {
    const clients = new Clients(place);
    before(() => makeNamespace(clients.config, namespace));
    defineEvents(clients);
    defineEnds(clients);
  });
}

function defineEvents(clients: Clients): void {
  it('begin with what is there, and tell each change in order', async () => {
    const labels = { test: 'order' };
    await make(clients, 'before', labels);
    const { events, versions, controller } = await startWatch(clients.config, {
      labelSelector: 'test=order',
    });
    await events.count(1);
    await make(clients, 'after', labels);
    await patch(clients, 'before', { data: { changed: 'yes' } });
    await clients.core.deleteNamespacedConfigMap({ namespace, name: 'after' });
    assert.deepEqual(await events.count(4), [
      ['ADDED', 'before'],
      ['ADDED', 'after'],
      ['MODIFIED', 'before'],
      ['DELETED', 'after'],
    ]);
    const told = versions();
    assert.deepEqual(
      told,
      told.toSorted((left, right) => left - right),
    );
    controller.abort();
  });

  it('go on where a list ended', async () => {
    const labels = { test: 'resumed' };
    await make(clients, 'listed', labels);
    const labelSelector = 'test=resumed';
    const { metadata } = await clients.core.listNamespacedConfigMap({ namespace, labelSelector });
    await make(clients, 'missed', labels);
    const resourceVersion = metadata?.resourceVersion ?? '';
    const { events, controller } = await startWatch(clients.config, {
      labelSelector,
      resourceVersion,
    });
    assert.deepEqual(await events.count(1), [['ADDED', 'missed']]);
    controller.abort();
  });

  it('tell what leaves and enters a selection as deleted and added', async () => {
    await make(clients, 'mover', { test: 'selected', colour: 'red' });
    const { events, controller } = await startWatch(clients.config, {
      labelSelector: 'test=selected,colour=red',
    });
    await events.count(1);
    for (const colour of ['blue', 'red'])
      await patch(clients, 'mover', { metadata: { labels: { colour } } });
    assert.deepEqual(await events.count(3), [
      ['ADDED', 'mover'],
      ['DELETED', 'mover'],
      ['ADDED', 'mover'],
    ]);
    controller.abort();
  });
}

function defineEnds(clients: Clients): void {
  it('end without an error when their time is over', async () => {
    const { ended } = await startWatch(clients.config, { timeoutSeconds: 1 });
    assert.equal(await ended, null);
  });

  it('end when they are aborted', async () => {
    const { ended, controller } = await startWatch(clients.config, {});
    controller.abort();
    assert.equal(((await ended) as Error | null)?.name ?? 'AbortError', 'AbortError');
  });

  it('are refused to whom may not look', async () => {
    const { ended } = await startWatch(configOf(clients.place, 'watcher'), {});
    assert.equal(((await ended) as { readonly statusCode?: number }).statusCode, 403);
  });
}
