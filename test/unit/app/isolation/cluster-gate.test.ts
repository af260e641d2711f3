/** The gate of one run, where others write the breaker beside it (L3, ADR 0019). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClusterGate } from '../../../../src/app/isolation/cluster-gate.ts';
import type { ClusterBreaker } from '../../../../src/core/model/breaker.ts';
import type { ClusterMeta } from '../../../../src/core/model/view-items.ts';
import type { ConnectRefusal } from '../../../../src/ports/cluster/cluster-access.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';

it('the answer of a probe counts for the opening that it was the probe of, and for no later one', async () => {
  const world = new ReconcileWorld();
  await world.mirror.sync();
  const { clock, log, metrics, registration } = world;
  const nowMs = clock.nowMs();
  const open = { untilMs: nowMs - 1, delayMs: 2_000 };
  const opened: ClusterBreaker = { version: 4, failures: 3, openings: 1, open };
  const later = { ...opened, version: 6, openings: 2, open: { ...open, untilMs: nowMs + 9_000 } };
  const stored = await world.view.readMeta(registration.clusterUid);
  assert.ok(stored !== undefined);
  const meta: ClusterMeta = { ...stored, breaker: opened };
  const written: ClusterBreaker[] = [];
  const view = {
    readBreaker: () => Promise.resolve(later),
    readMeta: () => Promise.resolve({ ...meta, breaker: later }),
    // The probe is noted; when it has its answer, somebody else has opened the breaker anew.
    writeBreaker: (_cluster: unknown, next: ClusterBreaker) => {
      written.push(next);
      return Promise.resolve(written.length === 1 ? ('written' as const) : ('lost' as const));
    },
  };
  const gate = new ClusterGate({ view, clock, random: seededRandom(1), log, metrics });
  const refusal: ConnectRefusal = { kind: 'wrong-cluster', foundUid: 'of another form' };
  await gate.connect(registration, meta, {
    connect: () => Promise.resolve({ kind: 'refused', refusal }),
  });
  await gate.settle();
  assert.equal(written.length, 2, 'its lease, and its answer once');
});
