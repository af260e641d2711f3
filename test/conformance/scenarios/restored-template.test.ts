/**
 * What the restored template of copilot leaves to whoever applies the DaemonSet next, on a real API server, by the requests that are
 * deployed: the functions own the fields that came back, and give them up at once, so no server-side apply conflicts with them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { HttpsClusterAccess } from '../../../src/adapters/kubernetes/api/cluster-access.ts';
import type { Transport } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { resourceVersion, uid } from '../../../src/core/model/identifiers.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { createApiClient, type ApiClient, type KubernetesObject } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { daemonSetPath, testDaemonSet } from './daemon-set.ts';

const NAME = 'restored';
const PATH = daemonSetPath({ name: NAME });
const skip = skipWithoutTools([TOOLS.go]);

interface Applied extends KubernetesObject {
  readonly spec: { readonly template: JsonObject };
}

describe('a template that copilot restored', { skip }, () => {
  let client: ApiClient;
  let stop: () => Promise<unknown>;

  before(async () => {
    const controlPlane = await startControlPlane({
      name: 'restored',
      loops: 'off',
      auditLog: false,
    });
    ({ stop } = controlPlane);
    client = createApiClient(controlPlane.connectionOf('admin'));
  });
  after(() => stop());

  /** As Argo CD, Flux or Helm 4 do. */
  async function apply(image: string, force = false): Promise<number> {
    const { spec, ...manifest } = testDaemonSet({ name: NAME, image }) as unknown as Applied;
    const query = `fieldManager=argocd-controller&force=${String(force)}`;
    const { status } = await client.request({
      method: 'PATCH',
      path: `${PATH}?${query}`,
      contentType: 'application/apply-patch+yaml',
      body: { ...manifest, spec },
    });
    return status;
  }

  /** Its requests reach the API server, but for that which gives fields up where it `isLost`. */
  function accessOf(isLost: boolean): HttpsClusterAccess {
    const transport: Transport = {
      answerTimes: [],
      retire: () => undefined,
      send: async ({ method, path, contentType = '', body = '' }) => {
        const text = String(body);
        if (isLost && text.includes('managedFields')) return { kind: 'unsent', message: 'lost' };
        const query = 'fieldManager=rollcall';
        const parsed = JSON.parse(text) as unknown;
        assert.equal(method, 'PATCH');
        const asked = { method, path: `${path}?${query}`, contentType, body: parsed } as const;
        const answer = await client.request(asked);
        return { kind: 'answered', status: answer.status, body: answer.body as Json };
      },
    };
    const refreshCredential = (): boolean => false;
    const clock = createSystemClock();
    return new HttpsClusterAccess({ transport, clock, concurrencyMax: 1, refreshCredential });
  }

  /** With the template of before. */
  async function restore({ spec }: Applied, isLost = false): Promise<void> {
    const { metadata } = (await client.get(PATH)) as Applied;
    const effect = {
      kind: 'restore-template',
      ...{ namespace: 'default', name: NAME, uid: uid(metadata.uid ?? '') },
      resourceVersion: resourceVersion(metadata.resourceVersion ?? ''),
      template: spec.template,
    } as const;
    const [outcome] = await accessOf(isLost).execute([effect], { deadlineMs: Infinity });
    assert.equal(outcome?.kind, 'done', JSON.stringify(outcome));
    const live = (await client.get(PATH)) as Applied;
    assert.deepEqual(live.spec.template, spec.template);
  }

  it('conflicts with no server-side apply once its fields are given up', async () => {
    assert.equal(await apply('example/agent:1'), 201);
    const former = (await client.get(PATH)) as Applied;
    assert.equal(await apply('example/agent:2'), 200);
    await restore(former);
    assert.equal(await apply('example/agent:2'), 200);
    assert.equal(await apply('example/agent:3'), 200);
  });

  it('can be forced once where they were not given up', async () => {
    const former = (await client.get(PATH)) as Applied;
    assert.equal(await apply('example/agent:4'), 200);
    await restore(former, true);
    assert.equal(await apply('example/agent:5'), 409);
    assert.equal(await apply('example/agent:5', true), 200);
    assert.equal(await apply('example/agent:6'), 200);
  });
});
