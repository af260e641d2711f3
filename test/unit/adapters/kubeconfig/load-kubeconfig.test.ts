/** The kubeconfig loader: what it resolves, and what it refuses with which code. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CredentialPlugin } from '../../../../src/adapters/kubeconfig/credential-plugin.ts';
import { loadKubeconfig as loadWith } from '../../../../src/adapters/kubeconfig/load-kubeconfig.ts';
import type { KubeconfigOptions } from '../../../../src/adapters/kubeconfig/load-kubeconfig.ts';
import { parseEndpoint } from '../../../../src/adapters/kubernetes/egress/endpoint.ts';
import { resultOf, type KubeconfigResult } from '../../../support/kubeconfig-result.ts';

const CA = '-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n';
const loadKubeconfig = (
  options: Omit<KubeconfigOptions, 'parseServer'>,
): Promise<KubeconfigResult> => resultOf(loadWith({ ...options, parseServer: parseEndpoint }));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Parts {
  readonly cluster?: Record<string, unknown>;
  readonly user?: Record<string, unknown>;
  readonly currentContext?: string;
}

describe('loadKubeconfig', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-kubeconfig-'));
    await writeFile(path.join(directory, 'ca.crt'), CA);
    await writeFile(path.join(directory, 'token'), 'token-from-a-file\n');
  });
  after(() => rm(directory, { recursive: true }));

  async function writeConfig(content: unknown): Promise<string> {
    const file = path.join(directory, 'config');
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  function configOf(parts: Parts): unknown {
    return {
      apiVersion: 'v1',
      kind: 'Config',
      preferences: {},
      'current-context': parts.currentContext ?? 'west',
      contexts: [
        { name: 'west', context: { cluster: 'west-1', user: 'admin', namespace: 'default' } },
        { name: 'adrift', context: { cluster: 'nowhere', user: 'admin' } },
        { name: 'nobody', context: { cluster: 'west-1', user: 'stranger' } },
      ],
      clusters: [
        {
          name: 'west-1',
          cluster: parts.cluster ?? {
            server: 'https://127.0.0.1:6443',
            'certificate-authority-data': base64(CA),
          },
        },
      ],
      users: [{ name: 'admin', user: parts.user ?? { token: 'token-of-admin' } }],
    };
  }

  async function load(
    parts: Parts,
    options: {
      readonly context?: string;
      readonly runPlugin?: (plugin: CredentialPlugin) => Promise<string>;
    } = {},
  ): Promise<KubeconfigResult> {
    return loadKubeconfig({ path: await writeConfig(configOf(parts)), ...options });
  }

  async function assertRefused(
    loading: Promise<KubeconfigResult>,
    code: string,
    message?: RegExp,
  ): Promise<void> {
    const result = await loading;
    assert.equal(result.kind, 'refused', JSON.stringify(result));
    if (result.kind !== 'refused') return;
    assert.equal(result.code, code, result.message);
    if (message !== undefined) assert.match(result.message, message);
    assert.ok(!result.message.includes('token-of-admin'), 'no credential in a refusal (S11)');
  }

  async function authenticationOf(loading: Promise<KubeconfigResult>): Promise<unknown> {
    const result = await loading;
    assert.equal(result.kind, 'loaded', JSON.stringify(result));
    return result.kind === 'loaded' ? result.kubeconfig.authentication : undefined;
  }

  it('resolves the current context with inline data', async () => {
    assert.deepEqual(await load({}), {
      kind: 'loaded',
      kubeconfig: {
        context: 'west',
        clusterName: 'west-1',
        server: 'https://127.0.0.1:6443',
        caPem: CA,
        isInsecure: false,
        authentication: { kind: 'bearer', token: 'token-of-admin' },
      },
    });
  });

  it('reads YAML, and files beside the kubeconfig', async () => {
    const file = await writeConfig(
      [
        'current-context: west',
        'contexts: [{name: west, context: {cluster: c, user: u}}]',
        'clusters: [{name: c, cluster: {server: "https://h", certificate-authority: ca.crt}}]',
        'users: [{name: u, user: {tokenFile: token}}]',
      ].join('\n'),
    );
    const result = await loadKubeconfig({ path: file });
    assert.equal(result.kind === 'loaded' && result.kubeconfig.caPem, CA);
    const loading = loadKubeconfig({ path: file });
    const expected = { kind: 'bearer', token: 'token-from-a-file' };
    assert.deepEqual(await authenticationOf(loading), expected);
  });

  it('resolves a client certificate before a token', async () => {
    const user = {
      'client-certificate-data': base64('cert'),
      'client-key-data': base64('key'),
      token: 'token-of-admin',
    };
    const expected = { kind: 'client-certificate', certificatePem: 'cert', keyPem: 'key' };
    assert.deepEqual(await authenticationOf(load({ user })), expected);
  });

  it('takes a user without credentials as none', async () => {
    assert.deepEqual(await authenticationOf(load({ user: {} })), { kind: 'none' });
  });

  it('says when the file asks to skip TLS verification', async () => {
    const cluster = { server: 'https://h', 'insecure-skip-tls-verify': true };
    const result = await load({ cluster });
    assert.equal(result.kind === 'loaded' && result.kubeconfig.isInsecure, true);
  });

  it('lists the contexts when the wanted one is missing', async () => {
    const result = await load({}, { context: 'east' });
    assert.deepEqual(result, {
      kind: 'refused',
      code: 'context-missing',
      message: 'there is no context "east"',
      available: ['west', 'adrift', 'nobody'],
    });
    await assertRefused(load({ currentContext: '' }), 'context-missing', /no context is chosen/);
  });

  it('refuses a dangling cluster or user by name', async () => {
    await assertRefused(load({}, { context: 'adrift' }), 'cluster-missing', /"nowhere"/);
    await assertRefused(load({}, { context: 'nobody' }), 'user-missing', /"stranger"/);
  });

  it('refuses a file that is missing, no YAML, or no kubeconfig', async () => {
    const missing = path.join(directory, 'missing');
    await assertRefused(loadKubeconfig({ path: missing }), 'unreadable', /ENOENT/);
    const broken = await writeConfig('token: "token-of-admin\n  - {');
    await assertRefused(loadKubeconfig({ path: broken }), 'malformed');
    const other = await writeConfig({ contexts: 'none' });
    await assertRefused(loadKubeconfig({ path: other }), 'malformed', /contexts/);
    const empty = await writeConfig('');
    await assertRefused(loadKubeconfig({ path: empty }), 'malformed');
  });

  it('refuses an alias bomb without expanding it', async () => {
    const levels = Array.from({ length: 9 }, (_, index) => {
      const inner = index === 0 ? '"x"' : `*l${index - 1}`;
      return `l${index}: &l${index} [${Array.from({ length: 9 }, () => inner).join(', ')}]`;
    });
    const file = await writeConfig(levels.join('\n'));
    await assertRefused(loadKubeconfig({ path: file }), 'malformed');
  });

  it('refuses an address that is not https', async () => {
    await assertRefused(load({ cluster: { server: 'http://127.0.0.1:8080' } }), 'server-invalid');
  });

  it('refuses what it would have to ignore: proxy, server name, passwords, providers, impersonation', async () => {
    for (const field of ['proxy-url', 'tls-server-name']) {
      const cluster = { server: 'https://h', [field]: 'elsewhere' };
      await assertRefused(load({ cluster }), 'unsupported', new RegExp(field));
    }
    for (const field of ['username', 'password', 'auth-provider', 'as', 'as-groups']) {
      await assertRefused(load({ user: { [field]: 'x' } }), 'unsupported', new RegExp(field));
    }
  });

  it('refuses material that is no base64, half a pair, or a file that is not there', async () => {
    const cluster = { server: 'https://h', 'certificate-authority-data': '%%%' };
    await assertRefused(load({ cluster }), 'malformed', /certificate-authority/);
    await assertRefused(load({ user: { 'client-key-data': base64('k') } }), 'malformed');
    await assertRefused(load({ user: { tokenFile: 'nope' } }), 'file-unreadable', /nope.*ENOENT/);
  });

  describe('credential plugins (S12)', () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'get-credential',
      args: ['--for', 'west'],
      env: [{ name: 'PROFILE', value: 'p' }],
      interactiveMode: 'IfAvailable',
    };
    const credential = (status: Record<string, string>): string =>
      JSON.stringify({ apiVersion: exec.apiVersion, kind: 'ExecCredential', status });

    it('run only through what the command line passes in', async () => {
      await assertRefused(load({ user: { exec } }), 'plugin-not-allowed', /get-credential/);
    });

    it('are asked with their arguments and environment, and give a token with its end', async () => {
      const asked: CredentialPlugin[] = [];
      const runPlugin = (plugin: CredentialPlugin): Promise<string> => {
        asked.push(plugin);
        const expirationTimestamp = '2026-01-01T00:00:00Z';
        return Promise.resolve(credential({ token: 'minted', expirationTimestamp }));
      };
      const result = await load({ user: { exec } }, { runPlugin });
      assert.ok(result.kind === 'loaded');
      assert.deepEqual(result.kubeconfig.authentication, { kind: 'bearer', token: 'minted' });
      assert.equal(result.kubeconfig.expiresAtMs, Date.parse('2026-01-01T00:00:00Z'));
      assert.equal(asked[0]?.command, 'get-credential');
      assert.deepEqual(asked[0].args, ['--for', 'west']);
      assert.equal(asked[0].env['PROFILE'], 'p');
      const info = JSON.parse(asked[0].env['KUBERNETES_EXEC_INFO'] ?? '') as { kind: string };
      assert.equal(info.kind, 'ExecCredential');
    });

    it('may give a client certificate', async () => {
      const runPlugin = (): Promise<string> =>
        Promise.resolve(credential({ clientCertificateData: 'c', clientKeyData: 'k' }));
      const expected = { kind: 'client-certificate', certificatePem: 'c', keyPem: 'k' };
      assert.deepEqual(await authenticationOf(load({ user: { exec } }, { runPlugin })), expected);
    });

    it('that are named by a path start at the kubeconfig', async () => {
      const asked: string[] = [];
      const runPlugin = ({ command }: CredentialPlugin): Promise<string> => {
        asked.push(command);
        return Promise.resolve(credential({ token: 'minted' }));
      };
      await load({ user: { exec: { ...exec, command: './bin/get' } } }, { runPlugin });
      assert.deepEqual(asked, [path.join(directory, 'bin/get')]);
    });

    it('that fail, print nothing usable, or ask questions are refused', async () => {
      const user = { exec };
      const failing = (): Promise<string> => Promise.reject(new Error('token-of-admin'));
      await assertRefused(load({ user }, { runPlugin: failing }), 'plugin-failed');
      for (const output of ['', 'token-of-admin', '{}', credential({})]) {
        const runPlugin = (): Promise<string> => Promise.resolve(output);
        await assertRefused(load({ user }, { runPlugin }), 'plugin-failed');
      }
      const runPlugin = (): Promise<string> => Promise.resolve(credential({ token: 'minted' }));
      const asking = { exec: { ...exec, interactiveMode: 'Always' } };
      await assertRefused(load({ user: asking }, { runPlugin }), 'unsupported');
      const old = { exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } };
      await assertRefused(load({ user: old }, { runPlugin }), 'unsupported');
    });
  });
});
