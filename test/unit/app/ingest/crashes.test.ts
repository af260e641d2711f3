/** Crashes, lost answers and zombies: redelivery repairs everything, the late change nothing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WatcherMessage } from '../../../../src/core/model/watcher-message.ts';
import { createIngestProcessCache } from '../../../../src/app/ingest/process/dependencies.ts';
import { IngestHarness, contentOf, deliver } from '../../../support/ingest-harness.ts';
import {
  ScriptedSender,
  daemonSetOf,
  nodeOf,
  podOf,
  revisionOf,
} from '../../../support/scripted-sender.ts';
import { failingAtWrite } from '../../../support/store-hooks.ts';

/** A life of a small cluster: everything that a message can do. */
function story(): readonly WatcherMessage[] {
  const first = new ScriptedSender({ epoch: '100' });
  first.sliceCount = 4;
  first.know([
    daemonSetOf('logs'),
    daemonSetOf('mesh'),
    nodeOf('n1'),
    nodeOf('n2'),
    podOf('p1', ['ds-logs']),
    revisionOf('r1', 'ds-logs'),
  ]);
  const messages = [
    ...first.snapshot(),
    first.changes([nodeOf('n3'), podOf('p2', ['ds-logs']), podOf('p3', ['ds-mesh'])]),
    first.changes([daemonSetOf('new'), podOf('o1', ['ds-new', 'ds-mesh'])], { cut: false }),
    first.changes([daemonSetOf('logs', 2), revisionOf('r2', 'ds-logs')]),
    first.changes([podOf('o1', ['ds-new'], { version: 2 })], { gone: ['node-uid-n2'] }),
    first.changes([daemonSetOf('mesh', 4, 'ds-mesh-2')], { gone: ['ds-mesh', 'pod-uid-p3'] }),
    ...first.snapshot({ reason: 'periodic' }),
    first.heartbeat(),
  ];
  const second = new ScriptedSender({ epoch: '200' });
  second.sliceCount = 1;
  second.know([daemonSetOf('logs', 2), nodeOf('n1', 3), podOf('p1', ['ds-logs'])]);
  return [
    ...messages,
    second.announce(),
    second.slices(),
    second.changes([podOf('p4', ['ds-logs'])]),
    second.manifest(),
    second.changes([nodeOf('n4')]),
  ];
}

/** Keys hinted, by the message whose prefix they were sent under. */
function hintsByMessage(harness: IngestHarness): Readonly<Record<string, readonly string[]>> {
  const hints = new Map<string, Set<string>>();
  for (const { prefix, keys } of harness.queue.sends) {
    const known = hints.get(prefix) ?? new Set<string>();
    for (const key of keys) known.add(key);
    hints.set(prefix, known);
  }
  return Object.fromEntries([...hints].map(([prefix, keys]) => [prefix, [...keys].sort()]));
}

async function reference(): Promise<IngestHarness> {
  const harness = new IngestHarness();
  await harness.ingestAll(story());
  return harness;
}

describe('a crash of ingest', () => {
  for (const moment of ['before', 'after'] as const) {
    it(`row 1: ${moment} any write of any message: same view, all hints (L2)`, async () => {
      const wanted = await reference();
      const messages = story();
      let crashes = 0;
      for (const [position, message] of messages.entries()) {
        for (let write = 0; ; write += 1) {
          const harness = new IngestHarness();
          if (position > 0) await harness.ingestAll(messages.slice(0, position));
          if (write % 2 === 0) harness.restart();
          harness.view.hooks = failingAtWrite(write, moment);
          const failed = await harness.ingest(message).then(
            () => false,
            () => true,
          );
          harness.view.hooks = {};
          if (!failed) break;
          crashes += 1;
          if (write % 3 === 0) harness.restart();
          await harness.ingestAll(messages.slice(position));
          const where = `message ${position}, write ${write}`;
          assert.deepEqual(contentOf(harness.view), contentOf(wanted.view), where);
          assert.deepEqual(hintsByMessage(harness), hintsByMessage(wanted), where);
        }
      }
      assert.ok(crashes > 60, `only ${crashes} crashes were injected`);
    });
  }

  it('between META and the request for a snapshot: META says that one is needed', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    await harness.ingestAll(sender.snapshot());
    sender.seq += 1;
    harness.view.hooks = {
      after: ({ operation }) => {
        if (operation === 'writeMeta') throw new Error('killed');
      },
    };
    await assert.rejects(harness.ingest(sender.heartbeat()));
    assert.equal((await harness.meta()).isComplete, false, 'first complete = false');
    assert.equal(harness.lease.requests.length, 0, 'resync repeats it (protocol 17)');
  });
});

describe('two runs of ingest', () => {
  it('row 79: a run that wakes up late, wherever it slept, brings nothing back', async () => {
    const wanted = await reference();
    const messages = story();
    let sleeps = 0;
    for (const [position, message] of messages.entries()) {
      for (let call = 0; ; call += 1) {
        const harness = new IngestHarness();
        if (position > 0) await harness.ingestAll(messages.slice(0, position));
        if (call % 2 === 0) harness.restart();
        let wake: (() => void) | undefined;
        let seen = 0;
        const reached = new Promise<boolean>((resolve) => {
          harness.view.hooks.before = () => {
            seen += 1;
            if (seen !== call + 1) return undefined;
            resolve(true);
            return new Promise<void>((resume) => {
              wake = resume;
            });
          };
          const zombie = {
            ...harness.dependencies(),
            processCache: harness.dependencies().processCache,
          };
          void deliver(message, harness.context(), zombie)
            .then(() => resolve(false))
            .catch(() => undefined)
            .finally(() => finished());
        });
        let finished = (): void => undefined;
        const end = new Promise<void>((resolve) => {
          finished = resolve;
        });
        if (!(await reached)) break;
        sleeps += 1;
        harness.restart();
        harness.view.hooks = {};
        await harness.ingestAll(messages.slice(position));
        wake?.();
        await end;
        const where = `message ${position}, call ${call}`;
        assert.deepEqual(contentOf(harness.view), contentOf(wanted.view), where);
      }
    }
    assert.ok(sleeps > 100, `only ${sleeps} sleeps were tried`);
  });

  it('side by side on one message leave the view as one would', async () => {
    const wanted = await reference();
    const harness = new IngestHarness();
    for (const message of story()) {
      const other = { ...harness.dependencies(), processCache: createIngestProcessCache() };
      await Promise.all([harness.ingest(message), deliver(message, harness.context(), other)]);
    }
    assert.deepEqual(contentOf(harness.view), contentOf(wanted.view));
    assert.deepEqual(hintsByMessage(harness), hintsByMessage(wanted));
  });

  it('a remembered slice that another process has changed is read again', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    sender.know([daemonSetOf('logs'), nodeOf('n1')]);
    await harness.ingestAll([...sender.snapshot(), sender.changes([nodeOf('n2')])]);
    const other = { ...harness.dependencies(), processCache: createIngestProcessCache() };
    await deliver(sender.changes([nodeOf('n3')]), harness.context(), other);
    await harness.ingest(sender.changes([], { gone: ['node-uid-n1'] }));
    assert.deepEqual(await harness.namesIn('nodes'), ['n2', 'n3']);
    assert.equal((await harness.ingest(sender.heartbeat())).kind, 'applied');
  });
});
