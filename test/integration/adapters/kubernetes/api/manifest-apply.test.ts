/** Server-side apply over a scripted server: what is sent, how often, and when nothing is (ADR 0066). */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { FLEET_REQUESTS } from '../../../../../src/adapters/kubernetes/api/manifest-apply.ts';
import { HttpsClusterAccess } from '../../../../../src/adapters/kubernetes/api/cluster-access.ts';
import { staticBearer } from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type { FleetManifest } from '../../../../../src/core/fleet/fleet-daemon-set.ts';
import type { ClusterAccess } from '../../../../../src/ports/cluster/cluster-access.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedApiServer, Script } from '../../../../support/scripted-api-server.ts';

const clock = createHeldTimers();
const AGES = { deadlineMs: Number.POSITIVE_INFINITY };
const FOUND = {
  kind: 'DaemonSet',
  metadata: { name: 'a', namespace: 'agents', uid: 'uid-of-a', resourceVersion: '12' },
  spec: { template: {} },
};

describe('applyDaemonSet', () => {
  let server: ScriptedApiServer;
  before(async () => {
    server = await startScriptedApiServer();
  });
  afterEach(() => {
    server.requests.length = 0;
  });
  after(() => server.close());

  function open(script: Script): ClusterAccess {
    server.answerWith(script);
    const endpoint = { host: '127.0.0.1', port: server.port, pathPrefix: '' };
    const credential = staticBearer('token');
    const transport = new HttpsTransport({ endpoint, caPem: server.caPem, credential, clock });
    const refreshCredential = (): boolean => false;
    return new HttpsClusterAccess({
      transport,
      clock,
      concurrencyMax: 4,
      refreshCredential,
      fleetRequests: FLEET_REQUESTS,
    });
  }

  const manifest: FleetManifest = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'agents', name: 'a' },
    spec: { template: { spec: { containers: [] } } },
  };
  const PLAIN = { ...AGES, isDryRun: false, isForced: false };
  const conflictWith = (manager: string): Record<string, unknown> =>
    statusBody(409, 'Conflict', {
      causes: [
        { reason: 'FieldManagerConflict', message: `conflict with "${manager}"`, field: '.spec' },
      ],
    });
  const conflictUnlessForced =
    (manager: string): Script =>
    ({ path }, response) => {
      if (path.includes('force=true')) answerJson(response, { status: 200, body: FOUND });
      else answerJson(response, { status: 409, body: conflictWith(manager) });
    };

  it('never takes a field that somebody else owns unless it is told to', async () => {
    const access = open(conflictUnlessForced('argocd-controller'));
    const options = { ...PLAIN, resourceVersion: '7' };
    assert.equal((await access.applyDaemonSet(manifest, options)).kind, 'conflict');
    assert.equal(server.requests.length, 1);
  });

  it('takes what rollcall itself wrote otherwise, once, and only under the fence', async () => {
    const access = open(conflictUnlessForced('rollcall'));
    assert.equal((await access.applyDaemonSet(manifest, PLAIN)).kind, 'conflict');
    assert.equal(server.requests.length, 1);
    const fenced = { ...PLAIN, resourceVersion: '7' };
    assert.equal((await access.applyDaemonSet(manifest, fenced)).kind, 'applied');
    assert.equal(server.requests.length, 3);
    assert.match(server.requests[2]?.body ?? '', /"resourceVersion":"7"/);
  });

  it('sends nothing after the deadline, by either clock, or what it could not mean', async () => {
    const access = open(conflictUnlessForced('rollcall'));
    for (const limits of [{ deadlineMs: 0 }, { ...AGES, wallDeadlineMs: 0 }]) {
      assert.equal(
        (await access.applyDaemonSet(manifest, { ...PLAIN, ...limits })).kind,
        'unavailable',
      );
    }
    const faulty = await access.applyDaemonSet(manifest, { ...PLAIN, resourceVersion: 'x' });
    assert.equal(faulty.kind, 'refused');
    assert.equal(server.requests.length, 0);
  });

  it('leaves a server alone that asks for it', async () => {
    const access = open((_request, response) => {
      response.setHeader('retry-after', '20');
      answerJson(response, { status: 429, body: statusBody(429, 'TooManyRequests') });
    });
    const options = { ...PLAIN };
    const first = await access.applyDaemonSet(manifest, options);
    assert.equal(first.kind === 'unavailable' && first.retryAfterMs, 20_000);
    assert.equal((await access.applyDaemonSet(manifest, options)).kind, 'unavailable');
    assert.equal(server.requests.length, 1);
  });

  it('names who owns fields, the one that wrote last first, and no writer of the status', async () => {
    const entry = (manager: string, second: number, more: object = {}): object => {
      const time = `2026-11-25T18:53:${String(second)}Z`;
      return { manager, operation: 'Update', time, ...more };
    };
    const managedFields = [
      entry('kubectl', 10),
      entry('status-writer', 50, { subresource: 'status' }),
      entry('argocd', 40, { operation: 'Apply' }),
      'nonsense',
    ];
    const access = open((_request, response) => {
      const items = [{ ...FOUND, metadata: { ...FOUND.metadata, managedFields } }];
      answerJson(response, { status: 200, body: { kind: 'List', metadata: {}, items } });
    });
    const read = await access.readDaemonSetManagers({ namespace: 'agents', name: 'a' });
    assert.ok(read.kind === 'found');
    assert.deepEqual(
      read.object.map(({ manager, operation }) => [manager, operation]),
      [
        ['argocd', 'Apply'],
        ['kubectl', 'Update'],
      ],
    );
  });
});
