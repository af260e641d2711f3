// What becomes of a state that is too large for its item: half of its waits go, and the run goes on.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { encodeBody } from '../../../../../src/adapters/dynamodb/item-codec.ts';
import type { EndContext } from '../../../../../src/app/reconcile/run/context.ts';
import { writeState } from '../../../../../src/app/reconcile/run/record-state.ts';
import { clusterUid, nodeName, uid } from '../../../../../src/core/model/identifiers.ts';
import { emptyState, type DaemonSetState } from '../../../../../src/core/model/state.ts';
import { NOW_MS } from '../../../../support/core-fixtures.ts';

const ref = { clusterUid: clusterUid('c'), uid: uid('d') };

/** Refused with messages of which nothing can be compressed. */
function refusedOn(nodes: number): DaemonSetState {
  const random = seededRandom(1);
  const noise = (): string =>
    Array.from({ length: 300 }, () =>
      String.fromCodePoint(0x4e00 + Math.floor(random.next() * 20_000)),
    ).join('');
  const refusals = Array.from({ length: nodes }, (_, index) => ({
    node: nodeName(`n${String(index).padStart(4, '0')}`),
    generation: 1,
    code: 'forbidden',
    message: noise(),
    delayMs: 1000,
    notBeforeMs: NOW_MS + index,
  }));
  return { ...emptyState(NOW_MS), refusals };
}

function contextOf(stored: DaemonSetState[], log: MemoryLog): EndContext {
  const store = {
    writeState: (_ref: unknown, state: DaemonSetState) => {
      encodeBody({ pk: 'c', sk: 'd' }, state);
      stored.push(state);
      return Promise.resolve('written');
    },
  };
  const key = { cluster: 'c', namespace: 'ns', name: 'agent' };
  // Nothing else of the context is looked at.
  const dependencies = { view: store, log, clock: { nowMs: () => NOW_MS } };
  return { dependencies, note: {}, hint: { key } } as unknown as EndContext; // what is looked at
}

describe('writeState', () => {
  it('keeps the waits that end soonest where all of them do not fit, and says how many are left out', async () => {
    const [stored, log] = [new Array<DaemonSetState>(), new MemoryLog()];
    const to = refusedOn(900);
    const written = await writeState({ from: to, to, settled: [] }, ref, contextOf(stored, log));
    assert.equal(written.kind, 'written');
    const kept = stored.at(-1)?.refusals ?? [];
    assert.ok(kept.length > 100 && kept.length < 900, String(kept.length));
    assert.deepEqual(kept, to.refusals?.slice(0, kept.length));
    assert.match(JSON.stringify(log.lines), new RegExp(`"leftOut":${String(900 - kept.length)}`));
  });

  it('lets the log go before any wait', async () => {
    const stored = new Array<DaemonSetState>();
    const all = refusedOn(900);
    const kept = { ...all, refusals: all.refusals?.slice(0, 300) ?? [] };
    const message = (all.refusals ?? []).map((each) => each.message).join('');
    const halt = { kind: 'halt', atMs: NOW_MS, cause: 'NotReady', message, names: [] } as const;
    const to = { ...kept, log: { entries: [halt] } };
    await writeState({ from: to, to, settled: [] }, ref, contextOf(stored, new MemoryLog()));
    assert.deepEqual(stored, [kept]);
  });

  it('says nothing of a state that fits', async () => {
    const [stored, log] = [new Array<DaemonSetState>(), new MemoryLog()];
    const to = refusedOn(10);
    await writeState({ from: to, to, settled: [] }, ref, contextOf(stored, log));
    assert.deepEqual(stored, [to]);
    assert.deepEqual(log.lines, []);
  });

  it('rejects where there is nothing left to leave out, and for any other error', async () => {
    const context = contextOf([], new MemoryLog());
    const events = refusedOn(900).refusals?.map(({ message }) => message);
    const to = { ...emptyState(NOW_MS), verdictsHash: events?.join('') ?? '' };
    await assert.rejects(writeState({ from: to, to, settled: [] }, ref, context), {
      code: 'item-too-large',
    });
    const throttled = { writeState: () => Promise.reject(new Error('throttled')) };
    const other = { ...context, dependencies: { ...context.dependencies, view: throttled } };
    const small = refusedOn(1);
    await assert.rejects(
      writeState({ from: small, to: small, settled: [] }, ref, other as unknown as EndContext),
      /throttled/,
    );
  });
});
