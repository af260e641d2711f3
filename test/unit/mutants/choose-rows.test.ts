/** Which rows a command line asks for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseRows, UsageError, type ChosenRows } from '../../mutants/choose-rows.ts';

const TABLE = Array.from({ length: 23 }, (_, index) => `row-${index}`);

function chosen(...parameters: string[]): ChosenRows {
  const rows = chooseRows(parameters, TABLE);
  assert.notEqual(rows, 'help');
  return rows as ChosenRows;
}

describe('chooseRows', () => {
  it('takes all rows, or those that are named', () => {
    assert.deepEqual(chosen(), { names: TABLE, tenth: undefined });
    assert.deepEqual(chosen('row-3', 'row-1').names, ['row-3', 'row-1']);
  });

  it('takes a tenth by the number modulo ten, and says which', () => {
    assert.deepEqual(chosen('--tenth', '2'), { names: ['row-2', 'row-12', 'row-22'], tenth: 2 });
    assert.deepEqual(chosen('--tenth=123456783'), { names: ['row-3', 'row-13'], tenth: 3 });
  });

  it('plays every row in ten numbers that follow each other', () => {
    const played = Array.from({ length: 10 }, (_, index) => chosen('--tenth', String(index + 57)));
    assert.deepEqual(new Set(played.flatMap(({ names }) => names)), new Set(TABLE));
  });

  it('refuses unknown names, and tenths that are no number or stand beside names', () => {
    const wrong = [
      ['nobody'],
      ['row-1', 'nobody'],
      ['--tenth', 'x'],
      ['--tenth'],
      ['row-1', '--tenth', '1'],
      ['--seed', '1'],
    ];
    for (const parameters of wrong) {
      assert.throws(() => chooseRows(parameters, TABLE), UsageError, parameters.join(' '));
    }
    assert.equal(chooseRows(['--help'], TABLE), 'help');
  });
});
