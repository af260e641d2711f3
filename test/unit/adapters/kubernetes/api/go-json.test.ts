/** Revisions are written as Go writes JSON, so that no later patch changes their immutable data. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from '@rollcall/base/json.ts';
import { goJson } from '../../../../../src/adapters/kubernetes/api/effect-request.ts';

describe('goJson', () => {
  it('sorts keys, also those that look like integers', () => {
    const value = { b: 1, a: { '10': 1, '9': 2 }, $patch: 'replace' };
    assert.equal(goJson(value), '{"$patch":"replace","a":{"10":1,"9":2},"b":1}');
  });

  it('escapes what Go escapes', () => {
    assert.equal(goJson('a<b>&\u2028'), '"a\\u003cb\\u003e\\u0026\\u2028"');
  });

  it('means what was given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        assert.deepEqual(JSON.parse(goJson(value as Json)), JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
