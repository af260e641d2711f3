/** What a token says of itself, from any text whatever (row 67, S11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readTokenClaims } from '../../../../../src/adapters/kubernetes/credentials/token-claims.ts';
import { subjectOf } from '../../../../../src/ports/stores/credential-store.ts';
import { serviceAccountToken } from '../../../../support/service-account-token.ts';

describe('the claims of a token', () => {
  it('are its subject and its times, in milliseconds', () => {
    const token = serviceAccountToken({ iat: 1_700_000_000, exp: 1_700_014_400 });
    const times = { issuedAtMs: 1_700_000_000_000, expiresAtMs: 1_700_014_400_000 };
    assert.deepEqual(readTokenClaims(token), { subject: subjectOf('act'), ...times });
  });

  it('are missing from anything that is no token, or does not say them', () => {
    const none = [
      '',
      'hunter2',
      'a.b.c',
      'aa.bb',
      `${serviceAccountToken({ iat: 1, exp: 2 })}.more`,
      serviceAccountToken({ iat: 1, exp: 2 }).replaceAll('.', '\n'),
      serviceAccountToken({ iat: 1 }),
      serviceAccountToken({ exp: 2 }),
      serviceAccountToken({ iat: -1, exp: 2 }),
      serviceAccountToken({ iat: 1, exp: 9e15 }),
      serviceAccountToken({ iat: '1', exp: 2 }),
      serviceAccountToken({ sub: ['x'], iat: 1, exp: 2 }),
      serviceAccountToken({ sub: 'x'.repeat(600), iat: 1, exp: 2 }),
      serviceAccountToken({ iat: 1, exp: 2 }, 'x'.repeat(9000)),
    ];
    for (const text of none) assert.equal(readTokenClaims(text), undefined, text.slice(0, 60));
  });

  it('never throw (row 67)', () => {
    const payload = fc.oneof(fc.json(), fc.string());
    const encoded = payload.map((text) => `aa.${Buffer.from(text).toString('base64url')}.cc`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), encoded), (text) => {
        const claims = readTokenClaims(text);
        assert.ok(claims === undefined || Number.isSafeInteger(claims.expiresAtMs));
      }),
    );
  });
});
