/** What is left out of the command line's bundle, and that kubeconfigs are opened without it (ADR 0006). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { leaveOutClients } from '../../../scripts/build/cli-plugins.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';

/** Prints what it loads, and what kind of agent it was given. */
const ENTRY = `
import { loadKubeconfig } from './src/adapters/kubeconfig/load-kubeconfig.ts';
const parseServer = () => ({ kind: 'endpoint' });
const kubeconfig = await loadKubeconfig({ path: process.argv[2], parseServer, detours: 'allowed' });
const { agent, server, authentication } = kubeconfig;
console.log(JSON.stringify([agent?.constructor.name === undefined ? 'none' : 'agent', server, authentication]));
`;

describe('scripts/build/cli-plugins.ts', () => {
  let directory: string;
  let inputs: readonly string[];
  before(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-bundle-'));
    const { metafile } = await build({
      stdin: { contents: ENTRY, resolveDir: repositoryRoot, sourcefile: 'entry.js' },
      outfile: path.join(directory, 'bundle.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      mainFields: ['module', 'main'],
      banner: {
        js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
      },
      metafile: true,
      logLevel: 'silent',
      plugins: [leaveOutClients],
    });
    inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('leaves out the HTTP client and the generated clients', () => {
    assert.ok(inputs.some((input) => input.includes('client-node/dist/config.js')));
    // Some lines that its middleware is made with.
    const clients = inputs.filter((input) =>
      /node_modules\/undici\/|client-node\/dist\/gen\/(?!rxjsStub)/.test(input),
    );
    assert.deepEqual(clients, []);
  });

  it('opens a kubeconfig without them, also one with a proxy', async () => {
    for (const proxy of [undefined, 'http://127.0.0.1:3128', 'socks5://127.0.0.1:1080']) {
      const file = path.join(directory, 'config');
      const server = 'https://127.0.0.1:6443';
      const content = {
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server, 'proxy-url': proxy } }],
        users: [{ name: 'u', user: { token: 't' } }],
      };
      writeFileSync(file, JSON.stringify(content));
      const bundle = path.join(directory, 'bundle.mjs');
      const { stdout } = await promisify(execFile)(process.execPath, [bundle, file]);
      const agent = proxy === undefined ? 'none' : 'agent';
      assert.deepEqual(JSON.parse(stdout), [agent, server, { kind: 'bearer', token: 't' }]);
    }
  });
});
