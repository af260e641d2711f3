/** What is told of a cluster that could not be opened: once, by name, nothing of a credential (S11, S12). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reportedConnector } from '../../../../src/app/isolation/reported-access.ts';
import type {
  ClusterConnector,
  ConnectRefusal,
} from '../../../../src/ports/cluster/cluster-access.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../../support/memory-metrics.ts';
import { registrationOf } from '../../../support/store-suite.ts';

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
