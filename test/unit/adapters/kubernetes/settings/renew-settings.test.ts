/** Settings of the renewer: what is needed, what is assumed, what is refused by name (S11). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readRenewSettings } from '../../../../../src/adapters/kubernetes/settings/renew-settings.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const KEY =
  'arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';

describe('the settings of a renewer', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-renew-settings-'));
  const file = (name: string): string => path.join(directory, name);
  before(() => {
    writeFileSync(file('token'), 'hunter2\n');
    writeFileSync(file('ca.crt'), 'PEM');
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  const NEEDED = {
    ROLLCALL_CLUSTER: 'west',
    ROLLCALL_CREDENTIALS_QUEUE_URL: 'https://sqs.example/1/credentials',
    ROLLCALL_CREDENTIALS_KEY_ARN: KEY,
    ROLLCALL_TOKEN_FILE: file('token'),
    ROLLCALL_CA_FILE: file('ca.crt'),
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    // As the manifest has them.
    ROLLCALL_API_SERVER: '',
    ROLLCALL_TOKEN_AUDIENCES: '',
  };
  const read = (changes: Readonly<Record<string, string>> = {}, ...flags: readonly string[]) =>
    readRenewSettings({ ...NEEDED, ...changes }, flags, new VirtualClock());

  it('are four hours and the API server’s own audience, in the region of the key', () => {
    const settings = read();
    assert.ok(settings.kind === 'settings');
    const { cluster, region, tokenSeconds, audiences, keyArn, level, apiServer } = settings;
    assert.deepEqual(
      { cluster, region, tokenSeconds, audiences, keyArn, level },
      {
        cluster: 'west',
        region: 'us-gov-west-1',
        tokenSeconds: 14_400,
        audiences: [],
        keyArn: KEY,
        level: 'info',
      },
    );
    assert.equal(apiServer.endpoint.host, '10.0.0.1');
  });

  it('may be others, by flag or variable', () => {
    const settings = read({ ROLLCALL_TOKEN_AUDIENCES: 'a, b,' }, '--token-seconds', '3600');
    assert.ok(settings.kind === 'settings');
    assert.deepEqual([settings.tokenSeconds, settings.audiences], [3600, ['a', 'b']]);
  });

  const refused: Readonly<Record<string, readonly [RegExp, Readonly<Record<string, string>>]>> = {
    'no cluster': [/ROLLCALL_CLUSTER \(--cluster\) is needed/, { ROLLCALL_CLUSTER: '' }],
    'a key by another name than its ARN': [
      /ROLLCALL_CREDENTIALS_KEY_ARN is no ARN of a KMS key/,
      { ROLLCALL_CREDENTIALS_KEY_ARN: 'alias/rollcall' },
    ],
    'a token for minutes': [
      /ROLLCALL_TOKEN_SECONDS is no whole/,
      { ROLLCALL_TOKEN_SECONDS: '600' },
    ],
    'a token for weeks': [/1800 to 86400/, { ROLLCALL_TOKEN_SECONDS: '604800' }],
    'a time that is none': [/ROLLCALL_TOKEN_SECONDS/, { ROLLCALL_TOKEN_SECONDS: '4h' }],
    'a placeholder': [
      /ROLLCALL_CREDENTIALS_QUEUE_URL still is a placeholder/,
      { ROLLCALL_CREDENTIALS_QUEUE_URL: '<url of the credentials queue>' },
    ],
    'a role that nobody filled in': [/AWS_ROLE_ARN still/, { AWS_ROLE_ARN: '<arn of the role>' }],
    'a file that is not there': [
      /ROLLCALL_TOKEN_FILE: the file cannot be read \(ENOENT\)/,
      { ROLLCALL_TOKEN_FILE: '/nowhere' },
    ],
  };
  for (const [title, [message, changes]] of Object.entries(refused)) {
    it(`are refused with ${title}, by name`, () => {
      const settings = read(changes);
      assert.ok(settings.kind === 'refused');
      assert.match(settings.message, message);
      assert.doesNotMatch(settings.message, /hunter2/);
    });
  }
});
