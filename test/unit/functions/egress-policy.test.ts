/**
 * The policy of egress that a deployment has by its environment (S12): loopback at stage `local` alone, and in Lambda only
 * where AWS itself is an emulator on loopback.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { egressPolicy } from '../../../functions/egress-policy.ts';

const LOCAL = { ROLLCALL_STAGE: 'local' };
const IN_LAMBDA = { ...LOCAL, AWS_LAMBDA_FUNCTION_NAME: 'rollcall-local-ingest' };

describe('egress policy of a deployment (S12)', () => {
  it('refuses loopback in Lambda unless AWS itself is a loopback address', () => {
    const loopbackAt = (url: string) =>
      egressPolicy({ ...IN_LAMBDA, AWS_ENDPOINT_URL: url }).loopback;
    for (const url of [
      'http://127.0.0.1:4566',
      'http://127.1.2.3',
      'https://localhost:4566/',
      'http://[::1]:4566',
    ]) {
      assert.equal(loopbackAt(url), 'allowed', url);
    }
    for (const url of [
      '',
      '127.0.0.1:4566',
      'localhost',
      'file://localhost/etc',
      'http://10.0.0.1:4566',
      'http://169.254.169.254',
      'https://dynamodb.us-east-1.amazonaws.com',
      'http://localhost.localstack.cloud:4566',
      'http://localhost.example:4566',
      'http://127.0.0.1.example:4566',
      'http://127.0.0.1@example.com',
    ]) {
      assert.equal(loopbackAt(url), 'refused', url);
    }
  });

  it('refuses loopback at every other stage, emulator or not', () => {
    for (const stage of ['dev', 'prod', 'Local', 'local ', '']) {
      const environment = {
        ...IN_LAMBDA,
        ROLLCALL_STAGE: stage,
        AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
      };
      assert.equal(egressPolicy(environment).loopback, 'refused', stage);
    }
    assert.equal(egressPolicy({ AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' }).loopback, 'refused');
  });

  it('allows loopback outside of Lambda at stage local, where the engine runs', () => {
    assert.equal(egressPolicy(LOCAL).loopback, 'allowed');
    assert.equal(egressPolicy(IN_LAMBDA).loopback, 'refused');
  });

  it('takes a list of domains however it is written, with the dot before them or without', () => {
    const suffixesOf = (text: string): readonly string[] | undefined =>
      egressPolicy({ ROLLCALL_ENDPOINT_SUFFIXES: text }).hostSuffixes;
    const listed = suffixesOf(' .clusters.example , Other.example,,eks.example');
    assert.deepEqual(listed, ['clusters.example', 'other.example', 'eks.example']);
    assert.deepEqual(suffixesOf(' , '), []);
    assert.deepEqual(egressPolicy({}).hostSuffixes, []);
  });
});
