/** Waiting until nothing of ours is under way in a cluster, however many DaemonSets it has (protocol 4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { awaitSilence } from '../../../../src/app/clusters/await-silence.ts';
import { clusterUid, nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import { emptyState } from '../../../../src/core/model/state.ts';
import { RUN_MAX_MS, resolvedAtMs } from '../../../../src/core/pod/request-life.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { stampAt } from '../../../support/store-suite.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const UID = clusterUid('uid-of-prod');

describe('awaitSilence', () => {
  it('waits for an open request of any DaemonSet, beyond the first hundred too', async () => {
    const clock = new VirtualClock();
    const view = new MemoryViewStore();
    for (let index = 100; index < 201; index += 1) {
      const name = {
        namespace: 'infra',
        name: `set-${String(index)}`,
        uid: uid(`u${String(index)}`),
      };
      await view.writeName(UID, { ...name, stamp: stampAt(1) });
    }
    const startedMs = clock.nowMs();
    const intent = {
      kind: 'create',
      node: nodeName('node-1'),
      name: 'late',
      recordedAtMs: startedMs + 50_000,
      startsByMs: startedMs + 50_000 + RUN_MAX_MS,
    } as const;
    const state = { ...emptyState(0), intents: [intent] };
    await view.writeState({ clusterUid: UID, uid: uid('u200') }, state);
    const sleptMs: number[] = [];
    const sleeping: Clock = {
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      after: (delayMs, callback) => clock.after(delayMs, callback),
      sleep: async (durationMs) => {
        sleptMs.push(durationMs);
        await clock.advance(durationMs);
      },
    };
    const dependencies = { view, clock: sleeping, requestTimeoutMs: 10_000, functionMaxMs: 0 };
    assert.equal(await awaitSilence(UID, dependencies), true);
    const deadAtMs = resolvedAtMs(intent, dependencies.requestTimeoutMs);
    assert.deepEqual(sleptMs, [20_000, deadAtMs - startedMs - 20_000]);
  });
});
