/**
 * A cluster of five thousand DaemonSets, nearly all of one tenant and selecting no node, on virtual time (issue 40).
 *
 * What it may cost is bounded: messages of a snapshot, their bytes, and META, which is written with every message and must not
 * grow with them. Only the DaemonSet of somebody else is reconciled here: what five thousand cost there is told elsewhere.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { EVENT_BODY_BYTES_MAX } from '../../src/adapters/sqs/event-queue.ts';
import { encodeWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { WatcherMessage } from '../../src/core/model/watcher-message.ts';
import { podsOf, theWatcher } from '../support/simulation/look.ts';
import { WideObserver } from '../support/simulation/wide-observer.ts';
import { World } from '../support/simulation/world.ts';

const COUNT = 5000;
/** Two empty sets for each DaemonSet, 64 slices a message, beside their objects. */
const MESSAGES_MAX = 250;
const BYTES_MAX = 8_000_000;
const META_BYTES_MAX = 32_768;

function bytesOf(message: WatcherMessage): number {
  return Buffer.byteLength(encodeWatcherMessage(message));
}

/** What a snapshot cost, once it closed; what came before it is not counted. */
async function snapshotOf(world: World, begin: () => void): Promise<void> {
  const before = world.queues.events.length;
  begin();
  for (let waitedMs = 0; waitedMs < 600_000; waitedMs += 1000) {
    await world.advance(1000);
    const meta = await world.view.readMeta(world.api.clusterUid);
    const bytes = Buffer.byteLength(JSON.stringify(meta ?? null));
    assert.ok(bytes <= META_BYTES_MAX, `META of ${String(bytes)} bytes`);
    if (meta?.isComplete === true && meta.snapshot === undefined && meta.seq > before) break;
  }
  const sent = world.queues.events.slice(before);
  const kinds = sent.map(({ body }) => body.kind);
  assert.ok(kinds.includes('manifest'), 'the snapshot closed');
  assert.equal(kinds.filter((kind) => kind === 'announcement').length, 1, 'at once');
  assert.ok(sent.length <= MESSAGES_MAX, `${String(sent.length)} messages`);
  const sizes = sent.map(bytesOf);
  assert.ok(Math.max(...sizes) <= EVENT_BODY_BYTES_MAX, `${String(Math.max(...sizes))} bytes`);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(all <= BYTES_MAX, `${String(all)} bytes in all`);
}

test('protocol 16, 18, 22: a snapshot of five thousand DaemonSets costs no more than its bound, also of a restart and when asked for', async () => {
  const world = new World({ nodes: ['n1', 'n2', 'n3'], observer: new WideObserver() });
  world.queues.bytesMax = EVENT_BODY_BYTES_MAX;
  world.mapping('reconcile.fifo').isPaused = true;
  world.addDaemonSet('agent');
  for (let index = 1; index < COUNT; index += 1) {
    const digest = createHash('sha512').update(String(index)).digest('hex');
    world.addDaemonSet(`tenant-${digest}`, { nodeSelector: { nobody: 'has-this' } });
  }
  await snapshotOf(world, () => {
    world.startWatcher();
  });
  void world.reconcileNow('agent');
  await world.advance(30_000);
  assert.equal(podsOf(world, 'agent').length, 3);

  await snapshotOf(world, () => {
    world.stopWatcher(theWatcher(world));
    world.addNode('n4');
    world.startWatcher();
  });
  void world.reconcileNow('agent');
  await world.advance(30_000);
  assert.equal(podsOf(world, 'agent').length, 4);

  await snapshotOf(world, () => {
    void world.api.requestSnapshot('request-1');
  });
  const { names } = await world.view.listNames(world.api.clusterUid, { limit: 2 * COUNT });
  assert.equal(names.length, COUNT);
  world.assertSafe();
});
