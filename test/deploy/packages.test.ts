/** What is published works from its tarball, in an empty folder without a network: the product and both packages. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  CreateQueueCommand,
  ReceiveMessageCommand,
  SQSClient,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { parse } from 'yaml';
import { createTestHttpsClient } from '../../packages/local-cluster/test/support/https-client.ts';
import { ensureBinaries } from '../conformance/control-plane/build.ts';
import { bindKubectl } from '../conformance/kubectl/kubectl.ts';
import { skipWithoutTools, TOOLS } from '../support/require-tool.ts';
import { installPacked } from '../support/tarball.ts';
import type { Installed } from '../support/tarball.ts';

interface Kubeconfig {
  readonly clusters: readonly [
    {
      readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string };
    },
  ];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** The names of the nodes, asked for as kubectl does: over HTTPS, by what the kubeconfig says. */
async function getNodes(file: string): Promise<readonly string[]> {
  const { clusters, users } = parse(readFileSync(file, 'utf8')) as Kubeconfig; // written by the package
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  const client = createTestHttpsClient({ server, caPem: Buffer.from(ca, 'base64').toString() });
  const authorization = `Bearer ${users[0].user.token}`;
  try {
    const { text } = await client.fetch({ path: '/api/v1/nodes', headers: { authorization } });
    const list = JSON.parse(text) as { items: readonly { metadata: { name: string } }[] };
    return list.items.map(({ metadata }) => metadata.name).sort();
  } finally {
    client.close();
  }
}

describe('the tarball of local-cluster', () => {
  let installed: Installed;
  before(async () => {
    installed = await installPacked('build-packages.ts', 'local-cluster');
  });
  after(() => {
    installed.remove();
  });

  it('explains itself, and refuses what it does not know by name', async () => {
    const help = await installed.run('local-cluster', '--help');
    assert.equal(help.exitCode, 0);
    assert.match(help.output, /--nodes N/);
    const refused = await installed.run('local-cluster', '--node', '3');
    assert.equal(refused.exitCode, 2);
    assert.match(refused.output, /--node/);
  });

  it('starts a cluster with nodes, for its user alone, and stops by Ctrl-C', async () => {
    const cluster = await installed.start(['local-cluster', '--nodes', '2'], /answers at (\S+)/);
    const file = path.join(installed.directory, 'local-cluster.kubeconfig');
    assert.deepEqual(await getNodes(file), ['node-1', 'node-2']);
    assert.equal(statSync(file).mode & 0o077, 0);
    assert.equal(await cluster.stop(), 0);
  });

  it('answers a real kubectl', { skip: skipWithoutTools([TOOLS.go]) }, async () => {
    const cluster = await installed.start(['local-cluster', '--nodes', '2'], /answers at (\S+)/);
    const kubectl = bindKubectl({
      program: (await ensureBinaries()).kubectl,
      kubeconfigPath: path.join(installed.directory, 'local-cluster.kubeconfig'),
      cacheDirectory: path.join(installed.directory, 'kubectl-cache'),
    });
    assert.equal(await kubectl.succeed('get nodes -o name'), 'node/node-1\nnode/node-2\n');
    assert.equal(await cluster.stop(), 0);
  });

  it('brings licences of what is bundled, and nothing to install', () => {
    const folder = path.join(installed.directory, 'node_modules/@rollcall/local-cluster');
    assert.match(readFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), 'utf8'), /valibot/);
    assert.ok(existsSync(path.join(folder, 'LICENSE')));
    assert.ok(!existsSync(path.join(installed.directory, 'node_modules/valibot')));
  });
});

describe('the tarball of local-aws', () => {
  let installed: Installed;
  before(async () => {
    installed = await installPacked('build-packages.ts', 'local-aws');
  });
  after(() => {
    installed.remove();
  });

  it('serves queues to the SDK, and stops by Ctrl-C', async () => {
    const server = await installed.start(['local-aws'], /SQS answers at (\S+)/);
    const client = new SQSClient({
      endpoint: server.found[1] ?? '',
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'mine' }));
    await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }));
    const received = await client.send(new ReceiveMessageCommand({ QueueUrl }));
    client.destroy();
    assert.deepEqual(
      received.Messages?.map(({ Body }) => Body),
      ['hello'],
    );
    assert.equal(await server.stop(), 0);
  });

  it('refuses a region that is none', async () => {
    const refused = await installed.run('local-aws', '--region', 'here');
    assert.equal(refused.exitCode, 2);
    assert.match(refused.output, /--region is one like us-east-1/);
  });
});

describe('the tarball of rollcall', () => {
  let installed: Installed;
  before(async () => {
    installed = await installPacked('build-npm.ts', '.');
  });
  after(() => {
    installed.remove();
  });

  it('has its commands, under both names', async () => {
    for (const name of ['rollcall', 'kubectl-rollcall']) {
      const help = await installed.run(name, '--help');
      assert.equal(help.exitCode, 0, help.output);
      assert.match(help.output, /cluster/);
    }
    const refused = await installed.run('rollcall', 'clutser');
    assert.notEqual(refused.exitCode, 0);
  });

  it('brings the page of rollcall ui, with the licences of what it is made of', () => {
    const folder = path.join(installed.directory, 'node_modules/rollcall');
    for (const name of ['index.html', 'page.js', 'page.css', 'icon.svg']) {
      assert.ok(existsSync(path.join(folder, 'dist/page', name)), name);
    }
    assert.match(readFileSync(path.join(folder, 'THIRD-PARTY-NOTICES.txt'), 'utf8'), /^preact /m);
  });

  it('runs by npx from the tarball itself', async () => {
    const help = await installed.runPacked('rollcall', '--help');
    assert.equal(help.exitCode, 0, help.output);
    assert.match(help.output, /cluster/);
  });

  it('runs local clusters until every node has its pod', async () => {
    const settled = await installed.run(
      'rollcall',
      'start',
      '--clusters',
      '1',
      '--exit-when-settled',
    );
    assert.equal(settled.exitCode, 0, settled.output);
  });
});
