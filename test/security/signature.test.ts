/** Signatures: what the SDK signs is known, and nothing else, held to its own signer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Sha256 } from '@rollcall/base/system/sha256.ts';
import { SignatureV4 } from '@smithy/signature-v4';
import { Authorizer, type LocalCredentials } from '@rollcall/local-aws/iam/authorizer.ts';
import type { SignedRequest } from '@rollcall/local-aws/iam/signature.ts';

const HOST = '127.0.0.1:4566';
const BODY = JSON.stringify({ TableName: 't', text: 'ä  ö' });

async function signed(credentials: LocalCredentials, path = '/'): Promise<SignedRequest> {
  const signer = new SignatureV4({
    ...{ service: 'dynamodb', region: 'us-east-1', sha256: Sha256 },
    credentials,
  });
  const { method, headers } = await signer.sign({
    ...{ method: 'POST', protocol: 'http:', hostname: '127.0.0.1', port: 4566, path },
    headers: { host: HOST, 'x-amz-target': 'DynamoDB_20120810.Query', 'x-spaced': ' a   b ' },
    body: BODY,
  });
  return { method, url: path, headers, body: Buffer.from(BODY) };
}

describe('who signed a request', () => {
  const authorizer = new Authorizer();
  const known = authorizer.grant('KEY', { arn: 'me', rights: 'administrator' });

  it('is known by the secret of its access key', async () => {
    for (const path of ['/', '/000000000000/rollcall-events.fifo']) {
      assert.equal(authorizer.signerOf(await signed(known, path)), 'KEY');
    }
  });

  it('is nobody with another secret, with that of another key, or without a signature', async () => {
    const other = authorizer.grant('OTHER', { arn: 'other', rights: [] });
    assert.notEqual(other.secretAccessKey, known.secretAccessKey);
    const request = await signed(known);
    for (const wrong of [
      await signed({ ...known, secretAccessKey: 'local' }),
      await signed({ ...known, secretAccessKey: '' }),
      await signed({ ...known, secretAccessKey: other.secretAccessKey }),
      await signed({ ...known, accessKeyId: 'NOBODY' }),
      { ...request, headers: {} },
      { ...request, headers: { ...request.headers, authorization: 'Credential=KEY/' } },
    ]) {
      assert.equal(authorizer.signerOf(wrong), undefined);
    }
  });

  it('is nobody once anything of the request was changed', async () => {
    const request = await signed(known);
    const { headers } = request;
    for (const changed of [
      { ...request, method: 'GET' },
      { ...request, url: '/?Action=Scan' },
      { ...request, body: Buffer.from(BODY.replace('"t"', '"u"')) },
      { ...request, headers: { ...headers, 'x-amz-target': 'DynamoDB_20120810.Scan' } },
      { ...request, headers: { ...headers, 'x-amz-date': '20200101T000000Z' } },
    ]) {
      assert.equal(authorizer.signerOf(changed), undefined);
    }
  });

  it('keeps its secret when its rights change, and has the one that it brings', () => {
    assert.deepEqual(authorizer.grant('KEY', { arn: 'me', rights: [] }), known);
    const brought = { arn: 'it', rights: [], secretAccessKey: 'from before' };
    assert.equal(authorizer.grant('OUTSIDE', brought).secretAccessKey, 'from before');
  });
});
