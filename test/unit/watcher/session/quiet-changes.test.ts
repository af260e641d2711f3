/** What decides nothing waits for others: a status a second at most, what only explains five (ADR 0079). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WatcherMessage } from '../../../../src/core/model/watcher-message.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../../../src/watcher/session/options.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
} from '../../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../../support/watcher-harness.ts';

const namesOf = (messages: readonly WatcherMessage[]): readonly string[][] =>
  messages.map(({ body }) => (body.kind === 'changes' ? body.deltas.map(({ name }) => name) : []));

const statusOf = (ready: number): object => ({
  status: { observedGeneration: 1, desiredNumberScheduled: 0, numberReady: ready },
});

async function settled(): Promise<{
  readonly harness: WatcherHarness;
  readonly stop: () => Promise<void>;
}> {
  const harness = createWatcherHarness({ flush: DEFAULT_WATCHER_OPTIONS.flush });
  harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', ...statusOf(0) }));
  const watcher = await harness.startSettled();
  harness.news();
  return { harness, stop: () => watcher.stop() };
}

describe('a status that changed alone', () => {
  it('is sent within a second, with its mark, and once for several', async () => {
    const { harness, stop } = await settled();
    for (const ready of [1, 2, 3]) {
      harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', ...statusOf(ready) }));
      await harness.clock.advance(300);
      assert.deepEqual(namesOf(harness.news()), []);
    }
    const { version } = harness.source;
    await harness.clock.advance(110);
    const news = harness.news();
    assert.deepEqual(namesOf(news), [['agent']]);
    const [body] = news.map((message) => message.body);
    assert.equal(body?.kind === 'changes' && body.cut?.marks.DaemonSet, String(version));
    await stop();
  });

  it('travels with the next change, whatever that is of', async () => {
    const { harness, stop } = await settled();
    harness.source.put('DaemonSet', daemonSetDraft('agent', { uid: 'ds1', ...statusOf(1) }));
    await harness.clock.advance(300);
    harness.source.put('Node', nodeDraft('n1'));
    await harness.clock.advance(10);
    assert.deepEqual(namesOf(harness.news()), [['agent', 'n1']]);
    await stop();
  });

  it('is sent at once where anything else of the DaemonSet changed, also before it', async () => {
    for (const changed of [
      { spec: { selector: { matchLabels: { app: 'agent' } }, template: {}, minReadySeconds: 5 } },
      {
        metadata: {
          name: 'agent',
          namespace: 'infra',
          uid: 'ds1',
          generation: 1,
          labels: { a: 'b' },
        },
      },
    ]) {
      const { harness, stop } = await settled();
      const uid = { uid: 'ds1' };
      harness.source.put('DaemonSet', daemonSetDraft('agent', { ...uid, ...changed }));
      harness.source.put(
        'DaemonSet',
        daemonSetDraft('agent', { ...uid, ...changed, ...statusOf(1) }),
      );
      await harness.clock.advance(10);
      assert.deepEqual(namesOf(harness.news()), [['agent']]);
      await stop();
    }
  });
});

describe('a change that only explains', () => {
  const put = ({ source }: WatcherHarness, name: string, phase: string): void => {
    source.put('Pod', { ...podDraft(name, { owner: 'ds1', node: 'n1' }), status: { phase } });
  };

  it('is sent within five seconds, once for several, and no other such change puts it off', async () => {
    const { harness, stop } = await settled();
    put(harness, 'p', 'Pending');
    put(harness, 'q', 'Pending');
    await harness.clock.advance(2000);
    harness.news();
    put(harness, 'p', 'Running');
    await harness.clock.advance(4000);
    put(harness, 'q', 'Running');
    await harness.clock.advance(900);
    assert.deepEqual(namesOf(harness.news()), []);
    await harness.clock.advance(110);
    assert.deepEqual(namesOf(harness.news()), [['p', 'q']]);
    await stop();
  });

  it('travels with what decides', async () => {
    const { harness, stop } = await settled();
    harness.source.put('Node', nodeDraft('n1'));
    put(harness, 'p', 'Pending');
    await harness.clock.advance(2000);
    harness.news();
    put(harness, 'p', 'Running');
    put(harness, 'q', 'Failed');
    await harness.clock.advance(10);
    assert.deepEqual(namesOf(harness.news()), [['p', 'q']]);
    await stop();
  });
});
