/**
 * What an API server refuses is told once for each kind and code, and answered as it was (row 69); so is what is the matter
 * with a cluster that could not be opened: once, by name, nothing of a credential (S11, S12).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import type { Effect } from '../../../../src/core/model/effects.ts';
import {
  reportedAccess,
  reportedConnector,
} from '../../../../src/app/isolation/reported-access.ts';
import type {
  ClusterAccess,
  ClusterConnector,
  ConnectRefusal,
} from '../../../../src/ports/cluster/cluster-access.ts';
import type { FleetManifest } from '../../../../src/core/fleet/fleet-daemon-set.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../../support/memory-metrics.ts';
import { registrationOf } from '../../../support/store-suite.ts';

const FORBIDDEN = 'HTTP 403 Forbidden: pods is forbidden: cannot create resource "pods"';
const create = (name: string): Effect => ({
  kind: 'create-pod',
  namespace: 'ops',
  name,
  node: nodeName(name),
  body: {},
});
const remove: Effect = {
  kind: 'delete-pod',
  namespace: 'ops',
  name: 'x',
  uid: uid('x'),
  resourceVersion: resourceVersion('1'),
};

function reported(access: Partial<ClusterAccess>) {
  const log = new MemoryLog();
  const metrics = new MemoryMetrics();
  // Only what a test calls is there.
  return { access: reportedAccess(access as ClusterAccess, { log, metrics }), log, metrics };
}

describe('reportedAccess', () => {
  it('tells of a missing right to apply, and not of what is wrong with a manifest', async () => {
    const statuses = [403, 422];
    const { access, log, metrics } = reported({
      applyDaemonSet: () =>
        Promise.resolve({ kind: 'refused', status: statuses.shift() ?? 0, message: FORBIDDEN }),
    });
    const options = { isDryRun: false, isForced: false, deadlineMs: 1 };
    for (let count = 0; count < 2; count += 1) {
      await access.applyDaemonSet({} as FleetManifest, options); // not looked at
    }
    assert.deepEqual(
      log.at('warn').map(({ fields }) => [fields['kind'], fields['code'], fields['detail']]),
      [['apply-daemon-set', 'forbidden', FORBIDDEN]],
    );
    assert.equal(metrics.sum('ClusterRefusals', 'forbidden'), 1);
  });

  it('tells of refused effects: a line for each kind and code, a metric for each (row 69)', async () => {
    const refused = {
      kind: 'refused',
      code: 'forbidden',
      status: 403,
      message: FORBIDDEN,
    } as const;
    const { access, log, metrics } = reported({
      execute: (effects) => Promise.resolve(effects.map(() => refused)),
    });
    const outcomes = await access.execute([create('a'), create('b'), remove], { deadlineMs: 1 });
    assert.deepEqual(outcomes, [refused, refused, refused]);
    assert.deepEqual(
      log.at('warn').map(({ fields }) => [fields['kind'], fields['code'], fields['detail']]),
      [
        ['create-pod', 'forbidden', FORBIDDEN],
        ['delete-pod', 'forbidden', FORBIDDEN],
      ],
    );
    assert.equal(metrics.sum('ClusterRefusals', 'forbidden'), 3);
  });

  it('tells of refused reads, and not of a cluster that does not answer', async () => {
    const { access, log } = reported({
      getNode: () => Promise.resolve({ kind: 'unavailable', message: 'reset', isRefused: false }),
      getPod: () => Promise.resolve({ kind: 'unavailable', message: FORBIDDEN, isRefused: true }),
    });
    assert.equal((await access.getNode('n')).kind, 'unavailable');
    assert.equal((await access.getPod({ namespace: 'ops', name: 'x' })).kind, 'unavailable');
    assert.deepEqual(
      log.at('warn').map(({ fields }) => fields['kind']),
      ['get-pod'],
    );
  });
});

async function toldOf(refusal: ConnectRefusal): Promise<{
  readonly lines: readonly unknown[];
  readonly metrics: MemoryMetrics;
}> {
  const [log, metrics] = [new MemoryLog(), new MemoryMetrics()];
  const connector: ClusterConnector = {
    connect: () => Promise.resolve({ kind: 'refused', refusal }),
    forget: () => undefined,
  };
  const reported = reportedConnector(connector, { log, metrics });
  assert.deepEqual(await reported.connect(registrationOf('west')), { kind: 'refused', refusal });
  return { lines: log.lines.map(({ level, fields }) => ({ level, ...fields })), metrics };
}

describe('a connector that tells', () => {
  it('says what is the matter with a bound token, in one line and one metric', async () => {
    const faults = ['not-sent', 'expired', 'other-cluster', 'not-opened', 'rejected'] as const;
    for (const fault of faults) {
      const { lines, metrics } = await toldOf({ kind: 'no-token', fault });
      assert.deepEqual(lines, [{ level: 'warn', cluster: 'west', reason: fault }]);
      assert.equal(metrics.sum('TokenFaults', fault), 1);
    }
  });

  it('says why a token could not be read', async () => {
    const message = 'the sealed token cannot be read: AccessDeniedException';
    const refusal = { kind: 'unavailable', message, retryAfterMs: 5000, token: 'unread' } as const;
    const { lines, metrics } = await toldOf(refusal);
    assert.deepEqual(lines, [
      { level: 'warn', cluster: 'west', reason: 'unread', detail: message },
    ]);
    assert.equal(metrics.sum('TokenFaults', 'unread'), 1);
  });

  it('says the field and the reason of an endpoint that is not permitted', async () => {
    const refusal = { kind: 'egress-refused', field: 'server', reason: 'metadata' } as const;
    const { lines, metrics } = await toldOf(refusal);
    const line = { level: 'warn', cluster: 'west', field: 'server', reason: 'metadata' };
    assert.deepEqual(lines, [line]);
    assert.equal(metrics.sum('EgressRefusals', 'metadata'), 1);
  });

  it('leaves to others what they tell: no credential at all, no answer, another cluster', async () => {
    const refusals: readonly ConnectRefusal[] = [
      { kind: 'no-credential' },
      { kind: 'unavailable', message: 'ETIMEDOUT' },
      { kind: 'wrong-cluster', foundUid: 'u-2' },
    ];
    for (const refusal of refusals) assert.deepEqual((await toldOf(refusal)).lines, []);
  });
});
