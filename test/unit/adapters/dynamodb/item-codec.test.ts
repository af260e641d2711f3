/** Bodies of items: formats, sizes, and what is refused. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ITEM_BODY_BYTES_MAX,
  decodeBody,
  encodeBody,
  encodeList,
} from '../../../../src/adapters/dynamodb/item-codec.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';

const ITEM = { pk: 'NODES#y', sk: 'SLICE' };

describe('item bodies', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const value: unknown = JSON.parse(json);
        assert.deepEqual(decodeBody(ITEM, encodeBody(ITEM, value)), JSON.parse(json));
      }),
    );
  });

  it('of a list are those of its JSON, whatever of it was encoded before', () => {
    const members = Array.from({ length: 40 }, (_, index) => ({ name: `näme ${String(index)}` }));
    for (const list of [[], members.slice(0, 3), members, members.toReversed()]) {
      assert.deepEqual(encodeList(ITEM, list), encodeBody(ITEM, list));
    }
  });

  it('are plain JSON when small and compressed when large, as their first byte says', () => {
    assert.equal(encodeBody(ITEM, ['a'])[0], 0x00);
    const large = encodeBody(ITEM, 'a'.repeat(100_000));
    assert.equal(large[0], 0x01);
    assert.ok(large.byteLength < 1000);
  });

  it('of a newer format are refused by name, never guessed', () => {
    assert.throws(() => decodeBody({ pk: 'NODES#x', sk: 'SLICE' }, Uint8Array.of(0x02, 1)), {
      name: 'ItemUnreadableError',
      message: 'NODES#x SLICE: format 2 is unknown to this release; a newer one wrote it',
    });
  });

  it('that are damaged, empty or missing are refused with their cause', () => {
    for (const body of [Uint8Array.of(0x01, 9, 9), Uint8Array.of(0x00, 0x7b), new Uint8Array()]) {
      assert.throws(() => decodeBody(ITEM, body), { code: 'item-unreadable' });
    }
    assert.throws(() => decodeBody(ITEM, undefined), /NODES#y SLICE: has no binary body/);
    assert.throws(
      () => decodeBody(ITEM, Uint8Array.of(0x00, 0x7b)),
      (error: Error) => error.cause instanceof SyntaxError,
    );
  });

  it('beyond 300 KB are refused before they are sent', () => {
    const random = seededRandom(3);
    const noise = Array.from({ length: 30_000 }, () => random.uniqueId()).join('');
    assert.throws(() => encodeBody(ITEM, noise), {
      name: 'ItemTooLargeError',
      code: 'item-too-large',
      item: 'NODES#y SLICE',
    });
    assert.ok(ITEM_BODY_BYTES_MAX < 400 * 1024);
  });
});
