/** Bodies of the credentials queue: closed, bounded, never quoted (row 67, S11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  encodeCredentialMessage,
  parseCredentialMessage,
} from '../../../../../src/adapters/sqs/schema/credential-message-schema.ts';
import type { CredentialMessage } from '../../../../../src/core/model/watcher-message.ts';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';

const message: CredentialMessage = {
  schema: 1,
  cluster: clusterId('west'),
  clusterUid: clusterUid('u-1'),
  purpose: 'act',
  ciphertext: 'AQID',
  issuedAtMs: 1_700_000_000_000,
  expiresAtMs: 1_700_014_400_000,
};

describe('a message of a renewer', () => {
  it('is read as it was written, up to the largest that the key seals', () => {
    const largest = { ...message, ciphertext: Buffer.alloc(6144, 7).toString('base64') };
    for (const one of [message, largest]) {
      const parsed = parseCredentialMessage(encodeCredentialMessage(one));
      assert.deepEqual(parsed, { kind: 'message', message: one });
    }
  });

  const refused: Readonly<Record<string, readonly [string, string, string]>> = {
    'no JSON': ['hunter2', 'undecodable', ''],
    'too much': [JSON.stringify({ ...message, ciphertext: 'A'.repeat(20_000) }), 'oversized', ''],
    'another schema': [JSON.stringify({ ...message, schema: 2 }), 'unsupported-schema', 'schema'],
    'an unknown field': [JSON.stringify({ ...message, token: 'hunter2' }), 'invalid', 'token'],
    'a field that is a trap': [JSON.stringify({ ...message, 'x\ny': 1 }), 'invalid', '?'],
    'a token in place of a seal': [
      JSON.stringify({ ...message, ciphertext: 'eyJh.hunter2.c2ln' }),
      'invalid',
      'ciphertext',
    ],
    'a cluster that is a path': [
      JSON.stringify({ ...message, cluster: 'a/b' }),
      'invalid',
      'cluster',
    ],
    'a time beyond time': [
      JSON.stringify({ ...message, expiresAtMs: 9e15 }),
      'invalid',
      'expiresAtMs',
    ],
    nothing: ['null', 'invalid', ''],
  };
  for (const [title, [body, code, field]] of Object.entries(refused)) {
    it(`is refused with ${title}, by the name of the field alone (row 67)`, () => {
      assert.deepEqual(parseCredentialMessage(body), { kind: 'refused', code, field });
    });
  }
});
