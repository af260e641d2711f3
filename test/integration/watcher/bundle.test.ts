/**
 * The bundle alone in a directory, as in the image: it finds AWS credentials by each way that a cluster has, and signs
 * its messages with them. Whether AWS takes them is AWS's; here servers of the test hand them out.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bundleWatcher } from '../../../scripts/build/watcher-bundle.ts';
import { answerJson, startScriptedApiServer } from '../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../support/scripted-api-server.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const TOKEN = 'token-of-the-pod';
const KEY = { environment: 'AKIAENVIRONMENT', web: 'ASIAWEBIDENTITY', pod: 'ASIAPODIDENTITY' };

describe('the bundle of the watcher', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-bundle-'));
  const bundle = path.join(directory, 'image/watcher.mjs');
  const file = (name: string): string => path.join(directory, name);
  let apiServer: ScriptedApiServer;
  let aws: Server;
  let awsUrl = '';
  /** Told of the first message that is sent: the access key in its signature. */
  let onMessage: (accessKey: string) => void = () => undefined;

  before(async () => {
    await bundleWatcher(ROOT, bundle);
    apiServer = await startScriptedApiServer();
    apiServer.answerWith((request, response) => {
      const metadata = { name: 'rollcall-watcher', uid: 'u', resourceVersion: '7' };
      const isAbsent = request.method === 'GET' && request.path.endsWith('/rollcall-watcher');
      answerJson(response, { status: isAbsent ? 404 : 200, body: { metadata } });
    });
    aws = createServer((request, response) => {
      void answerAsAws(request).then(({ text, accessKey }) => {
        response.end(text);
        if (accessKey !== undefined) onMessage(accessKey);
      });
    });
    aws.listen(0, '127.0.0.1');
    await once(aws, 'listening');
    awsUrl = `http://127.0.0.1:${String((aws.address() as AddressInfo).port)}`;
    writeFileSync(file('ca.crt'), apiServer.caPem);
    writeFileSync(file('token'), TOKEN);
  });

  after(async () => {
    aws.closeAllConnections();
    aws.close();
    await apiServer.close();
    rmSync(directory, { recursive: true });
  });

  test('is one file', () => {
    assert.deepEqual(readdirSync(path.dirname(bundle)), ['watcher.mjs']);
  });

  test('loads no part of Node that it has no use for: memory that every cluster would pay (ADR 0024)', async () => {
    const tell = file('tell.cjs');
    writeFileSync(
      tell,
      "process.on('exit', () => process.stdout.write(process.moduleLoadList.join('\\n')));",
    );
    // Told nothing, it ends by itself when everything has been imported.
    const child = spawn(process.execPath, ['--require', tell, bundle], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {},
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    const loaded = Buffer.concat(chunks).toString().split('\n');
    assert.equal(code, 2);
    assert.ok(loaded.includes('NativeModule https'));
    const unwanted = /undici|http2|webstreams|worker_threads/;
    assert.deepEqual(
      loaded.filter((name) => unwanted.test(name)),
      [],
    );
  });

  for (const [way, accessKey, variables] of [
    [
      'keys in the environment',
      KEY.environment,
      () => ({ AWS_ACCESS_KEY_ID: KEY.environment, AWS_SECRET_ACCESS_KEY: 'secret' }),
    ],
    [
      'a web identity token (IRSA, GKE, AKS, on premises)',
      KEY.web,
      () => ({
        AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/rollcall/test/watcher',
        AWS_WEB_IDENTITY_TOKEN_FILE: file('token'),
        AWS_ENDPOINT_URL_STS: awsUrl,
      }),
    ],
    [
      'the agent of EKS Pod Identity',
      KEY.pod,
      () => ({
        AWS_CONTAINER_CREDENTIALS_FULL_URI: `${awsUrl}/v1/credentials`,
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file('token'),
      }),
    ],
  ] as const) {
    test(`signs its messages by ${way}`, async (context) => {
      const seen = new Promise<string>((resolve) => {
        onMessage = resolve;
      });
      const child = spawn(process.execPath, [bundle], {
        cwd: path.dirname(bundle),
        stdio: ['ignore', 'ignore', 'ignore'],
        env: {
          HOME: directory,
          AWS_REGION: 'eu-central-1',
          ROLLCALL_CLUSTER: 'prod-1',
          ROLLCALL_EVENTS_QUEUE_URL: `${awsUrl}/111122223333/events.fifo`,
          ROLLCALL_SQS_ENDPOINT: awsUrl,
          ROLLCALL_API_SERVER: apiServer.url,
          ROLLCALL_CA_FILE: file('ca.crt'),
          ROLLCALL_TOKEN_FILE: file('token'),
          ...variables(),
        },
      });
      context.after(() => child.kill('SIGKILL'));
      const exited = once(child, 'exit');
      assert.equal(await Promise.race([seen, exited.then(() => 'ended')]), accessKey);
      child.kill('SIGTERM');
      await exited;
    });
  }
});

/** STS, the agent of Pod Identity and SQS in one; a message answers with the key that signed it. */
async function answerAsAws(
  request: IncomingMessage,
): Promise<{ readonly text: string; readonly accessKey?: string }> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  if (request.url === '/v1/credentials') {
    assert.equal(request.headers.authorization, TOKEN);
    return { text: credentialsJson(expires) };
  }
  if (body.includes('AssumeRoleWithWebIdentity')) {
    assert.equal(new URLSearchParams(body).get('WebIdentityToken'), TOKEN);
    return { text: credentialsXml(expires) };
  }
  const accessKey = /Credential=([A-Z]+)\//.exec(request.headers.authorization ?? '')?.[1];
  return { text: '{"MessageId":"1"}', ...(accessKey === undefined ? {} : { accessKey }) };
}

function credentialsJson(expires: string): string {
  return JSON.stringify({
    AccessKeyId: KEY.pod,
    SecretAccessKey: 'secret',
    Token: 'session',
    Expiration: expires,
  });
}

function credentialsXml(expires: string): string {
  return `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${KEY.web}</AccessKeyId>
<SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken>
<Expiration>${expires}</Expiration></Credentials><AssumedRoleUser>
<AssumedRoleId>AROA:x</AssumedRoleId><Arn>arn:aws:sts::111122223333:assumed-role/watcher/x</Arn>
</AssumedRoleUser></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
}
