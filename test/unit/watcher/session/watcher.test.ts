/** The watcher as a whole, from its start to its stop (design 2, protocol 14 and 16). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
  revisionDraft,
} from '../../../support/watcher-harness.ts';

test('a start announces itself, lists, sends whole slices and closes them by a manifest', async () => {
  const { source, queue, startSettled, ingest } = createWatcherHarness();
  source.put('Node', nodeDraft('n1'));
  source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1' }));
  source.put('Pod', podDraft('agent-1', { owner: 'ds1', node: 'n1' }));
  source.put('ControllerRevision', revisionDraft('agent-a', 'ds1'));
  const watcher = await startSettled();

  const kinds = queue.accepted.map(({ body }) => body.kind);
  assert.deepEqual(kinds, ['announcement', 'slices', 'slices', 'manifest']);
  assert.deepEqual(
    queue.accepted.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  const reader = ingest();
  assert.equal(reader.isComplete, true);
  assert.equal(reader.set('nodes').size, 1);
  assert.deepEqual(
    [...reader.set('pods/ds1').values()].map(({ name }) => name),
    ['agent-1'],
  );
  assert.equal(reader.set('revisions/ds1').size, 1);
  await watcher.stop();
});

test('a change is sent a few milliseconds after it was seen', async () => {
  const { clock, source, queue, startSettled } = createWatcherHarness();
  const watcher = await startSettled();
  const before = queue.accepted.length;
  source.put('Node', nodeDraft('n1'));
  await clock.advance(6);
  assert.equal(queue.accepted.length, before + 1);
  await watcher.stop();
});

test('a stop is prompt and leaves nothing running, whatever the watcher waits for', async () => {
  for (const waitMs of [0, 1, 500, 5000]) {
    const { clock, queue, source, newWatcher } = createWatcherHarness();
    source.put('Node', nodeDraft('n1'));
    queue.faultOf = () => (waitMs === 500 ? 'unsent' : undefined);
    const watcher = newWatcher();
    await watcher.start();
    await clock.advance(waitMs);
    await watcher.stop();
    assert.equal(clock.pendingTimers, 0);
    const tries = queue.tries.length;
    await clock.advance(3_600_000);
    assert.equal(queue.tries.length, tries);
    assert.equal(source.openStreams('Node'), 0);
    assert.equal(watcher.status().state, 'stopped');
  }
});
