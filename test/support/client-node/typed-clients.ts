/** client-node's generated clients: what a user expects of creating, reading, listing, replacing and deleting. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { CoreV1Api, KubernetesObjectApi, loadAllYaml } from '@kubernetes/client-node';
import type { KubernetesObject } from '@kubernetes/client-node';
import { Clients, configMap, configOf, daemonSet, makeNamespace, refusalOf } from './place.ts';
import type { ClientPlace } from './place.ts';

const namespace = 'client-typed';
const MANIFEST = `
apiVersion: v1
kind: ConfigMap
metadata: { name: of-a-manifest, namespace: ${namespace} }
data: { answer: "42" }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: of-a-manifest, namespace: ${namespace} }
rules: [{ apiGroups: [""], resources: [configmaps], verbs: [get] }]
`;

/** Defines it. */
export function describeTypedClients(place: ClientPlace): void {
  describe('client-node: typed clients', () => {
    const clients = new Clients(place);
    before(() => makeNamespace(clients.config, namespace));
    defineReading(clients);
    defineRefusals(clients);
    defineStatus(clients);
    defineDeleting(clients);
    defineManifests(clients);
  });
}

/** Made, read, listed. */
function defineReading(clients: Clients): void {
  it('get back what they made, with times as dates', async () => {
    const body = configMap('made', { data: { key: 'välue' } });
    const made = await clients.core.createNamespacedConfigMap({ namespace, body });
    assert.ok(made.metadata?.creationTimestamp instanceof Date);
    assert.deepEqual(await clients.core.readNamespacedConfigMap({ namespace, name: 'made' }), made);
    assert.deepEqual(made.data, { key: 'välue' });
  });

  it('list by labels and by fields', async () => {
    for (const [name, team] of Object.entries({ 'of-a': 'a', 'of-b': 'b' })) {
      const body = configMap(name, { labels: { team } });
      await clients.core.createNamespacedConfigMap({ namespace, body });
    }
    const byLabel = await clients.core.listNamespacedConfigMap({
      namespace,
      labelSelector: 'team in (b)',
    });
    const byField = await clients.core.listNamespacedConfigMap({
      namespace,
      fieldSelector: 'metadata.name=of-a',
    });
    const names = (list: typeof byLabel): unknown =>
      list.items.map(({ metadata }) => metadata?.name);
    assert.deepEqual([names(byLabel), names(byField)], [['of-b'], ['of-a']]);
  });

  it('page through a list', async () => {
    const wanted = ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'];
    for (const name of wanted) {
      const body = configMap(name, { labels: { paged: 'yes' } });
      await clients.core.createNamespacedConfigMap({ namespace, body });
    }
    const pages: unknown[][] = [];
    let next: string | undefined;
    do {
      const { items, metadata } = await clients.core.listNamespacedConfigMap({
        namespace,
        labelSelector: 'paged=yes',
        limit: 2,
        ...(next === undefined ? {} : { _continue: next }),
      });
      pages.push(items.map((item) => item.metadata?.name));
      next = metadata?._continue === '' ? undefined : metadata?._continue;
    } while (next !== undefined);
    assert.deepEqual(pages, [wanted.slice(0, 2), wanted.slice(2, 4), wanted.slice(4)]);
  });
}

/** Why not. */
function defineRefusals(clients: Clients): void {
  it('are told what is there already, what is not, and what may not be done', async () => {
    const body = configMap('once');
    await clients.core.createNamespacedConfigMap({ namespace, body });
    const again = await refusalOf(clients.core.createNamespacedConfigMap({ namespace, body }), 409);
    const gone = await refusalOf(
      clients.core.readNamespacedConfigMap({ namespace, name: 'gone' }),
      404,
    );
    const watcher = configOf(clients.place, 'watcher').makeApiClient(CoreV1Api);
    const denied = await refusalOf(watcher.createNamespacedConfigMap({ namespace, body }), 403);
    const reasons = [again.reason, gone.reason, denied.reason];
    assert.deepEqual(reasons, ['AlreadyExists', 'NotFound', 'Forbidden']);
  });

  it('are told which field is wrong', async () => {
    const body = daemonSet('wrong');
    const template = body.spec?.template;
    if (template?.metadata !== undefined) template.metadata.labels = { app: 'other' };
    const { reason, details } = await refusalOf(
      clients.apps.createNamespacedDaemonSet({ namespace, body }),
      422,
    );
    const fields = details?.causes?.map(({ field }) => field);
    assert.deepEqual([reason, fields], ['Invalid', ['spec.template.metadata.labels']]);
  });

  it('replace only what they have read', async () => {
    const name = 'replaced';
    const read = await clients.core.createNamespacedConfigMap({ namespace, body: configMap(name) });
    const first = { namespace, name, body: { ...read, data: { by: 'first' } } };
    await clients.core.replaceNamespacedConfigMap(first);
    const late = { namespace, name, body: { ...read, data: { by: 'late' } } };
    const { reason } = await refusalOf(clients.core.replaceNamespacedConfigMap(late), 409);
    const now = await clients.core.readNamespacedConfigMap({ namespace, name });
    assert.deepEqual([reason, now.data], ['Conflict', { by: 'first' }]);
  });
}

function defineStatus(clients: Clients): void {
  it('see defaults and generations, and status apart from spec', async () => {
    const name = 'agent';
    const made = await clients.apps.createNamespacedDaemonSet({ namespace, body: daemonSet(name) });
    assert.deepEqual(
      [
        { ...made.spec?.updateStrategy?.rollingUpdate },
        made.spec?.revisionHistoryLimit,
        made.metadata?.generation,
      ],
      [{ maxSurge: 0, maxUnavailable: 1 }, 10, 1],
    );
    const patch = { status: { observedGeneration: 1 }, spec: { minReadySeconds: 9 } };
    const body = [
      {
        op: 'replace',
        path: '/status/observedGeneration',
        value: patch.status.observedGeneration,
      },
      { op: 'add', path: '/spec/minReadySeconds', value: patch.spec.minReadySeconds },
    ];
    const told = await clients.apps.patchNamespacedDaemonSetStatus({ namespace, name, body });
    assert.deepEqual(
      [told.status?.observedGeneration, told.spec?.minReadySeconds, told.metadata?.generation],
      [1, undefined, 1],
    );
    const spec = await clients.apps.patchNamespacedDaemonSet({
      namespace,
      name,
      body: body.slice(1),
    });
    assert.deepEqual([spec.spec?.minReadySeconds, spec.metadata?.generation], [9, 2]);
  });
}

/** Dry runs and deletes. */
function defineDeleting(clients: Clients): void {
  it('try without doing, and delete only the object that is meant', async () => {
    const name = 'tried';
    const dry = { namespace, body: configMap(name), dryRun: 'All' };
    await clients.core.createNamespacedConfigMap(dry);
    await refusalOf(clients.core.readNamespacedConfigMap({ namespace, name }), 404);
    const { metadata } = await clients.core.createNamespacedConfigMap({
      namespace,
      body: configMap(name),
    });
    const other = { preconditions: { uid: '00000000-0000-4000-8000-000000000000' } };
    await refusalOf(clients.core.deleteNamespacedConfigMap({ namespace, name, body: other }), 409);
    const body = { preconditions: { uid: metadata?.uid ?? '' } };
    await clients.core.deleteNamespacedConfigMap({ namespace, name, body });
    await refusalOf(clients.core.readNamespacedConfigMap({ namespace, name }), 404);
  });

  it('delete a selection', async () => {
    for (const name of ['swept-1', 'swept-2', 'stays']) {
      const body = configMap(name, { labels: { swept: String(name !== 'stays') } });
      await clients.core.createNamespacedConfigMap({ namespace, body });
    }
    await clients.core.deleteCollectionNamespacedConfigMap({
      namespace,
      labelSelector: 'swept=true',
    });
    const { items } = await clients.core.listNamespacedConfigMap({
      namespace,
      labelSelector: 'swept',
    });
    assert.deepEqual(
      items.map(({ metadata }) => metadata?.name),
      ['stays'],
    );
  });
}

/** Whatever a file names. */
function defineManifests(clients: Clients): void {
  it('take manifests of any kind, by discovery', async () => {
    const client = KubernetesObjectApi.makeApiClient(clients.config);
    // As loadAllYaml types it.
    for (const object of loadAllYaml(MANIFEST) as KubernetesObject[]) await client.create(object);
    const header = { metadata: { name: 'of-a-manifest', namespace } };
    const map = { apiVersion: 'v1', kind: 'ConfigMap', ...header };
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', ...header };
    const readMap: KubernetesObject & { readonly data?: unknown } = await client.read(map);
    assert.deepEqual(readMap.data, { answer: '42' });
    assert.equal((await client.read(role)).metadata?.namespace, namespace);
    for (const object of [map, role]) {
      await client.delete(object);
      await refusalOf(client.read(object), 404);
    }
  });
}
