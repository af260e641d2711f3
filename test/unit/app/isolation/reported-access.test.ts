/** What an API server refuses is told once for each kind and code, and answered as it was (row 69). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import type { Effect } from '../../../../src/core/model/effects.ts';
import { reportedAccess } from '../../../../src/app/isolation/reported-access.ts';
import type { ClusterAccess } from '../../../../src/ports/cluster/cluster-access.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../../support/memory-metrics.ts';

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
