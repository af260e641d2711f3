/**
 * What createAwsClient gives a client of the SDK besides limits: a signature is what it would be without.
 */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { Sha256 as Reference } from '@aws-crypto/sha256-js';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import { CALL_LIMITS, createAwsClient } from '../../../../src/adapters/aws/create-client.ts';

const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret', sessionToken: 'session' };

const request = {
  method: 'POST',
  protocol: 'https:',
  hostname: 'dynamodb.eu-west-1.amazonaws.com',
  path: '/',
  headers: {
    host: 'dynamodb.eu-west-1.amazonaws.com',
    'x-amz-target': 'DynamoDB_20120810.GetItem',
  },
  body: '{"TableName":"view"}',
};

describe('createAwsClient', () => {
  it('makes a client that signs as an implementation by others does', async () => {
    const client = createAwsClient(DynamoDBClient, CALL_LIMITS.function, {
      region: 'eu-west-1',
      credentials: CREDENTIALS,
    });
    const at = { signingDate: new Date(1_700_000_000_000), signingService: 'dynamodb' };
    const signer = await client.config.signer();
    const reference = new SignatureV4({
      ...{ service: 'dynamodb', region: 'eu-west-1', sha256: Reference },
      credentials: CREDENTIALS,
    });
    const [signed, expected] = await Promise.all(
      [signer, reference].map((each) => each.sign(request, at)),
    );
    assert.match(String(signed?.headers['authorization']), /Signature=[0-9a-f]{64}$/);
    assert.equal(signed?.headers['authorization'], expected?.headers['authorization']);
  });
});
