/** What a pipe gets in place of a table that is redrawn, and how sentences are broken on a terminal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPlainScreen, wrapWords } from '../../../../src/cli/start/screen.ts';

describe('where nothing is redrawn', () => {
  it('what happens is printed as it comes, and the table once when there is nothing left to do', () => {
    let text = '';
    const screen = createPlainScreen({ write: (chunk) => (text += String(chunk)) !== '' });
    screen.show(['READY 0']);
    screen.tell('12:00:00 ops/agent: created 9');
    screen.show(['READY 9']);
    screen.conclude(['READY 9']);
    screen.conclude(['READY 9']);
    screen.show(['READY 8']);
    screen.conclude(['READY 8']);
    assert.equal(text, '12:00:00 ops/agent: created 9\nREADY 9\nREADY 8\n');
  });
});

describe('a line above the table', () => {
  it('is broken between words, and never inside one', () => {
    const line = 'inject: ops/agent is held until 2026-11-27T14:00:00Z, then goes on';
    assert.deepEqual(wrapWords(line, 40), [
      'inject: ops/agent is held until',
      '  2026-11-27T14:00:00Z, then goes on',
    ]);
    assert.deepEqual(wrapWords('short', 40), ['short']);
    assert.deepEqual(wrapWords('in /a/path/longer/than/that', 10), [
      'in',
      '  /a/path/longer/than/that',
    ]);
  });

  it('is left whole where it is a command to be copied', () => {
    const command = '  kubectl --namespace node-agents delete pod --all --wait=false';
    assert.deepEqual(wrapWords(command, 20), [command]);
  });
});
