/** A profile that is not there is told by its name, before anything is asked. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { resolveAwsConfig } from '../../../../src/cli/reach/open-stack.ts';
import { requireProfile } from '../../../../src/cli/reach/aws-profiles.ts';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { CommandWorld } from '../../../support/command-world.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-profiles-'));
after(() => {
  rmSync(directory, { recursive: true });
});

const config = path.join(directory, 'config');
writeFileSync(config, '[default]\nregion = x\n[profile prod-eu]\n[sso-session corp]\n');
const credentials = path.join(directory, 'credentials');
writeFileSync(credentials, '[keys]\naws_access_key_id = a\n');
const environment = { AWS_CONFIG_FILE: config, AWS_SHARED_CREDENTIALS_FILE: credentials };

function isUnknown(name: string) {
  return (error: unknown): boolean =>
    error instanceof CommandError &&
    error.exitCode === EXIT.usage &&
    error.message === `There is no AWS profile ${name}.` &&
    error.remedy === 'Pass one of: default, keys, prod-eu.';
}

describe('a profile of AWS', () => {
  it('is known by either file', () => {
    for (const name of ['default', 'prod-eu', 'keys']) requireProfile(name, environment);
    for (const name of ['nope', 'corp', 'sso-session corp']) {
      assert.throws(() => {
        requireProfile(name, environment);
      }, isUnknown(name));
    }
  });

  it('is told to be unknown with what there is, wherever a stack is opened', async () => {
    const region = { region: 'eu-west-1', environment };
    await assert.rejects(resolveAwsConfig({ ...region, profile: 'nope' }), isUnknown('nope'));
    await assert.rejects(resolveAwsConfig({ environment, profile: 'nope' }), isUnknown('nope'));
    const byVariable = { ...environment, AWS_PROFILE: 'nope' };
    await assert.rejects(
      resolveAwsConfig({ region: 'eu-west-1', environment: byVariable }),
      isUnknown('nope'),
    );
    const withKeys = { ...byVariable, AWS_ACCESS_KEY_ID: 'a' };
    const found = await resolveAwsConfig({ region: 'eu-west-1', environment: withKeys });
    assert.deepEqual(found, { region: 'eu-west-1' });
  });

  it('is told to be unknown where it is that of the cluster’s account', async () => {
    const world = new CommandWorld();
    world.environment = environment;
    const added = ['cluster', 'add', 'a', '--eks', 'prod', '--cluster-profile', 'nope'];
    const lines = [
      [...added, '--image', 'i'],
      ['cluster', 'import', '--eks-all', '--cluster-profile', 'nope'],
      ['cluster', 'doctor', 'a', '--cluster-profile', 'nope'],
    ];
    for (const argv of lines) {
      const { stderr } = (await world.run(argv)).expectExit(EXIT.usage);
      assert.match(stderr, /There is no AWS profile nope\.\nPass one of: default, keys, prod-eu\./);
    }
  });
});
