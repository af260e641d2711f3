/** AWS's errors in sentences, told apart by name and code. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainAwsError } from '../../../../src/cli/command-line/explain-error.ts';

function awsError(name: string, message = 'because'): Error {
  const error = Object.assign(new Error(message), { $metadata: {} });
  error.name = name;
  return error;
}

describe('explaining an error of AWS', () => {
  const known = [
    ['CredentialsProviderError', /No AWS credentials/],
    ['ExpiredTokenException', /have expired/],
    ['UnrecognizedClientException', /does not accept these credentials: because/],
    ['AccessDeniedException', /AWS denies this: because/],
    ['ResourceNotFoundException', /does not exist here: because/],
    ['ProvisionedThroughputExceededException', /slow down/],
    ['TimeoutError', /cannot be reached: because/],
    ['ValidationException', /AWS answered with ValidationException: because/],
  ] as const;
  for (const [name, pattern] of known) {
    it(`knows ${name}`, () => {
      const explained = explainAwsError(awsError(name));
      assert.match(explained?.message ?? '', pattern);
      assert.notEqual(explained?.remedy, '');
      assert.equal(explained?.exitCode, 1);
    });
  }

  it('knows a network by its code, also below a cause or among several addresses', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    for (const error of [
      refused,
      new Error('request failed', { cause: refused }),
      new AggregateError([refused, refused]),
    ]) {
      assert.match(explainAwsError(error)?.message ?? '', /cannot be reached/);
    }
  });

  it('leaves alone what is none of AWS’s', () => {
    assert.equal(explainAwsError(new TypeError('x is undefined')), undefined);
    assert.equal(explainAwsError('text'), undefined);
    const cyclic = new Error('round');
    cyclic.cause = cyclic;
    assert.equal(explainAwsError(cyclic), undefined);
  });
});
