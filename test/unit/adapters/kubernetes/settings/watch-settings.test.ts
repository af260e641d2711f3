/** Settings of the watcher's process. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readWatchSettings } from '../../../../../src/adapters/kubernetes/settings/watch-settings.ts';
import type { WatchSettings } from '../../../../../src/adapters/kubernetes/settings/watch-settings.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const directory = mkdtempSync(join(tmpdir(), 'rollcall-settings-'));
after(() => {
  rmSync(directory, { recursive: true });
});

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const clock = new VirtualClock();
const base = {
  ROLLCALL_CLUSTER: 'prod-1',
  ROLLCALL_EVENTS_QUEUE_URL: 'https://queue.example/1/events.fifo',
  ROLLCALL_CA_FILE: file('ca.crt', 'CA'),
  ROLLCALL_TOKEN_FILE: file('token', 'first\n'),
  KUBERNETES_SERVICE_HOST: 'fd00::1',
  KUBERNETES_SERVICE_PORT: '6443',
};

function refusal(settings: WatchSettings): string {
  return settings.kind === 'refused' ? settings.message : assert.fail('settings were accepted');
}

test('in a cluster, the name and the queue are enough; flags win over variables', async () => {
  const settings = readWatchSettings(base, ['--cluster', 'prod-2'], clock);
  assert.ok(settings.kind === 'settings');
  assert.equal(settings.cluster, 'prod-2');
  assert.deepEqual(settings.apiServer.endpoint, { host: 'fd00::1', port: 6443, pathPrefix: '' });
  assert.equal(settings.apiServer.caPem, 'CA');
  const { credential } = settings.apiServer;
  assert.ok(credential.kind === 'bearer');
  assert.equal(await credential.token(), 'first');
  file('token', 'second');
  assert.equal(await credential.token(), 'first');
  await clock.advance(60_000);
  assert.equal(await credential.token(), 'second');
});

test('a client certificate can stand for the token, and an address for the service', () => {
  const certificate = file('tls.crt', 'CERT');
  const settings = readWatchSettings(
    { ...base, KUBERNETES_SERVICE_HOST: undefined, ROLLCALL_API_SERVER: 'https://10.0.0.1:6443/x' },
    ['--client-cert-file', certificate, '--client-key-file', file('tls.key', 'KEY')],
    clock,
  );
  assert.ok(settings.kind === 'settings');
  assert.equal(settings.apiServer.credential.kind, 'client-certificate');
  assert.equal(settings.apiServer.endpoint.pathPrefix, '/x');
});

test('what is missing or wrong is named, and no file content is told (S11)', () => {
  const without = (name: string): Record<string, string | undefined> => ({ ...base, [name]: '' });
  const read = (environment: Record<string, string | undefined>, flags: string[] = []): string =>
    refusal(readWatchSettings(environment, flags, clock));
  assert.match(read(without('ROLLCALL_CLUSTER')), /ROLLCALL_CLUSTER/);
  assert.match(read(without('ROLLCALL_EVENTS_QUEUE_URL')), /ROLLCALL_EVENTS_QUEUE_URL/);
  assert.match(read(without('KUBERNETES_SERVICE_HOST')), /ROLLCALL_API_SERVER/);
  assert.match(read({ ...base, ROLLCALL_CLUSTER: 'a/b' }), /no cluster name/);
  assert.match(read({ ...base, ROLLCALL_API_SERVER: 'http://x' }), /not https/);
  assert.match(read({ ...base, ROLLCALL_LOG_LEVEL: 'loud' }), /ROLLCALL_LOG_LEVEL/);
  assert.match(read({ ...base, ROLLCALL_CA_FILE: '/does/not/exist' }), /ENOENT/);
  assert.match(read(base, ['--unknown', 'x']), /unknown/);
});

test('a placeholder that nobody filled in is refused, also one that only the SDK would read', () => {
  const placeholders = {
    ROLLCALL_CLUSTER: '<name of the cluster>',
    ROLLCALL_EVENTS_QUEUE_URL: '<url of the events queue>',
    AWS_REGION: '<region of the events queue>',
    AWS_ROLE_ARN: "<arn of the watcher's role>",
    AWS_ACCESS_KEY_ID: '<access key id>',
    AWS_SECRET_ACCESS_KEY: '<secret access key>',
  };
  for (const [name, value] of Object.entries(placeholders)) {
    const message = refusal(readWatchSettings({ ...base, [name]: value }, [], clock));
    assert.match(message, new RegExp(`^${name} still is a placeholder`));
  }
});

test('probes are off unless an address is given; it may be IPv6, with brackets or as a pod has it', () => {
  const read = (address?: string): unknown => {
    const settings = readWatchSettings({ ...base, ROLLCALL_PROBE_ADDRESS: address }, [], clock);
    return settings.kind === 'settings' ? settings.probeAddress : settings.message;
  };
  assert.equal(read(), undefined);
  assert.deepEqual(read('10.0.0.7:9737'), { host: '10.0.0.7', port: 9737 });
  assert.deepEqual(read('fd00::7:9737'), { host: 'fd00::7', port: 9737 });
  assert.deepEqual(read('[fd00::7]:9737'), { host: 'fd00::7', port: 9737 });
  for (const wrong of ['9737', ':9737', '10.0.0.7', '10.0.0.7:99999', '[fd00::7:9737'])
    assert.match(String(read(wrong)), /ROLLCALL_PROBE_ADDRESS is not host:port/);
});

test('a replica stands by at its start, if told so', () => {
  const read = (start?: string): unknown => {
    const settings = readWatchSettings({ ...base, ROLLCALL_LEASE_START: start }, [], clock);
    return settings.kind === 'settings' ? settings.leaseStart : settings.message;
  };
  assert.equal(read(), 'take');
  assert.equal(read('stand-by'), 'stand-by');
  assert.match(String(read('wait')), /ROLLCALL_LEASE_START is none of take, stand-by/);
});

test('a watcher belongs to the stack of its queue, unless it is told another name', () => {
  for (const [given, installation] of [
    [{}, '1/events'],
    [{ ROLLCALL_INSTALLATION: 'npm-start/7' }, 'npm-start/7'],
  ] as const) {
    const settings = readWatchSettings({ ...base, ...given }, [], clock);
    assert.equal(settings.kind === 'settings' && settings.installation, installation);
  }
  const nonsense = { ...base, ROLLCALL_INSTALLATION: 'two words' };
  assert.match(refusal(readWatchSettings(nonsense, [], clock)), /ROLLCALL_INSTALLATION/);
});
