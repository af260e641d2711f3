/** Continue tokens come back as written; nothing else is taken for one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatListToken, parseListToken } from '../../../../src/api/verbs/list-token.ts';

function encoded(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

describe('list token', () => {
  it('comes back as it was written', () => {
    const token = { version: 17n, afterKey: 'default/web' };
    assert.deepEqual(parseListToken(formatListToken(token)), token);
  });

  for (const text of [
    'abc',
    '',
    encoded(5),
    encoded({ v: 'other', rv: 1, start: 'a\0' }),
    encoded({ v: 'meta.k8s.io/v1', rv: 0, start: 'a\0' }),
    encoded({ v: 'meta.k8s.io/v1', rv: 1, start: 'a' }),
    encoded({ v: 'meta.k8s.io/v1', rv: '1', start: 'a\0' }),
  ]) {
    it(`is not '${text}'`, () => {
      assert.equal(parseListToken(text), undefined);
    });
  }
});
