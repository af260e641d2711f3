/**
 * infra/start-up on a real API server: whoever steals the functions' credential can take one taint off a node, and change nothing
 * else of it (issue 45). What is sent is the adapter's own request, and everything near it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Taint } from '@rollcall/base/objects.ts';
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
const OURS: Taint = { key: 'rollcall.dev/agents-not-ready', effect: 'NoSchedule' };
const OTHER: Taint = { key: 'example.com/dedicated', value: 'gpu', effect: 'NoSchedule' };
const SAME_KEY: Taint = { ...OURS, effect: 'NoExecute' };
const TAINTS = [OTHER, OURS, SAME_KEY];
/** The API server gives it to each node that joins. */
const NOT_READY: Taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
const FILES = ['copilot/rbac.yaml', 'start-up/rbac.yaml', 'start-up/admission.yaml'].map((file) =>
  repositoryPath(`infra/${file}`),
);
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';

describe('the right to start-up taints on a real API server', { timeout: 300_000 }, () => {
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let thief: ApiClient;
  let node: KubernetesObject;

  const patch = (body: unknown, contentType = JSON_PATCH, path = NODE): Promise<ApiResponse> =>
    thief.request({
      ...{ method: 'PATCH', path: `${path}?dryRun=All`, body },
      contentType,
    });
  const denied = (response: ApiResponse, why = /Rollcall/): void => {
    assert.equal(response.status, 422, `${String(response.status)}: ${messageOf(response)}`);
    assert.match(messageOf(response), /ValidatingAdmissionPolicy 'rollcall-start-up'/);
    assert.match(messageOf(response), why);
  };
  const without = (...indexes: readonly number[]): readonly JsonObject[] =>
    indexes.map((index) => ({ op: 'remove', path: `/spec/taints/${String(index)}` }));
  /** What the functions send. */
  const removal = (index: number, taint: Taint, of = node.metadata.uid ?? ''): unknown => {
    const name = nodeName('n-1');
    const effect = {
      kind: 'remove-taint',
      namespace: '',
      name,
      uid: uid(of),
      index,
      taint,
    } as const;
    const built = requestOf(effect);
    assert.ok(built.kind === 'request');
    return JSON.parse(built.request.body ?? '');
  };

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    thief = createApiClient(controlPlane.connectionOf('functions'));
    await applyFiles(admin, FILES);
    const spec = { taints: TAINTS as unknown as JsonObject[], podCIDR: '10.0.0.0/24' }; // typed fields are JSON, too
    node = await admin.post('/api/v1/nodes', { metadata: { name: 'n-1' }, spec });
    await pollUntil({ deadlineMs: 120_000, description: 'right and policy in force' }, async () => {
      const allowed = await patch(removal(1, OURS));
      const refused = await patch(without(0));
      return allowed.status === 200 && refused.status === 422 ? true : undefined;
    });
  });
  after(async () => {
    thief.close();
    admin.close();
    await controlPlane.stop();
  });

  it('lets the start-up taint be removed, and leaves the others', async () => {
    const answer = await patch(removal(1, OURS));
    assert.equal(answer.status, 200, messageOf(answer));
    const { spec } = answer.body as { readonly spec: { readonly taints: readonly Taint[] } };
    assert.deepEqual(spec.taints, [OTHER, SAME_KEY, NOT_READY]);
  });

  it('holds a removal to the node and the taint that were seen', async () => {
    for (const stale of [removal(0, OURS), removal(7, OURS), removal(1, OURS, 'another')]) {
      const { status } = await patch(stale);
      assert.ok(status === 422 || status === 409, String(status));
    }
  });

  it('refuses the removal of another taint, of several, or of all', async () => {
    denied(await patch(without(0)), /and no other/);
    denied(await patch(without(2)), /and no other/);
    denied(await patch(without(1, 0)), /and no other/);
    denied(await patch({ spec: { taints: null } }, MERGE_PATCH), /and no other/);
  });

  it('refuses every taint that is added or changed, with the removal and without', async () => {
    const added = { op: 'add', path: '/spec/taints/-', value: { key: 'x', effect: 'NoExecute' } };
    denied(await patch([added]), /and no other/);
    denied(await patch([...without(1), added]), /and no other/);
    denied(await patch([{ op: 'replace', path: '/spec/taints/1/key', value: 'x' }]));
    denied(
      await patch([{ op: 'replace', path: '/spec/taints/0/value', value: 'x' }, ...without(1)]),
    );
  });

  it('refuses everything else of a node beside the removal', async () => {
    const beside: readonly JsonObject[] = [
      { op: 'add', path: '/metadata/labels', value: { a: 'b' } },
      { op: 'add', path: '/metadata/annotations', value: { a: 'b' } },
      { op: 'add', path: '/metadata/finalizers', value: ['example.com/x'] },
      {
        ...{ op: 'add', path: '/metadata/ownerReferences' },
        value: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }],
      },
      { op: 'add', path: '/spec/unschedulable', value: true },
      { op: 'add', path: '/spec/providerID', value: 'x' },
    ];
    for (const change of beside) denied(await patch([...without(1), change]), /nothing of a node/);
  });

  it('gives no other verb, and no subresource', async () => {
    const status = await patch({ status: { phase: 'x' } }, MERGE_PATCH, `${NODE}/status`);
    assert.equal(status.status, 403, messageOf(status));
    const made = { metadata: { name: 'n-2' } };
    for (const [method, path, body] of [
      ['POST', '/api/v1/nodes', made],
      ['PUT', NODE, { ...node, spec: {} } as unknown as JsonObject], // typed fields are JSON, too
      ['DELETE', NODE, undefined],
      ['GET', '/api/v1/nodes', undefined],
    ] as const) {
      const answer = await thief.request({ method, path, ...(body === undefined ? {} : { body }) });
      assert.equal(answer.status, 403, `${method}: ${messageOf(answer)}`);
    }
  });
});
