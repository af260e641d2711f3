/** Tables of text: aligned, and harmless to a terminal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  plainText,
  renderAge,
  renderFields,
  renderTextTable,
} from '../../../../src/cli/command-line/text-table.ts';

describe('a table of text', () => {
  it('aligns columns by the widest cell, without trailing spaces', () => {
    const rows = [
      ['prod-eu', 'yes', ''],
      ['a', 'no', 'silent'],
    ];
    assert.deepEqual(renderTextTable(['ID', 'FROZEN', 'NOTE'], rows), [
      'ID       FROZEN  NOTE',
      'prod-eu  yes',
      'a        no      silent',
    ]);
    assert.deepEqual(
      renderFields([
        ['id', 'a'],
        ['endpoint', 'b'],
      ]),
      ['id:        a', 'endpoint:  b'],
    );
  });

  it('takes out what could steer a terminal', () => {
    assert.equal(plainText('a\u001b[2Jb\nc\u202ed'), 'a [2Jb c d');
    assert.deepEqual(renderTextTable(['X'], [['\u0007']]), ['X', '']);
  });

  it('says an age in its largest unit', () => {
    const ages = [-5, 0, 999, 59_000, 60_000, 3_599_000, 3_600_000, 86_400_000 * 3].map(renderAge);
    assert.deepEqual(ages, ['0s', '0s', '0s', '59s', '1m', '59m', '1h', '3d']);
  });
});
