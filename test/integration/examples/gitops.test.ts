/**
 * The manifests of examples/gitops over HTTPS on a local cluster, by server-side apply under the names of Argo CD and Flux: they are
 * accepted as they stand, and the API server's answers name owner and field (docs/gitops.md).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { createTestHttpsClient } from '../../../packages/local-cluster/test/support/https-client.ts';

const FILE = path.resolve(import.meta.dirname, '../../../examples/gitops/agents/daemon-set.yaml');
const [NAMESPACE, DAEMON_SET] = parseAllDocuments(readFileSync(FILE, 'utf8')).map(
  (document) => document.toJS() as JsonObject,
);
const SET = '/apis/apps/v1/namespaces/node-agents/daemonsets/node-agent';
const ARGO = 'argocd-controller';
const FLUX = 'kustomize-controller';

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

/** Of a conflict: who owns which field. */
interface Cause {
  readonly message: string;
  readonly field: string;
}

describe('the manifests of examples/gitops on a local cluster', () => {
  let cluster: LocalCluster;
  before(async () => {
    const options = { name: 'a', port: 0, machines: [], runsComponents: false };
    const [clock, random] = [createSystemClock(), createSystemRandom()];
    cluster = await startLocalCluster({ ...options, clock, random, log: new MemoryLog() });
  });
  after(() => cluster.stop());

  async function patch(target: string, contentType: string, body: Json): Promise<Answer> {
    const https = createTestHttpsClient(cluster);
    const authorization = `Bearer ${cluster.tokens.admin}`;
    const headers = { authorization, 'content-type': contentType };
    const sent = { method: 'PATCH', path: target, headers, body: JSON.stringify(body) };
    const { status, text } = await https.fetch(sent);
    https.close();
    const parsed = JSON.parse(text) as Json;
    assert.ok(isJsonObject(parsed));
    return { status, body: parsed };
  }

  function apply(manager: string, body: JsonObject = DAEMON_SET ?? {}, force = false) {
    const at = body['kind'] === 'Namespace' ? '/api/v1/namespaces/node-agents' : SET;
    const query = `fieldManager=${manager}&force=${String(force)}&fieldValidation=Strict`;
    return patch(`${at}?${query}`, 'application/apply-patch+yaml', body);
  }

  function edit(manager: string, spec: JsonObject): Promise<Answer> {
    const target = `${SET}?fieldManager=${manager}`;
    return patch(target, 'application/strategic-merge-patch+json', { spec });
  }

  const imageOf = (image: string): JsonObject => ({
    template: { spec: { containers: [{ name: 'agent', image }] } },
  });

  function conflictsOf({ status, body }: Answer): readonly Cause[] {
    assert.equal(status, 409, JSON.stringify(body));
    return jsonMember(body['details'], 'causes') as unknown as readonly Cause[]; // raw JSON
  }

  it('are created by one tool, and shared by another that applies the same', async () => {
    assert.equal((await apply(ARGO, NAMESPACE)).status, 201);
    assert.equal((await apply(ARGO)).status, 201);
    const shared = await apply(FLUX);
    assert.equal(shared.status, 200);
    assert.equal(jsonMember(shared.body['metadata'], 'generation'), 1);
  });

  it('conflict over an image that kubectl changed, until the tool takes it back by force', async () => {
    await edit('kubectl-rollout', imageOf('registry.example/node-agent:0.9.0'));
    const [conflict] = conflictsOf(await apply(ARGO));
    assert.match(conflict?.message ?? '', /conflict with "kubectl-rollout"/);
    assert.equal(conflict?.field, '.spec.template.spec.containers[name="agent"].image');
    const healed = await apply(ARGO, DAEMON_SET, true);
    assert.equal(healed.status, 200);
    assert.match(JSON.stringify(healed.body['spec']), /node-agent:1\.0\.0/);
  });

  it('bring OnDelete back over an edit to RollingUpdate', async () => {
    await edit('kubectl-patch', { updateStrategy: { type: 'RollingUpdate' } });
    const conflicts = conflictsOf(await apply(FLUX));
    assert.deepEqual(
      conflicts.map(({ field }) => field),
      ['.spec.updateStrategy.type'],
    );
    const { status, body } = await apply(FLUX, DAEMON_SET, true);
    assert.equal(status, 200);
    assert.equal(jsonMember(jsonMember(body['spec'], 'updateStrategy'), 'type'), 'OnDelete');
  });
});
