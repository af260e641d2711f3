/** The audit of freezes sees what it is there for (S17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Effect } from '../../../src/core/model/effects.ts';
import { FreezeAudit } from '../../support/simulation/freeze-audit.ts';

const KEY = { namespace: 'ns', name: 'agent' };
const of = (kind: Effect['kind']): readonly Effect[] => [{ kind } as Effect]; // what it looks at

function auditOf(): { readonly audit: FreezeAudit; readonly found: readonly string[] } {
  const found: string[] = [];
  const audit = new FreezeAudit((text) => {
    found.push(text);
  });
  return { audit, found };
}

describe('the audit of freezes', () => {
  for (const scope of ['stack', 'cluster', 'set/ns/agent'] as const) {
    it(`lets a run that had begun send one batch of each kind under a freeze of ${scope}`, () => {
      const { audit, found } = auditOf();
      const run = { beganAtMs: 5 };
      audit.check({ run, key: KEY }, of('create-pod'), 6);
      audit.noteFrozen(scope, 7);
      audit.check({ run, key: KEY }, of('create-revision'), 8);
      audit.check({ run, key: KEY }, of('create-revision'), 8);
      audit.check({ run, key: KEY }, of('create-pod'), 9);
      audit.check({ run, key: KEY }, of('delete-pod'), 9);
      audit.check({ run, key: KEY }, of('update-status'), 10);
      assert.deepEqual(found, []);
      audit.check({ run, key: KEY }, of('create-pod'), 11);
      assert.match(found[0] ?? '', /^S17: agent create-pod .* second batch/);
    });
  }

  it('lets nothing follow adoptions that were answered under the freeze, nor come before what is beside nothing', () => {
    const { audit, found } = auditOf();
    const at = { run: { beganAtMs: 5 }, key: KEY };
    audit.check(at, of('patch'), 6);
    audit.noteFrozen('stack', 7);
    audit.noteAnswered(at, of('patch'));
    assert.deepEqual(found, []);
    audit.check(at, of('create-pod'), 8);
    assert.match(found[0] ?? '', /^S17: agent create-pod .* second batch/);
    const other = { run: { beganAtMs: 5 }, key: KEY };
    audit.check(other, of('delete-pod'), 9);
    audit.check(other, of('create-pod'), 9);
    assert.equal(found.length, 1);
    audit.check(other, of('restore-template'), 10);
    assert.match(found[1] ?? '', /^S17: agent restore-template .* second batch/);
  });

  it('lets a run that began after it send status and Events, and nothing else', () => {
    const { audit, found } = auditOf();
    audit.noteFrozen('stack', 7);
    const run = { beganAtMs: 8 };
    for (const kind of ['update-status', 'create-event', 'patch-event'] as const) {
      audit.check({ run, key: KEY }, of(kind), 9);
    }
    assert.deepEqual(found, []);
    audit.check({ run, key: KEY }, of('restore-template'), 9);
    assert.match(found[0] ?? '', /^S17: agent restore-template .* began at 8, frozen at 7/);
  });

  it('says nothing of what is not frozen, or was thawed', () => {
    const { audit, found } = auditOf();
    audit.noteFrozen('set/ns/other', 1);
    audit.noteFrozen('stack', 2);
    audit.noteThaw('stack');
    audit.check({ run: { beganAtMs: 8 }, key: KEY }, of('delete-pod'), 9);
    assert.deepEqual([found, audit.judged], [[], 0]);
  });

  it('counts from the freeze that stands, though it is given again', () => {
    const { audit, found } = auditOf();
    audit.noteFrozen('stack', 7);
    audit.noteFrozen('stack', 20);
    audit.noteFrozen('set/ns/agent', 20);
    audit.check({ run: { beganAtMs: 8 }, key: KEY }, of('delete-pod'), 21);
    assert.equal(found.length, 1);
  });
});
