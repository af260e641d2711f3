/** The audit of the log sees what it is there for (S18). */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Effect } from '../../../src/core/model/effects.ts';
import { LogAudit } from '../../support/simulation/log-audit.ts';

it('the audit of the log reports (S18) a create and a delete without an entry, and nothing else', () => {
  const found: string[] = [];
  const audit = new LogAudit((text) => {
    found.push(text);
  });
  const run = { isLogged: (effect: string, name: string) => `${effect}/${name}` === 'create/n1' };
  const effects = [
    { kind: 'create-pod', node: 'n1', name: 'a' },
    { kind: 'create-pod', node: 'n2', name: 'b' },
    { kind: 'delete-pod', name: 'c' },
    { kind: 'update-status', name: 'd' },
  ] as unknown as readonly Effect[]; // what it looks at
  audit.check(run, effects);
  assert.deepEqual(found, [
    'S18: create b has no entry of the log',
    'S18: delete c has no entry of the log',
  ]);
  assert.equal(audit.judged, 3);
});
