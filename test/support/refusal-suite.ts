/**
 * What every registry must do with notes of refusals: a part of store-suite.ts.
 *
 * Run against the memory double and against DynamoDB (M4).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterId } from '../../src/core/model/identifiers.ts';
import type { RefusalNote, RegistryStore } from '../../src/ports/stores/registry-store.ts';

/** Tests of noted refusals; call inside a describe block. */
export function testRefusals(
  store: () => RegistryStore,
  freshName: (what: string) => string,
): void {
  const HOUR_MS = 3_600_000;
  const noteOf = (change: Partial<RefusalNote>): RefusalNote => ({
    cluster: 'victim',
    sender: 'unverified',
    senderRoleId: 'AROA',
    queue: 'ingest',
    code: 'wrong-sender',
    detail: '',
    atMs: 1,
    ...change,
  });

  it('notes refusals, whatever their fields hold', async () => {
    const cluster = `#/../${'x'.repeat(3000)}`;
    const detail = 'a\nb'.repeat(5000);
    const note = noteOf({ cluster, detail, code: 'unknown-cluster', senderRoleId: undefined });
    assert.equal(await store().noteRefusal(note), 'first');
  });

  it('tells the first refusal of a sender and code, and again after a day without', async () => {
    const startMs = 1_000 * HOUR_MS;
    const senders = [freshName('AROA'), freshName('AROA')];
    const refuse = (sender: number, code: string, hour: number): Promise<unknown> =>
      store().noteRefusal(
        noteOf({ senderRoleId: senders[sender], code, atMs: startMs + hour * HOUR_MS }),
      );
    assert.equal(await refuse(0, 'wrong-sender', 0), 'first');
    assert.equal(await refuse(0, 'wrong-sender', 0.1), 'noted');
    assert.equal(await refuse(0, 'wrong-sender', 23), 'noted');
    assert.equal(await refuse(0, 'wrong-group', 23), 'first', 'another code');
    assert.equal(await refuse(1, 'wrong-sender', 23), 'first', 'another sender');
    assert.equal(await refuse(0, 'wrong-sender', 46), 'noted', 'a day since the last one');
    assert.equal(await refuse(0, 'wrong-sender', 71), 'first');
  });

  it('lists what was refused of a cluster, apart from what others claim about it (S6)', async () => {
    const [cluster, other] = [clusterId(freshName('noted')), clusterId(freshName('other'))];
    const of = { cluster, atMs: 5 };
    const own = noteOf({ ...of, sender: 'verified', code: 'wrong-cluster-uid', detail: 'uid-2' });
    const forged = noteOf({ ...of, senderRoleId: freshName('AROA') });
    const unknown = noteOf({ ...forged, queue: 'credentials', code: 'unknown-cluster' });
    const elsewhere = noteOf({ ...forged, cluster: other });
    for (const note of [own, forged, unknown, elsewhere]) await store().noteRefusal(note);
    assert.deepEqual(await store().listRefusals(cluster, 'verified'), [own]);
    const claims = await store().listRefusals(cluster, 'unverified');
    assert.deepEqual(new Set(claims), new Set([forged, unknown]));
    assert.deepEqual(await store().listRefusals(other, 'unverified'), [elsewhere]);
    assert.deepEqual(await store().listRefusals(other, 'verified'), []);
  });

  it('replaces the note of a sender and code by its repeat', async () => {
    const cluster = clusterId(freshName('again'));
    for (const atMs of [5, 10 * HOUR_MS]) {
      await store().noteRefusal(noteOf({ cluster, sender: 'verified', code: 'invalid', atMs }));
    }
    const [note, ...more] = await store().listRefusals(cluster, 'verified');
    assert.deepEqual([note?.atMs, more], [10 * HOUR_MS, []]);
  });
}
