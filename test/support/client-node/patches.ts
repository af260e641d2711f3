/** client-node's patches: strategic, merge, JSON and server-side apply, each by the rules that its name promises. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';
import { Clients, configMap, daemonSet, makeNamespace, refusalOf } from './place.ts';
import type { ClientPlace } from './place.ts';

const namespace = 'client-patches';

const imagesOf = ({ spec }: V1DaemonSet): unknown =>
  Object.fromEntries(
    (spec?.template.spec?.containers ?? []).map(({ name, image }) => [name, image?.split('/')[1]]),
  );

const as = (strategy: PatchStrategy): ReturnType<typeof setHeaderOptions> =>
  setHeaderOptions('Content-Type', strategy);
const containers = (list: readonly object[]): object => ({
  spec: { template: { spec: { containers: list } } },
});

/** Defines it. */
export function describePatches(place: ClientPlace): void {
  describe('client-node: patches', () => {
    const clients = new Clients(place);
    before(() => makeNamespace(clients.config, namespace));
    defineMerges(clients);
    defineAllOrNothing(clients);
    defineApply(clients);
  });
}

/** Strategic and merge patches. */
function defineMerges(clients: Clients): void {
  const patchSet = (name: string, body: unknown, strategy: PatchStrategy): Promise<V1DaemonSet> =>
    clients.apps.patchNamespacedDaemonSet({ namespace, name, body }, as(strategy));
  it('merge lists by their keys when strategic', async () => {
    const name = 'strategic';
    await clients.apps.createNamespacedDaemonSet({ namespace, body: daemonSet(name) });
    const { StrategicMergePatch } = PatchStrategy;
    const changed = await patchSet(
      name,
      containers([{ name: 'helper', image: 'registry.example.com/helper:2' }]),
      StrategicMergePatch,
    );
    assert.deepEqual(imagesOf(changed), { agent: 'agent:1', helper: 'helper:2' });
    const removed = await patchSet(
      name,
      containers([{ name: 'helper', $patch: 'delete' }]),
      StrategicMergePatch,
    );
    assert.deepEqual(imagesOf(removed), { agent: 'agent:1' });
  });

  it('replace lists, and remove what is null, when merging', async () => {
    const name = 'merge';
    await clients.apps.createNamespacedDaemonSet({ namespace, body: daemonSet(name) });
    const only = [{ name: 'only', image: 'registry.example.com/only:1' }];
    const changed = await patchSet(name, containers(only), PatchStrategy.MergePatch);
    assert.deepEqual(imagesOf(changed), { only: 'only:1' });
    const body = configMap(name, { data: { kept: '1', removed: '1' } });
    await clients.core.createNamespacedConfigMap({ namespace, body });
    const { data } = await clients.core.patchNamespacedConfigMap(
      { namespace, name, body: { data: { removed: null, added: '1' } } },
      as(PatchStrategy.MergePatch),
    );
    assert.deepEqual(data, { kept: '1', added: '1' });
  });
}

/** JSON patches, and preconditions. */
function defineAllOrNothing(clients: Clients): void {
  it('do all of a JSON patch or nothing', async () => {
    const name = 'json';
    const made = configMap(name, { data: { a: '1' } });
    await clients.core.createNamespacedConfigMap({ namespace, body: made });
    const { JsonPatch } = PatchStrategy;
    const patch = (...body: object[]): Promise<V1ConfigMap> =>
      clients.core.patchNamespacedConfigMap({ namespace, name, body }, as(JsonPatch));
    const failing = patch(
      { op: 'add', path: '/data/b', value: '2' },
      { op: 'test', path: '/data/a', value: 'other' },
    );
    await refusalOf(failing, 422);
    const { data } = await patch(
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'move', from: '/data/a', path: '/data/c' },
    );
    assert.deepEqual(data, { c: '1' });
  });

  it('keep the precondition that they carry', async () => {
    const name = 'fenced';
    const { metadata } = await clients.core.createNamespacedConfigMap({
      namespace,
      body: configMap(name),
    });
    const patch = (value: string): Promise<V1ConfigMap> => {
      const fence = { resourceVersion: metadata?.resourceVersion };
      const body = { metadata: fence, data: { value } };
      return clients.core.patchNamespacedConfigMap(
        { namespace, name, body },
        as(PatchStrategy.MergePatch),
      );
    };
    await patch('first');
    assert.equal((await refusalOf(patch('late'), 409)).reason, 'Conflict');
  });
}

/** Server-side apply. */
function defineApply(clients: Clients): void {
  const name = 'applied';
  const apply = (
    data: Record<string, string>,
    fieldManager: string,
    force = false,
  ): Promise<V1ConfigMap> => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
    return clients.core.patchNamespacedConfigMap(
      { namespace, name, body, fieldManager, force },
      as(PatchStrategy.ServerSideApply),
    );
  };

  describe('that apply', () => {
    it('make the object, and know who owns which field', async () => {
      const { data, metadata } = await apply({ ours: '1', shared: '1' }, 'one');
      assert.deepEqual(data, { ours: '1', shared: '1' });
      const owners = metadata?.managedFields?.map(({ manager, operation }) => [manager, operation]);
      assert.deepEqual(owners, [['one', 'Apply']]);
    });

    it('are told of a conflict, unless they force', async () => {
      const { reason, details } = await refusalOf(apply({ shared: '2' }, 'two'), 409);
      const fields = details?.causes?.map(({ field }) => field);
      assert.deepEqual([reason, fields], ['Conflict', ['.data.shared']]);
      const { data } = await apply({ shared: '2' }, 'two', true);
      assert.deepEqual(data, { ours: '1', shared: '2' });
    });

    it('remove what its owner no longer applies, and nothing of others', async () => {
      const { data } = await apply({ mine: '3' }, 'one');
      assert.deepEqual(data, { shared: '2', mine: '3' });
    });

    it('change nothing when nothing is new', async () => {
      const first = await apply({ mine: '3' }, 'one');
      const second = await apply({ mine: '3' }, 'one');
      assert.equal(second.metadata?.resourceVersion, first.metadata?.resourceVersion);
    });
  });
}
