/** Numbers with their nouns. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { counted } from '../../src/counted.ts';

it('has one of a thing in the singular, and its verb too', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, 'node')),
    ['0 nodes', '1 node', '2 nodes'],
  );
  assert.equal(counted(1, 'node waits', 'nodes wait'), '1 node waits');
});
