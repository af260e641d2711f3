/**
 * The roles that scripts/install/content-rights.ts prints, on a real API server (ADR 0061): the watcher may get the objects that
 * policies name at that moment, and the key, by name; nothing else of their kinds, no list, no watch, no write.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { contentOf, contentRights } from '../../../scripts/install/listed-content.ts';
import { createApiClient } from '../control-plane/api.ts';
import type { ApiClient, KubernetesObject } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { testDaemonSet } from '../scenarios/daemon-set.ts';
import { createIfMissing } from '../scenarios/manifests.ts';

const POLICY = 'soak: 1m\nconfig: {configMaps: [settings], secrets: [token]}';
const NAMESPACES = ['rollcall-system', 'other'];
const V1 = '/api/v1/namespaces';

describe('the rights to content on a real API server', { timeout: 300_000 }, () => {
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let watcher: ApiClient;

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    for (const name of NAMESPACES) {
      await createIfMissing(admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    for (const namespace of ['default', 'other']) {
      for (const name of ['settings', 'unnamed']) {
        await admin.post(`${V1}/${namespace}/configmaps`, { metadata: { name } });
      }
      await admin.post(`${V1}/${namespace}/secrets`, { metadata: { name: 'token' } });
    }
    for (const name of ['rollcall-config-key', 'other-key']) {
      await admin.post(`${V1}/rollcall-system/secrets`, { metadata: { name } });
    }
    const annotations = { 'rollcall.dev/rollout': POLICY };
    const set = testDaemonSet({ name: 'agent' });
    // As kubectl prints them; the one without a policy asks for nothing.
    const items = [
      { ...set, metadata: { ...set.metadata, annotations } },
      { ...set, metadata: { name: 'plain', namespace: 'other' } },
    ];
    for (const manifest of contentRights(contentOf(JSON.stringify({ items })))) {
      await createIfMissing(admin, manifest as unknown as KubernetesObject);
    }
    const account = `${V1}/rollcall-system/serviceaccounts`;
    await admin.post(account, { metadata: { name: 'rollcall-watcher' } });
    const { status } = await admin.post(`${account}/rollcall-watcher/token`, {
      spec: { expirationSeconds: 3600 },
    });
    const { token } = status as { readonly token: string };
    const { server, caPem } = controlPlane;
    watcher = createApiClient({ server, caPem, token });
  });

  after(async () => {
    watcher.close();
    admin.close();
    await controlPlane.stop();
  });

  const ask = async (method: 'GET' | 'DELETE', path: string): Promise<number> =>
    (await watcher.request({ method, path: `${V1}/${path}` })).status;

  it('are get on each object that a policy names, and on the key', async () => {
    const paths = [
      'default/configmaps/settings',
      'default/secrets/token',
      'rollcall-system/secrets/rollcall-config-key',
    ];
    for (const path of paths) {
      // The authorizer follows roles by watches.
      await pollUntil({ deadlineMs: 60_000, description: `get ${path} in force` }, async () =>
        (await ask('GET', path)) === 200 ? true : undefined,
      );
    }
  });

  it('are nothing else', async () => {
    const forbidden = [
      ['GET', 'default/configmaps/unnamed'],
      ['GET', 'other/configmaps/settings'],
      ['GET', 'other/secrets/token'],
      ['GET', 'rollcall-system/secrets/other-key'],
      ['GET', 'default/secrets'],
      ['GET', 'default/configmaps'],
      ['GET', 'default/secrets?watch=true&fieldSelector=metadata.name%3Dtoken'],
      ['DELETE', 'default/secrets/token'],
      ['DELETE', 'default/configmaps/settings'],
    ] as const;
    for (const [method, path] of forbidden) {
      assert.equal(await ask(method, path), 403, `${method} ${path}`);
    }
  });
});
