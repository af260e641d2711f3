/**
 * infra/mirror on a real API server: the shipped kind takes every status that is written, the shipped rights are enough and none is
 * too many, and admission lets nobody else say how a fleet stands (issue 18, ADR 0066).
 *
 * Shown by the deployed code, as the service account of the functions. No loop runs.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { HttpsClusterConnector } from '../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { createMirrorConnector } from '../../../src/adapters/kubernetes/api/mirror-access.ts';
import { createFleetNotifier } from '../../../src/app/fleet/notify/fleet-notifier.ts';
import { createMirrorMemory } from '../../../src/app/fleet/notify/mirror-show.ts';
import type { MirrorMemory } from '../../../src/app/fleet/notify/mirror-show.ts';
import type { FleetRecord } from '../../../src/core/fleet/rollout/fleet-record.ts';
import { NO_MIRROR } from '../../../src/core/fleet/told/fleet-mirror.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { FleetNotifier } from '../../../src/ports/fleet-notifier.ts';
import {
  STANDINGS,
  fleetRecord,
  largestRecord,
  standing,
} from '../../support/fleet-record-samples.ts';
import { kstatusOf } from '../../support/kstatus.ts';
import { RegistryInProcess } from '../../support/registry-in-process.ts';
import { MemoryViewStore } from '../../support/memory-view-store.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';
import { createApiClient } from '../control-plane/api.ts';
import type { ApiClient, ApiResponse, KubernetesObject } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { messageOf } from '../rights/admission-stage.ts';
import { readRules, rightsOf, tokenWith, withoutRight } from '../rights/rbac-rules.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';

const MIRRORS = '/apis/rollcall.dev/v1alpha1/namespaces/monitoring/fleetdaemonsets';
const POLL = { deadlineMs: 60_000 };
const FILES = ['crd.yaml', 'rbac.yaml', 'admission.yaml'].map((file) =>
  repositoryPath(`infra/mirror/${file}`),
);
/** The functions' rules; the other ClusterRole is for people. */
const RULES = { cluster: readRules('infra/mirror/rbac.yaml').cluster.slice(0, 3), namespaced: [] };

describe('the mirror of fleets on a real API server', { timeout: 300_000 }, () => {
  const log = new MemoryLog();
  const metrics = new MemoryMetrics();
  const setting = new RegistryInProcess().mirrors;
  const clock = createSystemClock({ timers: 'unreferenced' });
  const clusters = new HttpsClusterConnector({ clock, egress: { loopback: 'allowed' } });
  const connector = createMirrorConnector(clusters);
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let registration: ClusterRegistration;
  let memory: MirrorMemory;
  let version = 10;

  const registered = (token: string, id: string, uid: string): ClusterRegistration => ({
    id: clusterId(id),
    clusterUid: clusterUid(uid),
    mode: 'observe',
    isFrozen: false,
    configVersion: 1,
    senderRoleId: 'AROATEST',
    server: controlPlane.server,
    caPem: controlPlane.caPem,
    authentication: { kind: 'bearer', token },
    labels: {},
  });
  const audienceAs = (as: ClusterRegistration): FleetNotifier => {
    memory = createMirrorMemory();
    return createFleetNotifier({
      process: { clock, log, metrics },
      logItems: { view: new MemoryViewStore(), memory },
      mirror: {
        mirrors: setting,
        registry: { readCluster: () => Promise.resolve(as) },
        connector,
        memory,
      },
    });
  };
  /** Shows a record, as a later one than all before, by a process that just began. */
  const show = async (record: FleetRecord): Promise<KubernetesObject> => {
    version += 1;
    await audienceAs(registration).show({ ...record, version });
    const { trouble } = await setting.readMirror();
    assert.equal(trouble, undefined, JSON.stringify(trouble));
    return admin.get(`${MIRRORS}/${record.name}`);
  };
  /** As an operator names the cluster anew. */
  const forget = async (): Promise<void> => {
    const { version: stored } = await setting.readMirror();
    await setting.writeMirror({ ...NO_MIRROR, version: stored, cluster: registration.id });
  };
  const conditionOf = (object: KubernetesObject, type: string): JsonObject => {
    const { conditions } = object['status'] as { readonly conditions: readonly JsonObject[] };
    return conditions.find((one) => one['type'] === type) ?? assert.fail(type);
  };
  const isDenied = (response: ApiResponse, why: RegExp): void => {
    assert.equal(response.status, 422, `${String(response.status)}: ${messageOf(response)}`);
    assert.match(messageOf(response), why);
  };

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    await applyFiles(admin, FILES);
    await admin.post('/api/v1/namespaces', { metadata: { name: 'monitoring' } });
    const { uid = '' } = (await admin.get('/api/v1/namespaces/kube-system')).metadata;
    registration = registered(controlPlane.tokens.functions, 'management', uid);
    await setting.writeMirror({ ...NO_MIRROR, cluster: registration.id });
    // The kind is served, and the policy in force, a moment after they were written.
    const probe = { apiVersion: 'rollcall.dev/v1alpha1', kind: 'FleetDaemonSet' };
    const body = { ...probe, metadata: { name: 'probe' }, spec: { generation: 1 } };
    await pollUntil({ ...POLL, description: 'infra/mirror in force' }, async () => {
      const path = `${MIRRORS}?dryRun=All`;
      const response = await admin.request({ method: 'POST', path, body });
      return response.status === 422 ? true : undefined;
    });
    await pollUntil({ ...POLL, description: 'the rights of the functions' }, async () => {
      const connection = await connector.connectMirror(registration);
      if (connection.kind === 'refused') return undefined;
      const read = await connection.mirrors.readMirror({ namespace: 'monitoring', name: 'no' });
      return read.kind === 'missing' ? true : undefined;
    });
  });
  after(async () => {
    admin.close();
    clusters.forget(registration.id);
    await controlPlane.stop();
  });

  it('keeps every way in which a fleet may stand, whole, under the generation of the object', async () => {
    for (const [name, record] of Object.entries({ ...STANDINGS, largest: largestRecord() })) {
      const object = await show(record);
      const { generation } = object.metadata;
      assert.equal(
        jsonMember(object['status'] as JsonObject, 'observedGeneration'),
        generation,
        name,
      );
      const conditions = jsonMember(object['status'] as JsonObject, 'conditions');
      assert.equal((conditions as readonly unknown[]).length, 7, name);
    }
    assert.equal(metrics.sum('FleetNotifierFailures'), 0);
  });

  it('moves lastTransitionTime with the status alone, as the API server keeps it', async () => {
    const first = conditionOf(await show(standing('updating')), 'Progressing');
    const second = conditionOf(await show(standing('soaking')), 'Progressing');
    assert.equal(second['lastTransitionTime'], first['lastTransitionTime']);
    assert.equal(second['reason'], 'Soaking');
  });

  it('raises the generation with a release, and with nothing else', async () => {
    const before = (await show(standing('done'))).metadata.generation ?? 0;
    assert.equal((await show(standing('halted'))).metadata.generation, before);
    const release = { ...fleetRecord().release, generation: 9, contentHash: 'other' };
    assert.equal((await show(fleetRecord({ release }))).metadata.generation, before + 1);
  });

  it('writes nothing where nothing changed, in a new process neither', async () => {
    const { resourceVersion } = (await show(standing('done'))).metadata;
    await audienceAs(registration).show({ ...standing('done'), version });
    const { metadata } = await admin.get(`${MIRRORS}/agent`);
    assert.equal(metadata.resourceVersion, resourceVersion);
  });

  it('takes an object that a GitOps tool made, which is in progress until it is written', async () => {
    const metadata = { name: 'from-git', labels: { owner: 'argocd' } };
    const body = { apiVersion: 'rollcall.dev/v1alpha1', kind: 'FleetDaemonSet', metadata };
    const made = await admin.post(MIRRORS, body);
    assert.equal(kstatusOf(made as unknown as JsonObject), 'InProgress');
    const shown = await show({ ...standing('done'), name: 'from-git' });
    assert.equal(kstatusOf(shown as unknown as JsonObject), 'Current');
    assert.equal(shown.metadata.labels?.['owner'], 'argocd');
    // Applied again, as tools do: neither spec nor status is taken away.
    const again = await admin.request({
      method: 'PATCH',
      path: `${MIRRORS}/from-git?fieldManager=argocd-controller&force=true`,
      contentType: 'application/apply-patch+yaml',
      body,
    });
    assert.equal(again.status, 200, messageOf(again));
    assert.equal(kstatusOf(again.body as JsonObject), 'Current');
  });

  it('lets nobody else write a spec or a status, and everybody label and delete', async () => {
    await show(standing('halted'));
    const path = `${MIRRORS}/agent`;
    const patch = (at: string, body: JsonObject): Promise<ApiResponse> =>
      admin.request({ method: 'PATCH', path: at, body });
    isDenied(await patch(path, { spec: { generation: 99 } }), /is a copy that Rollcall writes/);
    isDenied(await patch(path, { spec: null }), /is a copy that Rollcall writes/);
    isDenied(
      await patch(`${path}/status`, { status: { state: 'Completed' } }),
      /by Rollcall alone/,
    );
    const bare = { apiVersion: 'rollcall.dev/v1alpha1', kind: 'FleetDaemonSet' };
    const body = { ...bare, metadata: { name: 'made' }, spec: { generation: 1 } };
    isDenied(await admin.request({ method: 'POST', path: MIRRORS, body }), /is a copy/);
    assert.equal((await patch(path, { metadata: { labels: { team: 'a' } } })).status, 200);
    assert.equal((await admin.request({ method: 'DELETE', path })).status, 200);
    assert.equal(
      jsonMember((await show(standing('done')))['status'] as JsonObject, 'state'),
      'Completed',
    );
  });

  it('removes the mirror of a FleetDaemonSet that is gone', async () => {
    await show(standing('done'));
    await audienceAs(registration).hide(standing('done'));
    const { status } = await admin.request({ method: 'GET', path: `${MIRRORS}/agent` });
    assert.equal(status, 404);
  });

  it('says of a namespace that is missing that it is, and goes on with the others', async () => {
    const audience = audienceAs(registration);
    await audience.show(fleetRecord({ namespace: 'nowhere' }));
    const { trouble } = await setting.readMirror();
    assert.match(trouble?.message ?? '', /no namespace nowhere/);
    await audience.show(fleetRecord({ version: (version += 1) }));
    assert.equal((await admin.request({ method: 'GET', path: `${MIRRORS}/agent` })).status, 200);
    await forget();
  });

  it('has its rights tried without the policy, which takes other accounts for strangers', async () => {
    const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
    await admin.delete(`${bindings}/rollcall-mirror`);
  });

  for (const [index, right] of rightsOf(RULES).entries()) {
    it(`fails without the right to ${right.verb} ${right.resource}`, async () => {
      const name = `less-${String(index)}`;
      const token = await tokenWith(admin, name, withoutRight(RULES, right));
      const as = registered(token, name, registration.clusterUid);
      const isNamed = async (): Promise<boolean> => {
        const { trouble } = await setting.readMirror();
        return new RegExp(`cannot ${right.verb} resource`).test(trouble?.message ?? '');
      };
      // RBAC is known a moment after it was written: everything but what is missing works by then.
      await pollUntil({ ...POLL, description: 'a refusal that names the right' }, async () => {
        const audience = audienceAs(as);
        const record = fleetRecord({ name, version: (version += 1) });
        await audience.show(record);
        const isShowRefused = await isNamed();
        await audience.hide(record);
        const isRefused = isShowRefused || (await isNamed());
        await forget();
        return isRefused ? true : undefined;
      });
    });
  }
});
