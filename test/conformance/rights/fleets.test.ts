/**
 * What the functions may do with DaemonSets of fleets on a real API server, as `rollcall fleet rights` prints it: those that
 * are named, created and changed by apply; without one of the verbs not; in copilot nothing else either (ADR 0066).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  fleetException,
  fleetNames,
  fleetPolicy,
  fleetRights,
} from '../../../src/cli/fleet/fleet-manifests.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Manifest } from '../../../src/cli/fleet/fleet-manifests.ts';
import { collectionPath } from '../../../src/engine/apply-manifests.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { createApiClient } from '../control-plane/api.ts';
import type { ApiClient } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { applyFiles } from '../scenarios/manifests.ts';

const SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const ROLE = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/rollcall-fleets';
const APPLY = 'application/apply-patch+yaml';
const FLEETS = fleetNames(['default/agent', 'default/second']);

function daemonSet(name: string, image: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'x', image }] },
      },
    },
  };
}

describe('rights over DaemonSets of fleets', { skip: skipWithoutTools([TOOLS.go]) }, () => {
  let stop: () => Promise<void>;
  let admin: ApiClient;
  let functions: ApiClient;

  before(async () => {
    const controlPlane = await startControlPlane({ name: 'fleets', loops: 'off', auditLog: false });
    ({ stop } = controlPlane);
    admin = createApiClient(controlPlane.connectionOf('admin'));
    functions = createApiClient(controlPlane.connectionOf('functions'));
    await applyFiles(admin, ['infra/functions/rbac.yaml']);
    await install([...fleetRights(FLEETS), ...fleetPolicy(FLEETS)]);
  });
  after(async () => {
    admin.close();
    functions.close();
    await stop();
  });

  async function install(manifests: readonly Manifest[]): Promise<void> {
    for (const manifest of manifests) {
      const { metadata } = manifest as { readonly metadata: { readonly name: string } };
      const collection = collectionPath(manifest as JsonObject);
      const path = `${collection}/${metadata.name}?fieldManager=test&force=true`;
      const answer = await admin.request({
        method: 'PATCH',
        path,
        contentType: APPLY,
        body: manifest,
      });
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
    }
  }

  async function apply(name: string, image: string): Promise<number> {
    const path = `${SETS}/${name}?fieldManager=rollcall&fieldValidation=Strict`;
    const body = daemonSet(name, image);
    return (await functions.request({ method: 'PATCH', path, contentType: APPLY, body })).status;
  }

  /** Roles and policies are known a moment after they were written. */
  async function until(
    description: string,
    ask: () => Promise<number>,
    status: number,
  ): Promise<void> {
    await pollUntil({ deadlineMs: 60_000, description }, async () =>
      (await ask()) === status ? true : undefined,
    );
  }

  it('creates and changes those that are named, and no other', async () => {
    await until('created', () => apply('agent', 'i:1'), 201);
    assert.equal(await apply('agent', 'i:2'), 200);
    assert.equal(await apply('other', 'i:1'), 403);
    assert.equal(
      (await functions.request({ method: 'DELETE', path: `${SETS}/agent` })).status,
      403,
    );
  });

  it('creates no other by POST, which RBAC would allow', async () => {
    const post = async (): Promise<number> =>
      (await functions.request({ method: 'POST', path: SETS, body: daemonSet('other', 'i:1') }))
        .status;
    await until('refused by the policy', post, 422);
  });

  for (const [missing, kept, name] of [
    ['create', 'patch', 'second'],
    ['patch', 'create', 'agent'],
  ] as const) {
    it(`cannot without ${missing}`, async () => {
      const [role, ...rest] = fleetRights(FLEETS);
      const { rules } = role as {
        readonly rules: readonly { readonly verbs: readonly string[] }[];
      };
      const less = rules.filter(({ verbs }) => verbs.includes(kept));
      await admin.request({ method: 'DELETE', path: ROLE });
      await install([{ ...role, rules: less }, ...rest]);
      await until('refused', () => apply(name, 'i:3'), 403);
      await admin.request({ method: 'DELETE', path: ROLE });
      await install(fleetRights(FLEETS));
      await until('allowed again', () => apply('agent', 'i:2'), 200);
    });
  }

  it('is let through by the policy of copilot for those alone', async () => {
    const [shipped] = fleetException([], 'copilot');
    assert.ok(shipped !== undefined);
    const metadata = { name: 'rollcall-copilot-daemon-sets' };
    const { apiVersion } = shipped as { readonly apiVersion: string };
    const binding = {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    };
    await install([shipped, binding]);
    const minReady = async (): Promise<number> => {
      const path = `${SETS}/agent?fieldManager=rollcall`;
      const body = { spec: { minReadySeconds: Math.round(performance.now()) } };
      const contentType = 'application/merge-patch+json';
      return (await functions.request({ method: 'PATCH', path, contentType, body })).status;
    };
    await until('refused', minReady, 422);
    await install(fleetException(FLEETS, 'copilot'));
    await until('let through', minReady, 200);
    await until('created', () => apply('second', 'i:1'), 201);
  });
});
