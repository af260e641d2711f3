/** A shell reads the word as the text that it stands for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shellWord } from '../../../../src/core/status/shell-word.ts';

test('a text with quotes, spaces and signs of a shell is one word', () => {
  assert.equal(shellWord('a node is gone'), "'a node is gone'");
  assert.equal(shellWord("it's $HOME"), "'it'\\''s $HOME'");
  assert.equal(shellWord(''), "''");
});
