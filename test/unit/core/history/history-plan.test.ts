/** What is to be done about revisions (spec 2.10): claim, repair, choose, deduplicate, renumber (S10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { changesHistory, planHistory } from '../../../../src/core/history/history-plan.ts';
import type { HistoryPlan } from '../../../../src/core/history/history-plan.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';
import { storedRevision } from '../../../support/stored-revision.ts';

const set = daemonSet();
const other = daemonSet({ podSpec: { containers: [{ name: 'main', image: 'agent:2' }] } });
const old = (name: string, revision: number): KubernetesObject =>
  storedRevision(name, { of: other, revision });

const plan = (revisions: readonly KubernetesObject[], knownUid?: string): HistoryPlan =>
  planHistory({ daemonSet: set, revisions, knownUid });

const names = (revisions: readonly KubernetesObject[]): readonly string[] =>
  revisions.map(({ metadata }) => metadata.name);

describe('the current revision', () => {
  it('is created as number 1 where there is none', () => {
    const empty = plan([]);
    assert.equal(empty.current, undefined);
    assert.equal(empty.nextNumber, 1);
    assert.ok(changesHistory(empty));
  });

  it('is created with the number after the highest of the others', () => {
    assert.equal(plan([old('a', 4), old('b', 9)]).nextNumber, 10);
  });

  it('stays as it is while it has the highest number: nothing is written', () => {
    const settled = plan([old('a', 4), storedRevision('b', { revision: 5 })]);
    assert.equal(settled.current?.metadata.name, 'b');
    assert.equal(settled.isRenumbered, false);
    assert.equal(changesHistory(settled), false);
  });

  it('is renumbered when the template was rolled back to it', () => {
    const rolledBack = plan([storedRevision('a', { revision: 1 }), old('b', 2), old('c', 3)]);
    assert.equal(rolledBack.current?.metadata.name, 'a');
    assert.equal(rolledBack.isRenumbered, true);
    assert.equal(rolledBack.nextNumber, 4);
  });

  it('is the highest of several, on ties the last by name; the others are duplicates', () => {
    const low = storedRevision('low', { revision: 2 });
    const high = storedRevision('high', { revision: 10 });
    const twin = storedRevision('hight', { revision: 10 });
    for (const order of [
      [low, high, twin],
      [twin, high, low],
    ]) {
      const chosen = plan(order);
      assert.equal(chosen.current?.metadata.name, 'hight');
      assert.deepEqual(names(chosen.duplicates), ['low', 'high']);
      assert.equal(chosen.nextNumber, 1, 'duplicates do not count');
    }
  });

  it('is the known one of this generation although its content differs', () => {
    assert.equal(plan([old('a', 1)], 'uid-a').current?.metadata.name, 'a');
  });
});

describe('claiming (spec 2.4)', () => {
  it('adopts matching orphans of the namespace', () => {
    const orphan = storedRevision('a', { metadata: { ownerReferences: [] } });
    const adopting = plan([orphan]);
    assert.deepEqual(names(adopting.adopts), ['a']);
    assert.equal(adopting.current?.metadata.name, 'a');
    assert.ok(changesHistory(adopting));
  });

  const foreign: readonly [string, JsonObject][] = [
    ['of another owner', { ownerReferences: [{ uid: 'other', controller: true }] }],
    ['an orphan of another namespace (#101249)', { ownerReferences: [], namespace: 'other' }],
    ['an orphan being deleted', { ownerReferences: [], deletionTimestamp: 'now' }],
    ['an orphan that does not match', { ownerReferences: [], labels: { app: 'other' } }],
    ['an orphan without labels', { ownerReferences: [], labels: undefined }],
  ];
  for (const [title, metadata] of foreign) {
    it(`touches and counts none ${title} (S10)`, () => {
      const revision = storedRevision('a', { metadata, revision: 9 });
      assert.deepEqual(plan([revision]), { ...plan([]) });
    });
  }

  it('releases an owned one that the selector does not match any more, and does not count it', () => {
    const moved = storedRevision('a', { metadata: { labels: { app: 'x' } }, revision: 9 });
    const releasing = plan([moved, storedRevision('b', { revision: 1 })]);
    assert.deepEqual(names(releasing.releases), ['a']);
    assert.equal(releasing.isRenumbered, false);
    assert.ok(changesHistory(releasing));
  });

  it('releases nothing by a selector that is invalid', () => {
    const expressions = [{ key: 'app', operator: 'Maybe' }];
    const broken = daemonSet({ spec: { selector: { matchExpressions: expressions } } });
    const kept = planHistory({
      daemonSet: broken,
      revisions: [storedRevision('a')],
      knownUid: undefined,
    });
    assert.deepEqual([names(kept.releases), kept.current?.metadata.name], [[], 'a']);
  });

  it('keeps an owned one that is terminating: it is current until it is gone', () => {
    const going = storedRevision('a', { metadata: { deletionTimestamp: 'now' } });
    assert.equal(plan([going]).current?.metadata.name, 'a');
  });
});

describe('a missing hash', () => {
  it('is repaired, of adopted ones too (upstream never tests: missing-hash-label repair)', () => {
    const bare = storedRevision('a', { metadata: { labels: { app: 'agent' } } });
    const empty = storedRevision('b', {
      metadata: { labels: { app: 'agent', 'controller-revision-hash': '' }, ownerReferences: [] },
    });
    const repairing = plan([bare, empty, storedRevision('c', { revision: 5 })]);
    assert.deepEqual(names(repairing.labels), ['a', 'b']);
    assert.ok(changesHistory(plan([bare])));
  });
});

describe('any set of revisions', () => {
  const revisions = fc
    .array(
      fc.record({
        number: fc.integer({ min: 0, max: 4 }),
        isOld: fc.boolean(),
        isOrphan: fc.boolean(),
        isLabelled: fc.boolean(),
      }),
      { maxLength: 6 },
    )
    .map((list) =>
      list.map(({ number, isOld, isOrphan, isLabelled }, index) =>
        storedRevision(`r${index}`, {
          revision: number,
          of: isOld ? other : set,
          metadata: {
            ...(isOrphan ? { ownerReferences: [] } : {}),
            ...(isLabelled ? {} : { labels: { app: 'agent' } }),
          },
        }),
      ),
    );

  it('gives one plan whatever its order, and repetitions do not count', () => {
    fc.assert(
      fc.property(revisions, (list) => {
        const shape = (made: HistoryPlan): unknown => [
          made.current?.metadata.name,
          names(made.duplicates),
          made.nextNumber,
          made.isRenumbered,
          names(made.labels),
          [...names(made.adopts)].sort(),
        ];
        assert.deepEqual(shape(plan([...list, ...list].reverse())), shape(plan(list)));
      }),
      { numRuns: 200 },
    );
  });

  it('never leaves the current revision below another template', () => {
    fc.assert(
      fc.property(revisions, (list) => {
        const { current, nextNumber, isRenumbered } = plan(list);
        if (current === undefined) return;
        const number = isRenumbered ? nextNumber : Number(current['revision']);
        for (const revision of list) {
          const isOther = JSON.stringify(revision['data']).includes('agent:2');
          if (isOther) assert.ok(Number(revision['revision']) < number);
        }
      }),
      { numRuns: 200 },
    );
  });
});
