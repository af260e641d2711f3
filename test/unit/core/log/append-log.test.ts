// What a state keeps of what happened: bounded, each thing once, and what leaves it stood there before.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  LOG_CHARACTERS_MAX,
  appendLog,
  leavingLog,
  requestsOf,
  withEntries,
  withoutLeft,
} from '../../../../src/core/log/append-log.ts';
import { entriesOf, settledEntries } from '../../../../src/core/log/effect-entries.ts';
import type { LogEntry, StateLog } from '../../../../src/core/model/log-entry.ts';
import { emptyState } from '../../../../src/core/model/state.ts';

const entry = fc
  .record({
    atMs: fc.integer({ min: 1, max: 1e12 }),
    run: fc.integer({ min: 1, max: 1e6 }),
    names: fc.array(fc.string({ minLength: 1, maxLength: 253 }), { minLength: 1, maxLength: 300 }),
  })
  .map(({ atMs, run, names }): LogEntry => {
    const wanted = names.map((name) => ({ effect: 'create', name }) as const);
    const [made] = entriesOf(wanted, { atMs, run });
    assert.ok(made);
    return made;
  });

const requestsIn = ({ entries, leftOut }: StateLog): number =>
  entries.reduce((sum, each) => sum + requestsOf(each), leftOut?.requests ?? 0);

describe('appendLog', () => {
  it('keeps the trace of coverage beside the entries (S20)', () => {
    const coverage = { at: 1, eligible: 2, covered: 1, spans: [] };
    const added = entriesOf([{ effect: 'create', name: 'p1' }], { atMs: 1, run: 1 });
    assert.equal(appendLog({ entries: [], coverage }, added)?.coverage, coverage);
  });

  it('stays within its bound and counts every request, whatever is added', () => {
    const distinct = fc.uniqueArray(entry, { selector: ({ atMs }) => atMs, maxLength: 40 });
    fc.assert(
      fc.property(distinct, (entries) => {
        let log: StateLog | undefined;
        for (const each of entries) log = appendLog(log, [each]);
        if (log === undefined) return;
        assert.ok(JSON.stringify(log).length <= LOG_CHARACTERS_MAX);
        const sent = entries.reduce((sum, each) => sum + requestsOf(each), 0);
        assert.equal(requestsIn(log), sent);
      }),
    );
  });

  it('replaces what was unknown by what came of it', () => {
    const recorded = entriesOf([{ effect: 'delete', name: 'n1', cause: 'outdated' }], {
      atMs: 5,
      run: 3,
    });
    const open = appendLog(undefined, recorded);
    assert.equal(open?.entries.length, 1);
    const told = settledEntries(recorded, [
      { effect: 'delete', name: 'n1', came: 'refused', code: 'quota' },
    ]);
    assert.deepEqual(appendLog(open, told)?.entries, [
      {
        ...{ kind: 'effect', effect: 'delete', atMs: 5, run: 3, causes: { outdated: 1 } },
        parts: [{ came: 'refused', code: 'quota', count: 1, names: ['n1'] }],
      },
    ]);
  });
});

describe('leavingLog', () => {
  const many = Array.from({ length: 12 }, (_, index): LogEntry => ({
    kind: 'wait',
    atMs: index + 1,
    code: 'x'.repeat(100),
  }));
  const from = withEntries(emptyState(1), many);

  it('takes what stood in the stored state, and never what this write adds', () => {
    const added: LogEntry = { kind: 'wait', atMs: 99, code: 'new' };
    const to = withEntries(from, [added]);
    const left = leavingLog({ from, to });
    assert.deepEqual(left?.entries, many);
    assert.deepEqual(withoutLeft(to, left).log, { entries: [added] });
  });

  it('leaves a few where they are, so that a quiet hour writes nothing', () => {
    const few = withEntries(emptyState(1), many.slice(0, 2));
    assert.equal(leavingLog({ from: few, to: few }), undefined);
  });
});
