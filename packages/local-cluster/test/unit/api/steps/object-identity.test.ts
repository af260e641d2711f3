/** Generated names and UIDs have the shapes of the real ones. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generateName, generateUid } from '../../../../src/api/steps/object-identity.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';

describe('object identity', () => {
  it('generates names of five characters behind a prefix, cut at 63', () => {
    const random = seededRandom(1);
    assert.match(generateName(random, 'web-'), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(generateName(random, 'x'.repeat(100)).length, 63);
  });

  it('generates version 4 UUIDs, each another', () => {
    const random = seededRandom(2);
    const uids = Array.from({ length: 200 }, () => generateUid(random));
    for (const uid of uids) {
      assert.match(uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    assert.equal(new Set(uids).size, uids.length);
  });
});
