/** Whether another Rollcall process looks after a cluster, by its Lease and our own clock. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { LiveRead } from '../../../../src/ports/cluster/cluster-access.ts';
import { describeHolder, watchForVacancy } from '../../../../src/engine/lease/lease-vacancy.ts';
import type { Vacancy } from '../../../../src/engine/lease/lease-vacancy.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

function lease(spec: Record<string, unknown>): LiveRead<KubernetesObject> {
  const metadata = { name: 'rollcall-watcher', uid: 'lease', resourceVersion: '7' };
  return { kind: 'found', object: { metadata, spec } };
}

async function watch(
  readLease: (nowMs: number) => LiveRead<KubernetesObject>,
): Promise<{ readonly vacancy: Vacancy; readonly announcedMs: readonly number[] }> {
  const clock = new VirtualClock();
  const announcedMs: number[] = [];
  const watching = watchForVacancy({
    readLease: () => Promise.resolve(readLease(clock.monotonicMs())),
    clock,
    onWatching: (limitMs) => announcedMs.push(limitMs),
  });
  await clock.advance(120_000);
  return { vacancy: await watching, announcedMs };
}

describe('watchForVacancy', () => {
  it('finds no Lease, or one without holder, vacant at once', async () => {
    const absent = await watch(() => ({ kind: 'missing' }));
    assert.deepEqual(absent, { vacancy: { kind: 'vacant', quietForMs: 0 }, announcedMs: [] });
    const free = await watch(() => lease({ holderIdentity: '' }));
    assert.deepEqual(free.vacancy, { kind: 'vacant', quietForMs: 0, pulse: '@undefined' });
  });

  it('names the holder as soon as it renews, whatever its clock says', async () => {
    const { vacancy } = await watch((nowMs) =>
      lease({
        holderIdentity: 'other',
        leaseDurationSeconds: 40,
        renewTime: nowMs < 9_000 ? '1999-01-01T00:00:00.000000Z' : '1999-01-01T00:00:10.000000Z',
      }),
    );
    assert.ok(vacancy.kind === 'held');
    assert.deepEqual(vacancy, {
      kind: 'held',
      holder: 'other',
      acquiredAt: 'an unknown time',
      renewedAt: '1999-01-01T00:00:10.000000Z',
      durationMs: 40_000,
    });
    assert.match(
      describeHolder(vacancy),
      /one without a name \(other\).*free at 1999-01-01T00:00:50/,
    );
    const named = { ...vacancy, installation: 'eu-1/1/prod' };
    assert.match(
      describeHolder(named),
      /another installation of Rollcall, eu-1\/1\/prod\. It holds/,
    );
  });

  it('is vacant at once to the installation that it names, however fresh, and to no other', async () => {
    for (const [name, kind] of [
      ['a', 'vacant'],
      ['b', 'held'],
    ] as const) {
      const clock = new VirtualClock();
      const watching = watchForVacancy({
        readLease: () => {
          const renewTime = String(clock.monotonicMs());
          const held = lease({ holderIdentity: 'h', leaseDurationSeconds: 40, renewTime });
          const annotations = { 'rollcall.dev/installation': 'a' };
          assert.ok(held.kind === 'found');
          const { object } = held;
          const metadata = { ...object.metadata, annotations };
          return Promise.resolve({ ...held, object: { ...object, metadata } });
        },
        clock,
        installation: name,
      });
      await clock.advance(20_000);
      assert.equal((await watching).kind, kind);
    }
  });

  it('takes a holder for gone that did not renew for the Lease’s duration', async () => {
    const { vacancy, announcedMs } = await watch(() =>
      lease({ holderIdentity: 'other', leaseDurationSeconds: 40, renewTime: 'x' }),
    );
    assert.deepEqual(vacancy, { kind: 'vacant', quietForMs: 40_000, pulse: 'other@x' });
    assert.deepEqual(announcedMs, [40_000]);
  });

  it('knows nothing when the Lease is unreadable', async () => {
    const unavailable = { kind: 'unavailable', message: '403', isRefused: true } as const;
    const { vacancy } = await watch(() => unavailable);
    assert.deepEqual(vacancy, { kind: 'unreadable', message: '403' });
  });
});
