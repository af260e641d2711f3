/** client-node's informers: a cache that follows the cluster, through its beginning and an interruption. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { CoreV1Api, PatchStrategy, makeInformer, setHeaderOptions } from '@kubernetes/client-node';
import type { Informer, KubeConfig, ObjectCache, V1ConfigMap } from '@kubernetes/client-node';
import { configMap, configOf, makeNamespace } from './place.ts';
import type { ClientPlace } from './place.ts';
import { Seen } from './seen.ts';

const namespace = 'client-informers';
const PATH = `/api/v1/namespaces/${namespace}/configmaps`;
const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** Defines it. */
export function describeInformers(place: ClientPlace): void {
  describe('client-node: informers', () => {
    let config: KubeConfig;
    let core: CoreV1Api;
    let running: Informer<V1ConfigMap>[];
    let lists = 0;
    before(async () => {
      config = configOf(place);
      core = config.makeApiClient(CoreV1Api);
      await makeNamespace(config, namespace);
    });
    beforeEach(() => {
      running = [];
      lists = 0;
    });
    after(async () => {
      for (const informer of running) await informer.stop();
    });

    const make = (name: string, labels: Record<string, string>): Promise<V1ConfigMap> =>
      core.createNamespacedConfigMap({ namespace, body: configMap(name, { labels }) });
    const change = (name: string, value: string): Promise<V1ConfigMap> =>
      core.patchNamespacedConfigMap({ namespace, name, body: { data: { value } } }, MERGE);

    function open(labelSelector: string): {
      readonly informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;
      readonly events: Seen<string>;
      readonly names: () => readonly (string | undefined)[];
    } {
      const list = (): ReturnType<CoreV1Api['listNamespacedConfigMap']> => {
        lists += 1;
        return core.listNamespacedConfigMap({ namespace, labelSelector });
      };
      const informer = makeInformer(config, PATH, list, labelSelector);
      const events = new Seen<string>();
      for (const verb of ['add', 'update', 'delete'] as const) {
        informer.on(verb, ({ metadata }) => {
          events.add(`${verb} ${metadata?.name ?? ''}`);
        });
      }
      running.push(informer);
      const names = (): readonly (string | undefined)[] =>
        informer.list(namespace).map(({ metadata }) => metadata?.name);
      return { informer, events, names };
    }

    it('hold what is there, and follow what happens', async () => {
      const labels = { test: 'follows' };
      await make('there', labels);
      const { informer, events, names } = open('test=follows');
      await informer.start();
      assert.deepEqual([await events.count(1), names()], [['add there'], ['there']]);
      await make('new', labels);
      await change('there', '2');
      await events.count(3);
      assert.equal(informer.get('there', namespace)?.data?.['value'], '2');
      await core.deleteNamespacedConfigMap({ namespace, name: 'there' });
      assert.deepEqual(await events.count(4), [
        'add there',
        'add new',
        'update there',
        'delete there',
      ]);
      assert.deepEqual(names(), ['new']);
    });

    it('see nothing outside of their selection', async () => {
      const { informer, events, names } = open('test=selected');
      await informer.start();
      await make('outside', { test: 'other' });
      await make('inside', { test: 'selected' });
      assert.deepEqual([await events.count(1), names()], [['add inside'], ['inside']]);
    });

    it('catch up after an interruption without listing again', async () => {
      const labels = { test: 'interrupted' };
      for (const name of ['changed', 'removed']) await make(name, labels);
      const { informer, events, names } = open('test=interrupted');
      await informer.start();
      await events.count(2);
      await informer.stop();
      await change('changed', 'meanwhile');
      await core.deleteNamespacedConfigMap({ namespace, name: 'removed' });
      await make('added', labels);
      await informer.start();
      const caughtUp = (await events.count(5)).slice(2);
      assert.deepEqual(caughtUp, ['update changed', 'delete removed', 'add added']);
      assert.deepEqual([names().toSorted(), lists], [['added', 'changed'], 1]);
    });

    it('agree with each other in the end, however many there are', async () => {
      const labels = { test: 'agree' };
      const informers = [open('test=agree'), open('test=agree'), open('test=agree')];
      for (const { informer } of informers) await informer.start();
      const created = Array.from({ length: 12 }, (_, index) => `agreed-${String(index)}`);
      await Promise.all(created.map((name) => make(name, labels)));
      await Promise.all(created.map((name) => change(name, 'last')));
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
  });
}
