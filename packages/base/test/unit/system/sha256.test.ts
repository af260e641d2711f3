/**
 * What signatures are made with is SHA-256 and its HMAC, whatever comes in how many pieces.
 */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { Sha256 } from '../../../src/system/sha256.ts';

type Data = string | Uint8Array;

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

interface Given {
  readonly secret?: Data;
  readonly parts: readonly Data[];
}

async function digestOf({ secret, parts }: Given): Promise<string> {
  const hash = new Sha256(secret);
  for (const part of parts) hash.update(part);
  return hexOf(await hash.digest());
}

function expectedOf({ secret, parts }: Given): string {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

const DATA: readonly (readonly Data[])[] = [
  [],
  [''],
  ['abc'],
  ['Grüße, 世界'],
  [new Uint8Array(1000).fill(7)],
  ['one', ' and ', new Uint8Array([0, 255, 128])],
];
const SECRETS: readonly (Data | undefined)[] = [
  undefined,
  'AWS4secret',
  new Uint8Array(32).fill(3),
  new Uint8Array(100).fill(9),
];

describe('Sha256', () => {
  for (const [index, parts] of DATA.entries()) {
    it(`digests data ${index} as others do, with each kind of secret`, async () => {
      for (const secret of SECRETS) {
        const given = { parts, ...(secret === undefined ? {} : { secret }) };
        const expected = expectedOf(given);
        assert.equal(await digestOf(given), expected);
        // Once more: a key that is kept is the same key.
        assert.equal(await digestOf(given), expected);
      }
    });
  }

  it('takes bytes in whatever form', async () => {
    const { buffer } = new Uint8Array([9, 1, 2, 3, 9]);
    const hash = new Sha256();
    hash.update(new DataView(buffer, 1, 3));
    const whole = new Sha256(buffer);
    whole.update(buffer);
    assert.equal(hexOf(await hash.digest()), expectedOf({ parts: [new Uint8Array([1, 2, 3])] }));
    const bytes = new Uint8Array(buffer);
    assert.equal(hexOf(await whole.digest()), expectedOf({ secret: bytes, parts: [bytes] }));
  });

  it('forgets what was added when it begins anew', async () => {
    const hash = new Sha256('secret');
    hash.update('former');
    hash.reset();
    hash.update('abc');
    assert.equal(hexOf(await hash.digest()), expectedOf({ secret: 'secret', parts: ['abc'] }));
  });
});
