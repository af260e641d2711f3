/**
 * The server-side dry run of a fleet over HTTPS, against a local cluster: accepted, refused, owned by somebody else, and nothing of it
 * is kept (issue 18).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { createTestHttpsClient } from '../../../packages/local-cluster/test/support/https-client.ts';
import { HttpsClusterConnector } from '../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { FLEET_REQUESTS } from '../../../src/adapters/kubernetes/api/manifest-apply.ts';
import { createFleetReader } from '../../../src/adapters/policy/fleet/fleet-reader.ts';
import { askClusters, type ClusterCheck } from '../../../src/app/fleet/check/ask-clusters.ts';
import { planFleet } from '../../../src/core/fleet/plan-fleet.ts';
import { clusterUid, type ClusterUid } from '../../../src/core/model/identifiers.ts';
import { factsOf, fleetDocument, manifestOf, NOW_MS } from '../../support/fleet-samples.ts';
import { MemoryRegistryStore } from '../../support/memory-registry-store.ts';
import { registrationOf } from '../../support/store-suite.ts';

const SETS = '/apis/apps/v1/namespaces/default/daemonsets';

describe('askClusters, against a local cluster', () => {
  const clock = createSystemClock();
  let cluster: LocalCluster;
  let uid: ClusterUid;
  before(async () => {
    const random = createSystemRandom();
    const log = new MemoryLog();
    const options = { name: 'a', port: 0, machines: [], runsComponents: false };
    cluster = await startLocalCluster({ ...options, clock, random, log });
    const kubeSystem = await send('GET', '/api/v1/namespaces/kube-system');
    const found = jsonMember(kubeSystem['metadata'], 'uid');
    assert.ok(typeof found === 'string');
    uid = clusterUid(found);
  });
  after(() => cluster.stop());

  async function send(method: string, path: string, body?: Json): Promise<JsonObject> {
    const https = createTestHttpsClient(cluster);
    const headers = {
      authorization: `Bearer ${cluster.tokens.admin}`,
      ...(body === undefined ? {} : { 'content-type': 'application/apply-patch+yaml' }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, text } = await https.fetch({ method, path, headers, ...sent });
    https.close();
    assert.ok(status < 300, text);
    const parsed = JSON.parse(text) as Json;
    assert.ok(isJsonObject(parsed));
    return parsed;
  }

  async function ask(
    namespace: string,
    spec: JsonObject = {},
    token: string = cluster.tokens.admin,
  ): Promise<ClusterCheck> {
    const { metadata: _other, ...document } = fleetDocument(spec);
    const metadata = { namespace, name: 'agent' };
    const reading = createFleetReader().readDocument({ ...document, metadata });
    assert.equal(reading.kind, 'fleet');
    const registry = new MemoryRegistryStore();
    const { server, caPem } = cluster;
    const authentication = { kind: 'bearer', token } as const;
    const egress = { privateRanges: [] };
    const at = {
      mode: 'takeover' as const,
      clusterUid: uid,
      server,
      caPem,
      authentication,
      egress,
    };
    await registry.writeCluster({ ...registrationOf('a'), ...at }, 0);
    const [check] = await askClusters(
      reading.fleet,
      planFleet(reading.fleet, [factsOf('a')], NOW_MS),
      {
        registry,
        clock,
        signal: new AbortController().signal,
        onAsked: () => undefined,
        connector: new HttpsClusterConnector({
          clock,
          egress: { loopback: 'allowed' },
          fleetRequests: FLEET_REQUESTS,
        }),
      },
    );
    return check ?? assert.fail();
  }

  it('is accepted, and nothing is kept', async () => {
    assert.deepEqual(await ask('default'), { id: 'a', kind: 'accepted' });
    assert.deepEqual(jsonItems((await send('GET', SETS))['items']), []);
  });

  it('is refused where the namespace is missing or the object is invalid', async () => {
    assert.deepEqual(await ask('nowhere'), {
      id: 'a',
      kind: 'refused',
      message: 'the namespace nowhere does not exist',
    });
    const invalid = await ask('default', { template: manifestOf({ dnsPolicy: 'Odd' }) });
    assert.equal(invalid.kind, 'refused');
    assert.match(invalid.message, /dnsPolicy/);
    assert.doesNotMatch(invalid.message, /hunter2/);
  });

  it('is not checked where the credential is not accepted', async () => {
    assert.equal((await ask('default', {}, 'wrong')).kind, 'not-checked');
  });

  it('names who owns a field, and is accepted where the fleet overwrites', async () => {
    const other = manifestOf({}, 'other:1');
    const metadata = { namespace: 'default', name: 'agent' };
    const query = 'fieldManager=argocd-controller';
    await send('PATCH', `${SETS}/agent?${query}`, { ...other, metadata });
    const check = await ask('default');
    assert.equal(check.kind, 'conflict');
    const image = '.spec.template.spec.containers[name="agent"].image';
    assert.deepEqual(check.conflicts, [{ manager: 'argocd-controller', field: image }]);
    const overwrite = { strategy: { conflicts: 'overwrite' } };
    assert.equal((await ask('default', overwrite)).kind, 'accepted');
    const [kept] = jsonItems((await send('GET', SETS))['items']);
    assert.match(JSON.stringify(kept), /other:1/);
  });
});
