/** Where revisions stand as they come, change hands and go: whoever they stand with is woken (spec 2.2, protocol 20, 21). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createWatcherHarness,
  daemonSetDraft,
  ownerOf,
  revisionDraft,
} from '../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

/** Two DaemonSets that select app=agent, one that does not. */
async function watching(): Promise<{
  readonly harness: WatcherHarness;
  readonly seenBy: () => Promise<Record<string, readonly string[]>>;
  readonly stop: () => Promise<void>;
}> {
  const harness = createWatcherHarness();
  const { source, clock } = harness;
  for (const [uid, app] of [
    ['one', 'agent'],
    ['two', 'agent'],
    ['apart', 'apart'],
  ] as const) {
    const spec = { selector: { matchLabels: { app } }, template: { spec: { containers: [] } } };
    source.put('DaemonSet', daemonSetDraft(uid, { uid, spec }));
  }
  const watcher = await harness.startSettled();
  const seenBy = async (): Promise<Record<string, readonly string[]>> => {
    await clock.advance(500);
    const reader = harness.ingest();
    const entries = ['one', 'two', 'apart'].map((uid): [string, readonly string[]] => [
      uid,
      [...reader.set(`revisions/${uid}`).values()].map(({ name }) => name),
    ]);
    return Object.fromEntries(entries.filter(([, names]) => names.length > 0));
  };
  return { harness, seenBy, stop: () => watcher.stop() };
}

const orphan = (name: string, label = 'agent'): ReturnType<typeof revisionDraft> => {
  const draft = revisionDraft(name, 'one');
  return { ...draft, metadata: { ...draft.metadata, labels: { app: label }, ownerReferences: [] } };
};

describe('revisions (upstream never tests: revision event handlers)', () => {
  it('an owned one is seen by its owner alone, whatever its labels', async () => {
    const { harness, seenBy, stop } = await watching();
    harness.source.put('ControllerRevision', revisionDraft('r', 'two'));
    assert.deepEqual(await seenBy(), { two: ['r'] });
    const moved = { ...revisionDraft('r', 'two') };
    const metadata = { ...moved.metadata, labels: { app: 'apart' } };
    harness.source.put('ControllerRevision', { ...moved, metadata });
    assert.deepEqual(await seenBy(), { two: ['r'] });
    await stop();
  });

  it('an orphan is seen by every DaemonSet that selects it, and by others once its labels change', async () => {
    const { harness, seenBy, stop } = await watching();
    harness.source.put('ControllerRevision', orphan('r'));
    assert.deepEqual(await seenBy(), { one: ['r'], two: ['r'] });
    harness.source.put('ControllerRevision', orphan('r', 'apart'));
    assert.deepEqual(await seenBy(), { apart: ['r'] });
    await stop();
  });

  it('one that is adopted leaves the others, one that is released comes back to them', async () => {
    const { harness, seenBy, stop } = await watching();
    const adopted = { ...orphan('r') };
    harness.source.put('ControllerRevision', adopted);
    const metadata = { ...adopted.metadata, ownerReferences: [ownerOf('DaemonSet', 'one')] };
    harness.source.put('ControllerRevision', { ...adopted, metadata });
    assert.deepEqual(await seenBy(), { one: ['r'] });
    harness.source.put('ControllerRevision', orphan('r'));
    assert.deepEqual(await seenBy(), { one: ['r'], two: ['r'] });
    await stop();
  });

  it('one that is deleted is gone for whoever saw it; a number that changes is a change', async () => {
    const { harness, seenBy, stop } = await watching();
    harness.source.put('ControllerRevision', revisionDraft('r', 'one', 1));
    assert.deepEqual(await seenBy(), { one: ['r'] });
    const sent = harness.queue.accepted.length;
    harness.source.put('ControllerRevision', revisionDraft('r', 'one', 4));
    await seenBy();
    assert.ok(harness.queue.accepted.length > sent, 'renumbered');
    harness.source.remove('ControllerRevision', { name: 'r', namespace: 'infra' });
    assert.deepEqual(await seenBy(), {});
    await stop();
  });
});
