/** A merge patch computed from two documents leads from the one to the other. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import { applyMergePatch } from '../../../src/api/patch/merge-patch.ts';

/** JSON without nulls in objects, which a merge patch cannot say. */
const { document } = fc.letrec<{ document: Json }>((tie) => ({
  document: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>('x', 1, true),
    fc.array(tie('document'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('document'), { noNullPrototype: true }),
  ),
}));

/** The patch that leads from one document to another: RFC 7386 read backwards. */
function difference(from: Json, to: Json): Json {
  if (!isJsonObject(from) || !isJsonObject(to)) return to;
  const members = Object.entries(to).map(([key, value = null]) => [
    key,
    from[key] === undefined ? value : difference(from[key], value),
  ]);
  const removed = Object.keys(from).filter((key) => to[key] === undefined);
  return Object.fromEntries([...members, ...removed.map((key) => [key, null])]) as Json;
}

describe('merge patch', () => {
  it('leads from one document to another, and again to the same', () => {
    fc.assert(
      fc.property(document, document, (from, to) => {
        const patch = difference(from, to);
        const before = JSON.stringify(from);
        const result = applyMergePatch(from, patch);
        assert.deepEqual(result, to);
        assert.deepEqual(applyMergePatch(result, patch), to);
        assert.equal(JSON.stringify(from), before, 'the target is unchanged');
      }),
      { numRuns: 500 },
    );
  });
});
