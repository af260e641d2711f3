/** What the simulated API server is after a restore of etcd (row 71). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import { SimulatedApiServer } from '../../support/simulation/api-server.ts';
import { rawNode } from '../../support/simulation/objects.ts';
import { SimulatedWatchSource, noWatchFaults } from '../../support/simulation/watch-source.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

describe('a simulated API server whose etcd was restored', () => {
  it('can be listed, though the lost history was compacted after the backup (row 71)', async () => {
    const clock = new VirtualClock();
    const api = new SimulatedApiServer(clusterUid('a'), clock);
    const source = new SimulatedWatchSource(api, clock, noWatchFaults());
    const backup = api.backup();
    for (const name of ['n1', 'n2']) api.put('nodes', rawNode(name, { labels: {} }));
    api.compact();
    api.restore(backup);
    const { signal } = new AbortController();
    const answer = source.listPage('Node', { limit: 500, signal, onItem: () => undefined });
    await clock.advance(10);
    assert.equal((await answer).kind, 'ok');
  });

  it('gets no request that was on its way to it before: all API servers are stopped for a restore (row 71)', async () => {
    const clock = new VirtualClock();
    const api = new SimulatedApiServer(clusterUid('a'), clock);
    const backup = api.backup();
    const effect = { kind: 'create-event', namespace: 'a', name: 'e', body: {} } as const;
    api.hooks = { beforeEffect: () => ({ kind: 'stuck' }) };
    const [outcome] = await api.execute([effect], { deadlineMs: 1000 });
    assert.equal(outcome?.kind, 'ambiguous');
    api.restore(backup);
    api.releaseStuck();
    assert.deepEqual(api.list('events'), []);
  });
});
