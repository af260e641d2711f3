/** An orphan that hundreds of DaemonSets select: what tells of it may not grow with them (protocol 22, issue 40). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
} from '../../support/watcher-harness.ts';

const SELECTING = 600;
/** Too small for one object in so many sets, large enough for all else. */
const MESSAGE_BYTES_MAX = 60_000;

test('protocol 22: an orphan that hundreds of DaemonSets select ends no epoch when it changes', async () => {
  const harness = createWatcherHarness({ messageBytesMax: MESSAGE_BYTES_MAX });
  const spec = { selector: { matchLabels: { app: 'all' } }, template: { spec: {} } };
  for (let index = 0; index < SELECTING; index += 1) {
    harness.source.put('DaemonSet', daemonSetDraft(`tenant-${String(index)}`, { spec }));
  }
  harness.source.put('Node', nodeDraft('n1'));
  const watcher = await harness.startSettled();
  for (const ready of [false, true]) {
    harness.source.put('Pod', podDraft('orphan', { app: 'all', ready }));
    await harness.clock.advance(60_000);
  }
  assert.equal(harness.queue.bodies('announcement').length, 1);
  const deltas = harness.queue.bodies('changes').flatMap((body) => body.deltas);
  const ofOrphan = deltas.filter(({ name }) => name === 'orphan');
  assert.deepEqual(
    ofOrphan.map(({ sets }) => sets.length),
    [100, 100],
  );
  // Once those that had it are gone, it stands with others.
  for (let index = 0; index < SELECTING; index += 2) {
    harness.source.remove('DaemonSet', { name: `tenant-${String(index)}`, namespace: 'infra' });
  }
  await harness.clock.advance(60_000);
  const sets = [...harness.ingest().sets].filter(
    ([set, members]) => set.startsWith('pods/') && members.size > 0,
  );
  assert.equal(sets.length, 100);
  await watcher.stop();
});
