/**
 * infra/start-up-condition on a real API server: whoever steals the functions' credential can write one condition of a node as True,
 * and change nothing else of it (issue 45). What is sent is the adapter's own request, and everything near it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { requestOf } from '../../../src/adapters/kubernetes/api/effect-request.ts';
import { nodeName, uid } from '../../../src/core/model/identifiers.ts';
import { createApiClient } from '../control-plane/api.ts';
import type { ApiClient, ApiResponse, KubernetesObject } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { messageOf } from './admission-stage.ts';

const NODE = '/api/v1/nodes/n-1';
const STATUS = `${NODE}/status`;
const OURS = 'rollcall.dev/AgentsReady';
const READY = { type: 'Ready', status: 'True', reason: 'KubeletReady' };
const FILES = [
  'copilot/rbac.yaml',
  'start-up-condition/rbac.yaml',
  'start-up-condition/admission.yaml',
];
const MERGE = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const SINCE_MS = Date.parse('2026-11-29T03:00:00Z');

interface Node {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly taints?: readonly JsonObject[] };
  readonly status: { readonly conditions: readonly { readonly type: string }[] };
}

describe('the right to a start-up condition on a real API server', { timeout: 300_000 }, () => {
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let thief: ApiClient;
  let node: KubernetesObject;

  const send = (path: string, body: unknown, contentType = MERGE): Promise<ApiResponse> =>
    thief.request({ method: 'PATCH', path, body, contentType }); // made here, as JSON
  const tryOut = (body: unknown, contentType = MERGE): Promise<ApiResponse> =>
    send(`${STATUS}?dryRun=All`, body, contentType);
  const denied = async (sent: Promise<ApiResponse>, why = /Rollcall/): Promise<void> => {
    const response = await sent;
    assert.equal(response.status, 422, `${String(response.status)}: ${messageOf(response)}`);
    assert.match(messageOf(response), /ValidatingAdmissionPolicy 'rollcall-start-up-condition'/);
    assert.match(messageOf(response), why);
  };
  /** What the functions send. */
  const writing = (condition = OURS, of = node.metadata.uid ?? ''): JsonObject => {
    const at = { namespace: '', name: nodeName('n-1'), uid: uid(of) } as const;
    const built = requestOf({ kind: 'set-condition', ...at, condition, sinceMs: SINCE_MS });
    assert.ok(built.kind === 'request');
    assert.equal(built.request.path, STATUS);
    return JSON.parse(built.request.body ?? '') as JsonObject;
  };
  const withStatus = (status: JsonObject): JsonObject => {
    const body = writing();
    return { ...body, status: { ...(body['status'] as JsonObject), ...status } };
  };

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    thief = createApiClient(controlPlane.connectionOf('functions'));
    await applyFiles(
      admin,
      FILES.map((file) => repositoryPath(`infra/${file}`)),
    );
    node = await admin.post('/api/v1/nodes', { metadata: { name: 'n-1', labels: { a: 'b' } } });
    await admin.request({
      ...{ method: 'PATCH', path: STATUS, contentType: MERGE },
      body: { status: { conditions: [READY], capacity: { cpu: '4' } } },
    });
    await pollUntil({ deadlineMs: 120_000, description: 'right and policy in force' }, async () => {
      const allowed = await tryOut(writing());
      const refused = await tryOut(writing('example.com/Other'));
      return allowed.status === 200 && refused.status === 422 ? true : undefined;
    });
  });
  after(async () => {
    thief.close();
    admin.close();
    await controlPlane.stop();
  });

  it('lets the condition be written beside the others, and the same again changes nothing', async () => {
    const first = await send(STATUS, writing());
    assert.equal(first.status, 200, messageOf(first));
    const { metadata, status, spec } = first.body as Node; // a Node as the API server answers
    assert.deepEqual(status.conditions.map(({ type }) => type).toSorted(), [READY.type, OURS]);
    assert.ok((spec.taints ?? []).length > 0, 'the taint that the API server gives stays');
    const again = (await send(STATUS, writing())).body as Node; // the same
    assert.equal(again.metadata.resourceVersion, metadata.resourceVersion);
  });

  it('holds the write to the node that was seen', async () => {
    const { status } = await tryOut(writing(OURS, 'another'));
    assert.ok(status === 422 || status === 409, String(status));
  });

  it('refuses another condition, another status, and a condition that goes', async () => {
    await denied(tryOut(writing('Ready')), /and no other/);
    await denied(tryOut(writing('example.com/Other')), /and no other/);
    const ofStatus = (status: string): JsonObject => ({
      status: { conditions: [{ type: OURS, status }] },
    });
    await denied(tryOut(ofStatus('False')), /and no other/);
    await denied(tryOut(ofStatus('Unknown')), /and no other/);
    const ready = { type: 'Ready', status: 'False' };
    await denied(tryOut(withStatus({ conditions: [ready, { type: OURS, status: 'True' }] })));
    await denied(tryOut([{ op: 'remove', path: '/status/conditions/0' }], JSON_PATCH));
    await denied(tryOut([{ op: 'remove', path: '/status/conditions' }], JSON_PATCH));
  });

  it('refuses everything else of a node beside the condition', async () => {
    const beside = /nothing of a node/;
    await denied(tryOut(withStatus({ capacity: { cpu: '8' } })), beside);
    await denied(tryOut(withStatus({ addresses: [{ type: 'Hostname', address: 'x' }] })), beside);
    await denied(tryOut(withStatus({ nodeInfo: { kernelVersion: 'x' } })), beside);
    for (const metadata of [
      { labels: { a: 'c' } },
      { annotations: { a: 'b' } },
      { finalizers: ['example.com/x'] },
    ]) {
      await denied(tryOut({ ...writing(), metadata }), beside);
    }
  });

  it('gives no other verb, and no taint', async () => {
    const untainted = await send(NODE, { spec: { taints: [] } });
    assert.equal(untainted.status, 403, messageOf(untainted));
    for (const [method, path] of [
      ['PUT', STATUS],
      ['DELETE', NODE],
      ['GET', '/api/v1/nodes'],
    ] as const) {
      const answer = await thief.request({
        method,
        path,
        ...(method === 'PUT' ? { body: {} } : {}),
      });
      assert.equal(answer.status, 403, `${method}: ${messageOf(answer)}`);
    }
  });
});
