/**
 * What another user of the machine finds of a running `npm start`: it listens on 127.0.0.1, which on a shared machine is not its
 * owner alone, and its registry holds the credential of a cluster.
 *
 * The second user is one: a process under another user id. Where none can be had the test says so.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, lstat, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { tryAsSecondUser, whyNoSecondUser, type Attempt } from '../support/second-user.ts';

const MAIN = new URL('../../src/cli/main.ts', import.meta.url).pathname;
const CLUSTER = 'local-1';
/** In a data directory: what holds keys, or leads to them. */
const FILES = [
  'rollcall.env',
  'kubeconfig',
  'dynamodb/tables.ndjson',
  'sqs/queues.ndjson',
  `clusters/${CLUSTER}/identity.json`,
];

interface Started {
  readonly variables: Readonly<Record<string, string>>;
  /** All that it printed so far, and its arguments, which every user may read. */
  readonly shown: () => string;
  readonly stop: () => Promise<void>;
}

/** Starts it without a umask, until it says how a second terminal gets in. */
async function startOn(data: string): Promise<Started> {
  const argv = [MAIN, '--clusters', '1', '--nodes', '1', '--data', data, '--verbose'];
  const shell = 'umask 000; exec "$0" "$@"';
  const child = spawn('sh', ['-c', shell, process.execPath, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  const file = path.join(data, 'rollcall.env');
  const said: string[] = [];
  const shown = (): string => [...child.spawnargs, ...said].join('\n');
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (line.includes(file)) {
      child.stdout.on('data', (chunk: Buffer) => said.push(chunk.toString())).resume();
      return { variables: variablesOf(await readFile(file, 'utf8')), shown, stop };
    }
  }
  throw new Error(`npm start ended: ${shown()}`);
}

function variablesOf(file: string): Readonly<Record<string, string>> {
  const exported = file.matchAll(/^export ([A-Z_]+)='(.*)'$/gm);
  return Object.fromEntries([...exported].map(([, name = '', value = '']) => [name, value]));
}

/** What the other user tries: the registry's tables, queues and bus, and the files. */
async function attemptOn(
  data: string,
  variables: Started['variables'],
): Promise<Omit<Attempt, 'credentials'>> {
  const outputs = JSON.parse(await readFile(variables['ROLLCALL_STACK_OUTPUTS'] ?? '', 'utf8')) as {
    readonly RegistryTableName: string;
  };
  const endpoints = {
    'DynamoDB_20120810.Query': variables['AWS_ENDPOINT_URL_DYNAMODB'] ?? '',
    'AmazonSQS.ListQueues': variables['AWS_ENDPOINT_URL_SQS'] ?? '',
    'AWSEvents.PutEvents': variables['AWS_ENDPOINT_URL_EVENTBRIDGE'] ?? '',
  };
  return {
    files: FILES.map((name) => path.join(data, name)),
    endpoints,
    tableName: outputs.RegistryTableName,
    partition: `CLUSTER#${CLUSTER}`,
  };
}

it('shows another user of the machine no file, and answers none who was not given the key', async (context) => {
  const why = whyNoSecondUser();
  if (why !== undefined) {
    context.skip(why);
    return;
  }
  const data = await mkdtemp(path.join(tmpdir(), 'rollcall-second-user-'));
  // It was there, and everybody may look into it, and read what an earlier start left.
  await chmod(data, 0o755);
  for (const name of ['rollcall.env', 'kubeconfig']) {
    await writeFile(path.join(data, name), 'of before', { mode: 0o644 });
  }
  const { variables, shown, stop } = await startOn(data);
  try {
    for (const name of await readdir(data)) {
      const { mode } = await lstat(path.join(data, name));
      assert.equal(mode & 0o077, 0, `${name} is its owner’s alone`);
    }
    for (const name of FILES) await access(path.join(data, name));
    const attempt = await attemptOn(data, variables);
    const { endpoints } = attempt;
    const guess = { accessKeyId: variables['AWS_ACCESS_KEY_ID'] ?? '', secretAccessKey: 'local' };
    const { userId, files, listening, answers } = await tryAsSecondUser({
      ...attempt,
      credentials: guess,
    });
    assert.notEqual(userId, process.getuid?.());
    if (process.platform === 'linux') assert.deepEqual(listening, Object.values(endpoints));
    assert.deepEqual(
      { answers, files },
      {
        answers: {
          'DynamoDB_20120810.Query': '400 UnrecognizedClientException',
          'AmazonSQS.ListQueues': '403 UnrecognizedClientException',
          'AWSEvents.PutEvents': '400 UnrecognizedClientException',
        },
        files: Object.fromEntries(attempt.files.map((file) => [file, 'EACCES'])),
      },
    );
    const handedOver = await tryAsSecondUser({
      ...attempt,
      credentials: { ...guess, secretAccessKey: variables['AWS_SECRET_ACCESS_KEY'] ?? '' },
    });
    const { 'DynamoDB_20120810.Query': items } = handedOver.answers;
    assert.equal(items, '200 1', 'whoever was given the file by its owner is let in');
    await stop();
    const { AWS_SECRET_ACCESS_KEY: secret = '' } = variables;
    assert.ok(secret.length >= 32 && !shown().includes(secret), 'it printed the secret');
  } finally {
    await stop();
    await rm(data, { recursive: true, force: true });
  }
});
