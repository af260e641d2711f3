/** What a state keeps of pods that no slice shows (S13, ADR 0030). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buriedAfter } from '../../../../../src/app/reconcile/run/record-state.ts';
import type { ReconcileInput } from '../../../../../src/app/reconcile/run/context.ts';
import type { PodProjection, Tombstone } from '../../../../../src/core/model/projections.ts';
import { TOMBSTONE_KEPT_MS } from '../../../../../src/core/pod/tombstones.ts';
import {
  NOW_MS,
  answerOf,
  createIntent,
  meta,
  pod,
  tombstone,
} from '../../../../support/core-fixtures.ts';

type Bury = Pick<ReconcileInput, 'read' | 'shown' | 'nowMs' | 'stored'>;

const TOLD_AT_MS = NOW_MS - 20_000;

function input(change: {
  readonly shown?: readonly PodProjection[];
  readonly read?: readonly PodProjection[];
  readonly gone?: readonly Tombstone[];
}): Bury {
  const { shown = [], read = shown, gone = [] } = change;
  return {
    shown,
    nowMs: NOW_MS,
    read: { nodes: [], pods: read, gone, revisions: [], opaque: [] },
    // Nothing else of the stored is looked at.
    stored: { meta: meta({ lastSentAtMs: TOLD_AT_MS }) } as ReconcileInput['stored'],
  };
}

const made = createIntent('n1', { answer: answerOf('x') });
const living = pod('n1', { name: made.name, uid: answerOf('x').uid });
const namesOf = (stored: readonly Tombstone[], at: Bury): readonly string[] =>
  (buriedAfter({ buried: stored }, [made], at).buried ?? []).map(({ name }) => name);

describe('buriedAfter (S13)', () => {
  it('keeps what was answered and is settled without any slice showing it, with both clocks', () => {
    const [kept] = buriedAfter({}, [made], input({})).buried ?? [];
    assert.equal(kept?.uid, living.uid);
    assert.equal(kept.goneAtMs, NOW_MS);
    assert.equal(kept.toldAtMs, TOLD_AT_MS);
  });
  it('keeps nothing that a slice shows or remembers', () => {
    assert.deepEqual(buriedAfter({}, [made], input({ shown: [living] })), {});
    const gone = [tombstone('n1', { uid: living.uid })];
    assert.deepEqual(buriedAfter({}, [made], input({ gone })), {});
    assert.deepEqual(buriedAfter({}, [], input({})), {});
  });
  it('keeps what only a live read found: no slice remembers it once it is gone', () => {
    assert.deepEqual(namesOf([], input({ read: [living] })), [made.name]);
  });
  it('row 13: keeps former ones until ten minutes passed by the view, too, and begins where none is told', () => {
    const over = NOW_MS - TOMBSTONE_KEPT_MS - 1;
    const former = tombstone('n2', { name: 'former', goneAtMs: over });
    const recent = { ...former, toldAtMs: TOLD_AT_MS - TOMBSTONE_KEPT_MS };
    assert.deepEqual(namesOf([recent], input({})), [made.name, 'former']);
    assert.deepEqual(namesOf([{ ...recent, toldAtMs: recent.toldAtMs - 1 }], input({})), [
      made.name,
    ]);
    const buried = buriedAfter({ buried: [former] }, [], input({})).buried ?? [];
    assert.deepEqual(buried, [{ ...former, toldAtMs: TOLD_AT_MS }]);
  });
});
