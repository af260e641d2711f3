/** The audit of the log sees what it is there for (S18). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Effect, Outcome } from '../../../src/core/model/effects.ts';
import type { EffectPart } from '../../../src/core/model/log-entry.ts';
import { LogAudit } from '../../support/simulation/log-audit.ts';

const CREATE = { kind: 'create-pod', node: 'n1', name: 'a' } as unknown as Effect; // what it looks at
const DELETE = { kind: 'delete-pod', name: 'c' } as unknown as Effect; // what it looks at
const ADOPT = { kind: 'patch', resource: 'pods', purpose: 'adopt', name: 'd' } as unknown as Effect; // as above
const STATUS = { kind: 'update-status', name: 'e' } as unknown as Effect; // as above
const DONE: Outcome = { kind: 'done', object: {} };

/** What it reports of one request whose entry ends up so; `stored`: states that its run stored after the answer. */
function judge(
  effect: Effect,
  seen: {
    readonly answer?: Outcome;
    readonly isApplied?: boolean;
    readonly isStored?: boolean;
    readonly parts?: readonly EffectPart[];
    readonly isForgotten?: boolean;
  },
): readonly string[] {
  const found: string[] = [];
  const audit = new LogAudit((text) => {
    found.push(text);
  });
  let stored = 1;
  const what = effect === CREATE ? 'create' : effect === DELETE ? 'delete' : 'adopt';
  const identity = `c/u ${what} 7 5`;
  const run = { entryOf: () => ({ identity, atMs: 0 }), stored: () => stored };
  const noteAnswers = audit.check(run, [effect]);
  if (seen.isApplied === true) audit.noteApplied(effect);
  if (seen.answer !== undefined) noteAnswers([seen.answer]);
  if (seen.isStored !== false) stored += 1;
  const entry = { kind: 'effect', effect: what, atMs: 5, run: 7, parts: seen.parts ?? [] };
  const log = { entries: seen.isForgotten === true ? [] : [entry] };
  audit.judge({ 'STATE c u': { log } });
  return found;
}

function part(came: EffectPart['came'], code?: string, name = 'n1'): readonly EffectPart[] {
  return [{ came, count: 1, names: [name], ...(code === undefined ? {} : { code }) }];
}

it('the audit of the log reports (S18) what is sent without an entry, and nothing else', () => {
  const found: string[] = [];
  const audit = new LogAudit((text) => {
    found.push(text);
  });
  const entryOf = (effect: string, name?: string) =>
    `${effect}/${name ?? ''}` === 'create/n1' ? { identity: 'c/u create 1 1', atMs: 0 } : undefined;
  audit.check({ entryOf, stored: () => 0 }, [CREATE, DELETE, ADOPT, STATUS]);
  assert.deepEqual(found, [
    'S18: delete c has no entry of the log',
    'S18: adopt d has no entry of the log',
  ]);
  assert.equal(audit.judged, 3);
});

describe('the audit of the log (S18) holds what is told against what was done', () => {
  it('and has nothing to say of what is true', () => {
    const refused: Outcome = { kind: 'conflict', message: '' };
    const lost: Outcome = { kind: 'ambiguous', message: '' };
    const truths = [
      judge(CREATE, { answer: DONE, isApplied: true, parts: part('done') }),
      judge(CREATE, { answer: { kind: 'exists' }, parts: part('done', 'exists') }),
      judge(DELETE, { answer: { kind: 'gone' }, parts: part('done', 'gone', 'c') }),
      judge(CREATE, { answer: refused, parts: part('refused', 'conflict') }),
      judge(CREATE, { answer: { kind: 'unsent', message: '' }, parts: part('unsent') }),
      judge(CREATE, { answer: lost, isApplied: true, parts: part('unknown') }),
      judge(CREATE, { answer: DONE, isApplied: true, isStored: false, parts: part('unknown') }),
    ];
    assert.deepEqual(truths.flat(), []);
  });

  it('and reports each untruth', () => {
    const refused: Outcome = { kind: 'conflict', message: '' };
    const untruths = [
      judge(CREATE, { answer: refused, parts: part('done') }),
      judge(CREATE, { answer: DONE, isApplied: true, parts: part('refused') }),
      judge(CREATE, { answer: DONE, isApplied: true, parts: part('unsent') }),
      judge(CREATE, { answer: DONE, isApplied: true, parts: part('unknown') }),
      judge(CREATE, { answer: DONE, isApplied: true, parts: part('done', undefined, 'n2') }),
      judge(ADOPT, { answer: { kind: 'gone' }, parts: part('done', 'gone', 'd') }),
      judge(CREATE, { isForgotten: true }),
    ];
    assert.deepEqual(
      untruths.map((found) => found.length > 0),
      untruths.map(() => true),
    );
  });
});
