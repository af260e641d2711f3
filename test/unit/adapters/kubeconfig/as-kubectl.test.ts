/** What the opener does as kubectl does it, where client-node does otherwise: merging, paths, tokens, proxies. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CredentialPlugin } from '../../../../src/adapters/kubeconfig/credential-plugin.ts';
import { resultOf, type KubeconfigResult } from '../../../support/kubeconfig-result.ts';
import { loadKubeconfig } from '../../../../src/adapters/kubeconfig/load-kubeconfig.ts';
import type { KubeconfigOptions } from '../../../../src/adapters/kubeconfig/load-kubeconfig.ts';
import { parseEndpoint } from '../../../../src/adapters/kubernetes/egress/endpoint.ts';

const CA = '-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n';
const SERVER = 'https://127.0.0.1:6443';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const HOUR_SECONDS = 3600;

/** A token as a provider gives it; nobody checks its signature here. */
function idToken(expiresInSeconds: number): { readonly token: string; readonly endMs: number } {
  const exp = Math.floor(Date.now() / 1000) + expiresInSeconds;
  const part = (content: object): string =>
    Buffer.from(JSON.stringify(content)).toString('base64url');
  return { token: `${part({ alg: 'none' })}.${part({ exp })}.signature`, endMs: exp * 1000 };
}

describe('loadKubeconfig, beside client-node', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-kubeconfig-'));
  });
  after(() => rm(directory, { recursive: true }));

  interface Parts {
    readonly name?: string;
    readonly cluster?: Record<string, unknown>;
    readonly user?: Record<string, unknown>;
    readonly currentContext?: string;
  }

  async function write(file: string, parts: Parts): Promise<string> {
    const { name = 'west', cluster = { server: SERVER }, user = {} } = parts;
    const full = path.join(directory, file);
    await mkdir(path.dirname(full), { recursive: true });
    const content = {
      'current-context': parts.currentContext ?? '',
      contexts: [{ name, context: { cluster: name, user: name } }],
      clusters: [{ name, cluster }],
      users: [{ name, user }],
    };
    await writeFile(full, JSON.stringify(content));
    return full;
  }

  const load = (options: Omit<KubeconfigOptions, 'parseServer'>): Promise<KubeconfigResult> =>
    resultOf(loadKubeconfig({ parseServer: parseEndpoint, ...options }));

  async function loaded(options: Omit<KubeconfigOptions, 'parseServer'>) {
    const result = await load(options);
    assert.ok(result.kind === 'loaded', JSON.stringify(result));
    return result.kubeconfig;
  }

  async function refused(options: Omit<KubeconfigOptions, 'parseServer'>, code: string) {
    const result = await load(options);
    assert.ok(result.kind === 'refused', result.kind);
    assert.equal(result.code, code, result.message);
    return result.message;
  }

  describe('several files', () => {
    let files: string[];
    beforeEach(async () => {
      files = [
        await write('a/config', { user: { token: 'first' } }),
        path.join(directory, 'not-there'),
        await write('b/config', {
          currentContext: 'west',
          cluster: { server: 'https://other' },
          user: { token: 'second' },
        }),
        await write('c/config', { name: 'east', currentContext: 'east', user: { tokenFile: 't' } }),
      ];
      await writeFile(path.join(directory, 'c/t'), 'token-beside-its-file\n');
    });

    it('are merged: what is named first is right, and the first current-context', async () => {
      const { context, server, authentication } = await loaded({ path: files });
      assert.deepEqual(
        { context, server, authentication },
        { context: 'west', server: SERVER, authentication: { kind: 'bearer', token: 'first' } },
      );
    });

    it('have their paths start where each file is', async () => {
      const { authentication } = await loaded({ path: files, context: 'east' });
      assert.deepEqual(authentication, { kind: 'bearer', token: 'token-beside-its-file' });
    });

    it('are unreadable when none is there', async () => {
      const gone = [path.join(directory, 'x'), path.join(directory, 'y')];
      assert.match(await refused({ path: gone }, 'unreadable'), /ENOENT/);
    });
  });

  it('takes inline data before a file, as kubectl does', async () => {
    const cluster = {
      server: SERVER,
      'certificate-authority-data': base64(CA),
      'certificate-authority': 'not-there.crt',
    };
    const file = await write('inline', { cluster });
    assert.equal((await loaded({ path: file, context: 'west' })).caPem, CA);
  });

  it('trusts the certificate authority also where no user is named', async () => {
    const file = path.join(directory, 'nobody');
    const cluster = { server: SERVER, 'certificate-authority-data': base64(CA) };
    const content = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster }],
    };
    await writeFile(file, JSON.stringify(content));
    const { caPem, authentication } = await loaded({ path: file });
    assert.deepEqual({ caPem, authentication }, { caPem: CA, authentication: { kind: 'none' } });
  });

  it('names the field of a file that cannot be read', async () => {
    const user = { 'client-certificate': 'gone.crt', 'client-key-data': base64('k') };
    const file = await write('gone', { user });
    const message = await refused({ path: file, context: 'west' }, 'file-unreadable');
    assert.match(message, /the client-certificate file .*gone\.crt: ENOENT/);
  });

  it('refuses a token file that is empty, rather than to go without a credential', async () => {
    await writeFile(path.join(directory, 'empty'), ' \n');
    const file = await write('of-empty', { user: { tokenFile: 'empty' } });
    assert.match(await refused({ path: file, context: 'west' }, 'file-unreadable'), /is empty/);
  });

  describe('a token of an OIDC provider', () => {
    const withToken = (token: unknown): Promise<string> =>
      write('oidc', {
        user: {
          'auth-provider': {
            name: 'oidc',
            config: {
              'id-token': token,
              'refresh-token': 'kept-for-kubectl',
              'client-id': 'c',
              'idp-issuer-url': 'https://127.0.0.1:1',
            },
          },
        },
      });

    it('is used until it ends', async () => {
      const { token, endMs } = idToken(HOUR_SECONDS);
      const { authentication, expiresAtMs } = await loaded({
        path: await withToken(token),
        context: 'west',
      });
      assert.deepEqual(authentication, { kind: 'bearer', token });
      assert.equal(expiresAtMs, endMs);
    });

    it('is not renewed here: kubectl would never learn the new one', async () => {
      for (const token of [idToken(-HOUR_SECONDS).token, undefined, 'opaque']) {
        const path = await withToken(token);
        assert.match(await refused({ path, context: 'west' }, 'token-ended'), /kubectl renews it/);
      }
    });

    it('is refused without being quoted when it is no token', async () => {
      const message = await refused(
        { path: await withToken('a.b.c'), context: 'west' },
        'malformed',
      );
      assert.equal(message, 'user "west": auth-provider.config.id-token is no token');
    });
  });

  it('tells a plugin of the cluster if it asks', async () => {
    const asked: CredentialPlugin[] = [];
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'get-credential',
      provideClusterInfo: true,
    };
    const cluster = { server: SERVER, 'certificate-authority-data': base64(CA) };
    const runPlugin = (plugin: CredentialPlugin): Promise<string> => {
      asked.push(plugin);
      return Promise.resolve(
        JSON.stringify({ kind: 'ExecCredential', status: { token: 'minted' } }),
      );
    };
    const file = await write('told', { cluster, user: { exec } });
    await loaded({ path: file, context: 'west', runPlugin });
    assert.deepEqual(JSON.parse(asked[0]?.env['KUBERNETES_EXEC_INFO'] ?? ''), {
      apiVersion: exec.apiVersion,
      kind: 'ExecCredential',
      spec: {
        interactive: false,
        cluster: { server: SERVER, 'certificate-authority-data': base64(CA) },
      },
    });
  });

  describe('detours, where they are allowed', () => {
    const detour = async (fields: object): Promise<Omit<KubeconfigOptions, 'parseServer'>> => {
      const cluster = { server: SERVER, 'certificate-authority-data': base64(CA), ...fields };
      const file = await write('detour', { cluster, user: { token: 't' } });
      return { path: file, context: 'west', detours: 'allowed' };
    };

    it('give an agent that goes through the proxy', async () => {
      for (const proxy of ['http://127.0.0.1:3128', 'socks5://127.0.0.1:1080']) {
        assert.ok((await loaded(await detour({ 'proxy-url': proxy }))).agent, proxy);
      }
    });

    it('give an agent that expects the other name, of a server known to the same authority', async () => {
      const { agent } = await loaded(await detour({ 'tls-server-name': 'elsewhere' }));
      const { servername, ca } = (agent as Agent).options;
      assert.deepEqual({ servername, ca: String(ca) }, { servername: 'elsewhere', ca: CA });
    });

    it('give none where the server is reached as it is named', async () => {
      assert.equal((await loaded(await detour({}))).agent, undefined);
    });

    it('are refused when the proxy cannot be one', async () => {
      for (const proxy of ['ftp://127.0.0.1', 'http://', '127.0.0.1:3128']) {
        assert.match(
          await refused(await detour({ 'proxy-url': proxy }), 'unsupported'),
          /proxy-url/,
        );
      }
    });
  });
});
