/**
 * Who may edit one namespace forges the mark of another controller in the managedFields of his own DaemonSet, which a real API
 * server takes from a request as it is. His DaemonSet pauses, for ten minutes at most; nobody else's does.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { createApiClient, type ApiClient, type KubernetesObject } from '../control-plane/api.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { daemonSetPath, podPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import {
  daemonSetUid,
  expectPodsOn,
  expectStatus,
  livePodsByNode,
} from '../scenarios/expectations.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';

const TENANT = { namespace: 'tenant', name: 'forged' };
const OTHER = { namespace: 'other', name: 'agent' };
const NODES_COUNT = 3;
const DEADLINE_MS = 60_000;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

interface Condition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

describe(
  'a tenant who forges managedFields',
  { timeout: 600_000, skip: skipWithoutTools([TOOLS.go]) },
  () => {
    let stage: Stage;
    let tenant: ApiClient;
    let nodes: readonly string[];
    const uids = { tenant: '', other: '' };

    before(async () => {
      stage = await openStage({ backend: 'real', name: 'tenant', nodes: plainNodes(NODES_COUNT) });
      const { admin } = stage;
      for (const daemonSet of [TENANT, OTHER]) {
        await admin.post('/api/v1/namespaces', { metadata: { name: daemonSet.namespace } });
        await admin.post(
          daemonSetPath({ namespace: daemonSet.namespace }),
          testDaemonSet(daemonSet),
        );
      }
      uids.tenant = await daemonSetUid(stage, TENANT);
      uids.other = await daemonSetUid(stage, OTHER);
      const listed = await admin.list('/api/v1/nodes');
      nodes = listed.items.map(({ metadata }) => metadata.name);
      for (const uid of Object.values(uids)) {
        await expectPodsOn(stage, uid, nodes);
        await expectStatus(stage, uid, { numberReady: NODES_COUNT });
      }
      tenant = await clientWithEdit(stage);
    });

    after(async () => {
      (tenant as ApiClient | undefined)?.close();
      await (stage as Stage | undefined)?.close();
    });

    it('gains nothing by a time that has not come', async () => {
      await forge(tenant, '2099-01-01T00:00:00Z', 'observedGeneration');
      await deletePod(tenant, uids.tenant);
      await othersGoOn('registry.example/agent:2');
      await expectPodsOn(stage, uids.tenant, { nodes, deadlineMs: DEADLINE_MS });
    });

    it('pauses his own DaemonSet by a time of now, is told so on it, and nobody else is concerned', async () => {
      // Of a counter that no pod moves: a status that Rollcall writes meanwhile would make the entry its own.
      await forge(tenant, `${new Date().toISOString().slice(0, 19)}Z`, 'desiredNumberScheduled');
      await deletePod(tenant, uids.tenant);
      const notice = await pollUntil(
        { deadlineMs: DEADLINE_MS, description: 'a notice' },
        async () => {
          const { status } = await tenant.get(daemonSetPath(TENANT));
          const { conditions = [] } = status as { readonly conditions?: readonly Condition[] };
          return conditions.find(({ type }) => type === 'RollcallPaused');
        },
      );
      assert.equal(notice.reason, 'StatusWrittenByAnother');
      assert.match(notice.message, /kube-controller-manager/);
      await othersGoOn('registry.example/agent:3');
      assert.equal(livePodsByNode(stage.observer, uids.tenant).size, NODES_COUNT - 1);
      assert.equal(stage.activity.counted('ConflictSuspected'), 1);
    });

    it('is rid of the forged entry by the patch of docs/modes.md, and no field changes', async () => {
      const page = await readFile(new URL('../../../docs/modes.md', import.meta.url), 'utf8');
      const [, patch = ''] = /--type=json -p '([^']+managedFields[^']+)'/.exec(page) ?? [];
      const before = await tenant.get(daemonSetPath(TENANT));
      const { status } = await tenant.request({
        method: 'PATCH',
        path: daemonSetPath(TENANT),
        contentType: 'application/json-patch+json',
        body: JSON.parse(patch) as unknown,
      });
      assert.equal(status, 200);
      const after = await tenant.get(daemonSetPath(TENANT));
      assert.ok(managersOf(after).every(({ manager }) => manager !== 'kube-controller-manager'));
      assert.deepEqual(after['spec'], before['spec']);
      assert.equal(after.metadata.generation, before.metadata.generation);
    });

    /** In the other namespace a deleted pod comes back, a set image rolls; and the cluster is as it was. */
    async function othersGoOn(image: string): Promise<void> {
      const { admin, engine, activity } = stage;
      await deletePod(admin, uids.other);
      await expectPodsOn(stage, uids.other, { nodes, deadlineMs: DEADLINE_MS });
      await admin.request({
        method: 'PATCH',
        path: daemonSetPath(OTHER),
        contentType: 'application/strategic-merge-patch+json',
        body: { spec: { template: { spec: { containers: [{ name: 'agent', image }] } } } },
      });
      await expectStatus(stage, uids.other, {
        updatedNumberScheduled: NODES_COUNT,
        numberAvailable: NODES_COUNT,
      });
      const registration = await engine().registry.readCluster(clusterId('conformance'));
      assert.equal(registration?.rival, undefined);
      assert.equal(activity.counted('ConflictingControllers'), 0);
    }

    async function deletePod(client: ApiClient, uid: string): Promise<void> {
      const [pods = []] = [...livePodsByNode(stage.observer, uid).values()];
      const [victim] = pods;
      assert.ok(victim !== undefined);
      await client.delete(podPath(victim));
      await stage.observer.waitUntil(({ pods: seen }) => !seen.has(victim.uid), {
        deadlineMs: DEADLINE_MS,
        description: 'the deleted pod is gone',
      });
    }
  },
);

/** A client of a ServiceAccount that is bound to the ClusterRole `edit` in the tenant's namespace, and to nothing else. */
async function clientWithEdit({ admin, cluster }: Stage): Promise<ApiClient> {
  const { namespace } = TENANT;
  const name = 'editor';
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.post(account, { metadata: { name } });
  await admin.post(`${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  const { status } = await admin.post(`${account}/${name}/token`, {
    spec: { expirationSeconds: 3600 },
  });
  const { token } = status as { readonly token: string };
  const { server, caPem } = cluster.access;
  const client = createApiClient({ server, caPem, token });
  const description = 'the right to read, and not to write a status';
  await pollUntil({ deadlineMs: DEADLINE_MS, description }, () =>
    client.get(daemonSetPath(TENANT)),
  );
  const path = `${daemonSetPath(TENANT)}/status`;
  const refused = await client.request({ method: 'PATCH', path, body: { status: {} } });
  assert.equal(refused.status, 403, 'edit gives no right to write a status');
  return client;
}

/**
 * Writes the entry that a built-in controller would have made by writing a status, by a patch of metadata alone. An API
 * server takes no change of nothing but times, so each forgery has another counter.
 */
async function forge(tenant: ApiClient, time: string, counter: string): Promise<void> {
  const manager = 'kube-controller-manager';
  const entry = {
    manager,
    operation: 'Update',
    apiVersion: 'apps/v1',
    subresource: 'status',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:status': { [`f:${counter}`]: {} } },
  };
  const present = managersOf(await tenant.get(daemonSetPath(TENANT)));
  const managedFields = [...present.filter((each) => each.manager !== manager), entry];
  const patched = await tenant.patch(daemonSetPath(TENANT), { metadata: { managedFields } });
  assert.ok(managersOf(patched).some((each) => each.manager === manager && each.time === time));
}

interface Entry {
  readonly manager?: string;
  readonly time?: string;
}

function managersOf({ metadata }: KubernetesObject): readonly Entry[] {
  return (metadata as { readonly managedFields?: readonly Entry[] }).managedFields ?? [];
}
