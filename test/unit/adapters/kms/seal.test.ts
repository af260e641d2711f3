/** Seals over KMS: one key, one cluster, and nothing that a failure could tell (S6, S11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { EncryptCommand, type DecryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import { SealUnavailableError, createKmsSeal } from '../../../../src/adapters/kms/seal.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { Seal, SealContext } from '../../../../src/ports/stores/credential-store.ts';
import { LocalSeal } from '../../../support/local-seal.ts';

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/1';
const WEST: SealContext = {
  cluster: clusterId('west'),
  clusterUid: clusterUid('u-1'),
  purpose: 'act',
};
const SECRET = 'canary-4f1b2c';

interface Sent {
  readonly command: EncryptCommand | DecryptCommand;
}

function clientWith(answer: (sent: Sent) => unknown): {
  readonly client: Pick<KMSClient, 'send'>;
  readonly sent: Sent[];
} {
  const sent: Sent[] = [];
  const send = (command: EncryptCommand | DecryptCommand): Promise<unknown> => {
    sent.push({ command });
    return Promise.resolve().then(() => answer({ command }));
  };
  return { client: { send }, sent };
}

function failing(name: string): () => never {
  return () => {
    throw Object.assign(new Error(`said ${SECRET}`), { name, $response: { body: SECRET } });
  };
}

describe('a seal over KMS', () => {
  it('names the key and the cluster in both directions (S6)', async () => {
    const { client, sent } = clientWith(({ command }) =>
      command instanceof EncryptCommand
        ? { CiphertextBlob: Uint8Array.of(1, 2, 3) }
        : { Plaintext: Buffer.from(SECRET) },
    );
    const seal = createKmsSeal({ client, keyArn: KEY });
    assert.deepEqual(await seal.seal(SECRET, WEST), { kind: 'sealed', ciphertext: 'AQID' });
    assert.deepEqual(await seal.open('AQID', WEST), { kind: 'opened', text: SECRET });
    const context = { cluster: 'west', clusterUid: 'u-1' };
    const inputs = sent.map(({ command }) => command.input);
    assert.deepEqual(inputs, [
      { KeyId: KEY, Plaintext: Buffer.from(SECRET), EncryptionContext: context },
      { KeyId: KEY, CiphertextBlob: Buffer.from([1, 2, 3]), EncryptionContext: context },
    ]);
  });

  it('names the purpose of a token that asks, by which a role that asks is bound (B.3)', async () => {
    const { client, sent } = clientWith(() => ({ Plaintext: Buffer.from(SECRET) }));
    await createKmsSeal({ client, keyArn: KEY }).open('AQID', { ...WEST, purpose: 'ask' });
    const context = { cluster: 'west', clusterUid: 'u-1', purpose: 'ask' };
    assert.deepEqual(sent[0]?.command.input.EncryptionContext, context);
  });

  const refusals = {
    InvalidCiphertextException: 'invalid-ciphertext',
    IncorrectKeyException: 'wrong-key',
    AccessDeniedException: 'access-denied',
    DisabledException: 'key-unavailable',
    NotFoundException: 'key-unavailable',
    KMSInvalidStateException: 'key-unavailable',
    InvalidKeyUsageException: 'key-unavailable',
  };
  for (const [name, code] of Object.entries(refusals)) {
    it(`answers ${code} for ${name}, and quotes nothing (S11)`, async () => {
      const seal = createKmsSeal({ client: clientWith(failing(name)).client, keyArn: KEY });
      for (const answer of [await seal.open('AQID', WEST), await seal.seal(SECRET, WEST)]) {
        assert.ok(answer.kind === 'refused');
        assert.equal(answer.code, code);
        assert.match(answer.message, new RegExp(name));
        assert.ok(!inspect(answer, { depth: 9, showHidden: true }).includes(SECRET));
      }
    });
  }

  it('rejects for anything else, with the name and nothing of what was sealed (S11)', async () => {
    for (const answer of [failing('ThrottlingException'), () => ({})]) {
      const seal = createKmsSeal({ client: clientWith(answer).client, keyArn: KEY });
      for (const call of [() => seal.open('AQID', WEST), () => seal.seal(SECRET, WEST)]) {
        const error = await call().catch((thrown: unknown) => thrown);
        assert.ok(error instanceof SealUnavailableError);
        assert.match(error.message, /^kms:(En|De)crypt: (ThrottlingException|an empty answer)$/);
        const shown = inspect(error, { depth: 9, showHidden: true });
        assert.ok(!shown.replaceAll(error.stack ?? '', '').includes(SECRET));
      }
    }
  });

  it('does not send what KMS would refuse for its length', async () => {
    const { client, sent } = clientWith(() => ({}));
    const answer = await createKmsSeal({ client, keyArn: KEY }).seal('x'.repeat(4097), WEST);
    assert.ok(answer.kind === 'refused' && answer.code === 'too-large');
    assert.equal(sent.length, 0);
  });
});

describe('the seal that stands in for KMS', () => {
  const sealed = async (seal: Seal, context = WEST): Promise<string> => {
    const made = await seal.seal(SECRET, context);
    assert.ok(made.kind === 'sealed');
    return made.ciphertext;
  };
  const codeOf = async (seal: Seal, ciphertext: string, context = WEST): Promise<string> => {
    const answer = await seal.open(ciphertext, context);
    return answer.kind === 'opened' ? answer.text : answer.code;
  };

  it('opens for the same cluster, and for no other id or UID (S6)', async () => {
    const seal = new LocalSeal();
    const ciphertext = await sealed(seal);
    assert.equal(await codeOf(seal, ciphertext), SECRET);
    for (const change of [{ cluster: clusterId('east') }, { clusterUid: clusterUid('u-2') }]) {
      assert.equal(await codeOf(seal, ciphertext, { ...WEST, ...change }), 'invalid-ciphertext');
    }
    assert.equal(await codeOf(new LocalSeal(), ciphertext), 'wrong-key');
  });

  it('opens nothing that was altered', async () => {
    const seal = new LocalSeal();
    const bytes = Buffer.from(await sealed(seal), 'base64');
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    assert.equal(await codeOf(seal, bytes.toString('base64')), 'invalid-ciphertext');
    assert.equal(await codeOf(seal, 'AQID'), 'invalid-ciphertext');
  });
});
