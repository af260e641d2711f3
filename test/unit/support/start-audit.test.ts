/** Protocol 5 from outside: until when a create may start, by what its run recorded and by what is on record of its name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeIntents } from '../../../src/core/intents/merge-intents.ts';
import { clusterUid, nodeName, uid } from '../../../src/core/model/identifiers.ts';
import { emptyState } from '../../../src/core/model/state.ts';
import type { CreateIntent, Intent } from '../../../src/core/model/state.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { MemoryViewStore } from '../../support/memory-view-store.ts';
import { notedView } from '../../support/simulation/noted-view.ts';
import { StartAudit } from '../../support/simulation/start-audit.ts';

const NOW_MS = 1_000_000;
const NAME = 'agent-1';

function recorded(recordedAtMs: number, startsByMs: number): CreateIntent {
  return { kind: 'create', node: nodeName('n1'), name: NAME, recordedAtMs, startsByMs };
}

/** What is said of a create that starts then, where this is on record. */
function reportsOf(
  intents: readonly Intent[],
  at: { readonly nowMs: number; readonly ownByMs: number | undefined },
): readonly string[] {
  const reports: string[] = [];
  const audit = new StartAudit((text) => reports.push(text));
  audit.noteState({ ...emptyState(NOW_MS), intents });
  audit.check({ name: NAME }, at);
  return reports;
}

describe('protocol 5: a create starts', () => {
  const first = recorded(NOW_MS, NOW_MS + 20_000);
  const shorter = recorded(NOW_MS + 1000, NOW_MS + 19_000);
  const both = mergeIntents([first], { record: [shorter] });

  it('while its intent says that it may, and no millisecond longer', () => {
    const ownByMs = first.startsByMs;
    assert.deepEqual(reportsOf([first], { nowMs: NOW_MS + 20_000, ownByMs }), []);
    const [report] = reportsOf([first], { nowMs: NOW_MS + 20_001, ownByMs });
    assert.match(report ?? '', /^S1: agent-1 is asked for 1 ms after its intent is over$/);
  });

  it('as late as its own run recorded, though a run that ends sooner recorded the name after it', () => {
    const ownByMs = first.startsByMs;
    assert.deepEqual(reportsOf(both, { nowMs: NOW_MS + 20_000, ownByMs }), []);
    assert.equal(reportsOf(both, { nowMs: NOW_MS + 20_001, ownByMs }).length, 1);
  });

  it('no later than its own run recorded, though another one may be later still', () => {
    const ownByMs = shorter.startsByMs;
    assert.deepEqual(reportsOf(both, { nowMs: NOW_MS + 19_000, ownByMs }), []);
    assert.equal(reportsOf(both, { nowMs: NOW_MS + 19_001, ownByMs }).length, 1);
  });

  it('never while a record of its name has forgotten that it may', () => {
    const ownByMs = first.startsByMs;
    assert.equal(reportsOf([shorter], { nowMs: NOW_MS + 19_500, ownByMs }).length, 1);
  });

  it('by a record that its run itself stored, not by one that it lost or that another run stored', async () => {
    const store = new MemoryViewStore();
    const ref = { clusterUid: clusterUid('a'), uid: uid('u') };
    const [one, other] = [store, store].map((view) => notedView(view, new VirtualClock()));
    assert.ok(one !== undefined && other !== undefined);
    const state = { ...emptyState(NOW_MS), intents: [first] };
    assert.equal(await one.view.writeState(ref, state), 'written');
    assert.equal(await other.view.writeState(ref, { ...state, intents: [shorter] }), 'lost');
    assert.equal(one.startsByMs(NAME), first.startsByMs);
    assert.equal(other.startsByMs(NAME), undefined);
  });
});
