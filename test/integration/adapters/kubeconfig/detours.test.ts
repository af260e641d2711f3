/** Requests of our transport through the proxy of a kubeconfig, and to a server that it names otherwise. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import type { TransportAnswer } from '../../../../src/adapters/kubernetes/transport/transport.ts';
import { connectByKubeconfig } from '../../../../src/cli/reach/cluster-connection.ts';

const VERSION = { method: 'GET', path: '/version' } as const;

describe('a kubeconfig with a detour', { timeout: 60_000 }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-detours-'));
  const tunnels: string[] = [];
  let cluster: LocalCluster;
  let proxy: Server;

  before(async () => {
    cluster = await startLocalCluster({
      name: 'far',
      port: 0,
      machines: [],
      runsComponents: false,
      clock: createSystemClock(),
      random: createSystemRandom(),
      log: new MemoryLog(),
    });
    proxy = createServer();
    proxy.on('connect', ({ url = '' }, client) => {
      tunnels.push(url);
      const { hostname, port } = new URL(`tcp://${url}`);
      const server = connect(Number(port), hostname, () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        client.pipe(server).pipe(client);
      });
      server.on('error', () => client.destroy());
      client.on('error', () => server.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  after(async () => {
    proxy.close();
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  async function ask(fields: object): Promise<TransportAnswer> {
    const file = path.join(directory, 'config');
    const ca = Buffer.from(cluster.caPem).toString('base64');
    const entry = { server: cluster.server, 'certificate-authority-data': ca, ...fields };
    const content = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: entry }],
      users: [{ name: 'u', user: { token: cluster.tokens.admin } }],
    };
    writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    const { transport } = await connectByKubeconfig({ file, clock: createSystemClock() });
    try {
      return await transport.send(VERSION);
    } finally {
      transport.retire();
    }
  }

  it('reaches the server through the proxy, which sees its name alone', async () => {
    const { port } = proxy.address() as AddressInfo; // it listens on a port
    const answer = await ask({ 'proxy-url': `http://127.0.0.1:${String(port)}` });
    assert.equal(answer.kind === 'answered' && answer.status, 200, JSON.stringify(answer));
    assert.deepEqual(tunnels, [new URL(cluster.server).host]);
  });

  it('has sent nothing when the proxy is not there', async () => {
    const answer = await ask({ 'proxy-url': 'http://127.0.0.1:1' });
    assert.equal(answer.kind, 'unsent', JSON.stringify(answer));
  });

  it('expects the name that it says, and no other', async () => {
    const named = await ask({ 'tls-server-name': 'kubernetes.default.svc' });
    assert.equal(named.kind === 'answered' && named.status, 200, JSON.stringify(named));
    const stranger = await ask({ 'tls-server-name': 'elsewhere.example.com' });
    assert.equal(stranger.kind, 'unsent', JSON.stringify(stranger));
  });
});
