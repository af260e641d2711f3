/** deploy:local never leaves this machine: neither by its endpoint nor by the environment that it hands on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { awsEnvironment } from '../../../../scripts/deploy/aws-environment.ts';
import { parseDeployOptions, type DeployOptions } from '../../../../scripts/deploy/options.ts';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';

function parse(argv: readonly string[], endpoint?: string): DeployOptions {
  const environment = endpoint === undefined ? {} : { AWS_ENDPOINT_URL: endpoint };
  const parsed = parseDeployOptions(argv, environment);
  assert.equal(parsed.kind, 'run');
  return parsed.options;
}

describe('options of deploy:local', () => {
  it('deploys to the usual port of this machine unless told otherwise', () => {
    const options = parse([]);
    assert.equal(options.endpoint.origin, 'http://127.0.0.1:4566');
    assert.equal(options.nodeCount, 12);
    assert.equal(options.isDown, false);
    assert.equal(parse([], 'http://localhost:4599').endpoint.origin, 'http://localhost:4599');
    assert.equal(parse([], 'http://[::1]:4599/').endpoint.port, '4599');
  });

  it('refuses an endpoint that is not on this machine, with exit code 2 (S12)', () => {
    for (const endpoint of [
      'https://sqs.us-east-1.amazonaws.com',
      'http://10.0.0.1:4566',
      'http://localhost.localstack.cloud:4566',
      'http://127.0.0.1.example:4566',
      'localhost:4566',
      'nothing',
    ]) {
      assert.throws(
        () => parse([], endpoint),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage,
        endpoint,
      );
    }
  });

  it('leaves with 2 for what it does not know, and with 0 after --help', (context) => {
    context.mock.method(process.stdout, 'write', () => true);
    context.mock.method(process.stderr, 'write', () => true);
    assert.deepEqual(parseDeployOptions(['--nodes', '0'], {}), { kind: 'done', exitCode: 2 });
    assert.deepEqual(parseDeployOptions(['--what'], {}), { kind: 'done', exitCode: 2 });
    assert.deepEqual(parseDeployOptions(['--help'], {}), { kind: 'done', exitCode: 0 });
  });
});

describe('environment for an emulator', () => {
  it('hands on no AWS setting of the caller: nothing can reach an account', () => {
    const environment = awsEnvironment('http://127.0.0.1:4566', {
      PATH: '/bin',
      AWS_PROFILE: 'production',
      AWS_ACCESS_KEY_ID: 'AKIAREAL',
      AWS_SESSION_TOKEN: 'real',
      AWS_ENDPOINT_URL_SQS: 'https://sqs.eu-central-1.amazonaws.com',
    });
    assert.deepEqual(environment, {
      PATH: '/bin',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:4566',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
  });
});
