/** A watcher that is heard again after a silence has an entry in the log. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { LogItem } from '../../../../src/core/model/log-entry.ts';
import { SILENT_AFTER_MS } from '../../../../src/core/status/outages.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../support/scripted-sender.ts';

async function heardAfter(silentMs: number): Promise<{
  readonly harness: IngestHarness;
  readonly sender: ScriptedSender;
  readonly sinceMs: number;
}> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ epoch: '1000' });
  sender.know([daemonSetOf('logs'), nodeOf('n1')]);
  await harness.ingestAll(sender.snapshot());
  const sinceMs = harness.clock.nowMs();
  await harness.clock.advance(silentMs);
  return { harness, sender, sinceMs };
}

async function itemsOf({ view, clock }: IngestHarness): Promise<readonly LogItem[]> {
  const nowMs = clock.nowMs();
  const day = new Date(nowMs).toISOString().slice(0, 10);
  return (await view.listLogItems(clusterUid('uid-of-c1'), { day, nowMs })).items;
}

describe('a watcher that is heard again', () => {
  it('is told once, from when to when, though its message comes twice', async () => {
    const { harness, sender, sinceMs } = await heardAfter(SILENT_AFTER_MS + 1);
    const message = sender.heartbeat();
    await harness.ingest(message);
    await harness.ingest(message);
    await harness.ingest(sender.heartbeat());
    const [item, ...others] = await itemsOf(harness);
    assert.deepEqual(others, []);
    assert.deepEqual(item?.subject, { kind: 'cluster' });
    const atMs = harness.clock.nowMs();
    assert.deepEqual(item.entries, [{ kind: 'silence', atMs, sinceMs }]);
  });

  it('is not told within the time of its heartbeats', async () => {
    const { harness, sender } = await heardAfter(SILENT_AFTER_MS);
    await harness.ingest(sender.heartbeat());
    assert.deepEqual(await itemsOf(harness), []);
  });

  it('is not told of one that stood by, which had said so', async () => {
    const { harness, sender, sinceMs } = await heardAfter(SILENT_AFTER_MS + 1);
    const watcherStandsBy = { holder: 'other', sinceMs };
    await harness.view.writeMeta({ ...(await harness.meta()), watcherStandsBy });
    await harness.ingest(sender.heartbeat());
    assert.deepEqual(await itemsOf(harness), []);
  });

  it('is heard where the entry cannot be written, which is warned of', async () => {
    const { harness, sender } = await heardAfter(SILENT_AFTER_MS + 1);
    harness.view.hooks = {
      before: ({ operation }) =>
        operation === 'putLogItem' ? Promise.reject(new Error('no table')) : Promise.resolve(),
    };
    const result = await harness.ingest(sender.heartbeat());
    assert.equal(result.kind, 'applied');
    assert.ok(harness.log.lines.some(({ level }) => level === 'warn'));
  });
});
