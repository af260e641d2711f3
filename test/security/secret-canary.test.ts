/**
 * No credential in logs, metrics, items, queues or errors (S11, row 68), and none of another cluster or
 * of an older registration on any connection (row 31).
 *
 * Marked credentials go through the deployed handlers, the connector, the watcher's source and the
 * command line while API servers echo them, fail, and lie; then everything that was written is searched
 * for the mark. Log lines are searched before any redaction: what reaches a log is clean already.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { text as readText } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { HttpsClusterConnector } from '../../src/adapters/kubernetes/api/cluster-connector.ts';
import { parseEndpoint } from '../../src/adapters/kubernetes/egress/endpoint.ts';
import { ApiWatchSource } from '../../src/adapters/kubernetes/watch/watch-source.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { encodeWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type {
  ClusterAuthentication,
  ClusterRegistration,
} from '../../src/core/model/registration.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { answerJson, startScriptedApiServer, statusBody } from '../support/scripted-api-server.ts';
import type { ScriptedApiServer, Script, SeenRequest } from '../support/scripted-api-server.ts';
import { nodeOf } from '../support/scripted-sender.ts';
import { makeTestCertificate } from '../support/test-certificate.ts';
import { emptyCluster, startTwoTenants, waitUntil } from '../support/tenants/two-tenants.ts';
import type { TwoTenants } from '../support/tenants/two-tenants.ts';

/** In every credential of this file. `&` has several spellings in JSON. */
const MARK = 'canary&5d41402a';
const clock = createSystemClock({ timers: 'unreferenced' });

/** Fails if the mark, or a usual encoding of it, stands in what was written. */
function assertClean(written: unknown, where: string): void {
  const text =
    typeof written === 'string'
      ? written
      : inspect(written, { depth: 20, maxArrayLength: null, maxStringLength: null });
  for (const form of [MARK, MARK.replace('&', String.raw`\u0026`), encodeURIComponent(MARK)]) {
    const at = text.indexOf(form);
    assert.ok(at === -1, `${where}: …${text.slice(Math.max(0, at - 200), at + 60)}…`);
  }
}

const saidBack = (request: SeenRequest): string => String(request.headers.authorization);

/** An API server that repeats the credential wherever an answer has room for text. */
function echoing(status: number): Script {
  return (request, response) => {
    const echo = saidBack(request);
    const body = {
      ...statusBody(status, `Reason ${echo}`, {
        name: echo,
        kind: echo,
        causes: [{ reason: echo }],
      }),
      message: `you sent ${echo}`,
    };
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-kubernetes-pf-prioritylevel-uid': echo,
      'retry-after': '0',
      location: `https://127.0.0.1:1/?${encodeURIComponent(echo)}`,
    });
    // As Go writes JSON: the ampersand as an escape.
    response.end(JSON.stringify(body).replaceAll('&', String.raw`\u0026`));
  };
}

/** What a server can do to a credential that it was sent. */
const TROUBLES: Readonly<Record<string, Script>> = {
  'an echo in a 401': echoing(401),
  'an echo in a 403': echoing(403),
  'an echo in a 429': echoing(429),
  'an echo in a redirect': echoing(302),
  'an echo in a 500': echoing(500),
  'an echo in a 503': echoing(503),
  'an echo in plain text': (request, response) => {
    response.writeHead(502, { 'content-type': 'text/html' }).end(saidBack(request));
  },
  'an echo as the identity': (request, response) => {
    const metadata = { name: 'kube-system', uid: saidBack(request), resourceVersion: '1' };
    answerJson(response, { status: 200, body: { metadata } });
  },
  'a success that is none': (request, response) => {
    answerJson(response, { status: 200, body: saidBack(request) });
  },
  'no end': (_request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('x');
    setImmediate(() => response.socket?.destroy());
  },
  'no answer': (_request, response) => {
    response.socket?.destroy();
  },
  'no HTTP': (request, response) => {
    response.socket?.end(`HTTP/1.1 999 ${saidBack(request)}\r\nx: \u0001\r\n\r\n`);
  },
};

const FUNCTIONS_MEET = 9;

describe('marked credentials in the functions (S11, row 68)', () => {
  const log = new MemoryLog();
  const dataDirectory = mkdtempSync(path.join(tmpdir(), 'rollcall-canary-'));
  let world: TwoTenants;
  before(async () => {
    const tokens = { alpha: `alpha-${MARK}`, beta: `beta-${MARK}` };
    world = await startTwoTenants({ log, tokens, dataDirectory });
  });
  after(async () => {
    await (world as TwoTenants | undefined)?.stop();
    rmSync(dataDirectory, { recursive: true, force: true });
  });

  it('reach the API server, and nothing that is written, whatever it answers (row 68)', async () => {
    const { alpha, metrics, registry, sendAs } = world;
    const stored = await registry.readCluster(alpha.id);
    assert.ok(stored !== undefined);
    let version = stored.configVersion;
    let nodes = 0;
    // As many as the cluster's breaker lets through; the connections below meet all of them.
    for (const [title, script] of Object.entries(TROUBLES).slice(0, FUNCTIONS_MEET)) {
      alpha.api.answerWith(script);
      const requestsBefore = alpha.api.requests.length;
      const runsBefore = metrics.sum('ReconcileRuns');
      // A new version each time: nothing is warm, and takeover lets a reconcile connect.
      const registration: ClusterRegistration = { ...stored, mode: 'takeover' };
      assert.equal(await registry.writeCluster(registration, version), 'written', title);
      version += 1;
      nodes += 1;
      await sendAs(alpha, alpha.sender.changes([nodeOf(`alpha-x${String(nodes)}`)]));
      await waitUntil(
        () =>
          alpha.api.requests.length > requestsBefore && metrics.sum('ReconcileRuns') > runsBefore,
        `a reconcile meets ${title}`,
      );
    }
    const tokens = new Set(alpha.api.requests.map(saidBack));
    assert.deepEqual([...tokens], [`Bearer ${alpha.token}`], 'it was there, and no other (row 31)');
  });

  it('stay out of what is written when the endpoint is not permitted, or its CA is none', async () => {
    const { beta, metrics, registry, sendAs } = world;
    const stored = await registry.readCluster(beta.id);
    assert.ok(stored !== undefined);
    const changes: readonly Partial<ClusterRegistration>[] = [
      // The first two are refused as addresses.
      { server: `https://user:${encodeURIComponent(MARK)}@127.0.0.1` },
      { server: 'https://169.254.169.254' },
      { server: 'https://127.0.0.1:1' },
      { caPem: 'no certificate' },
      { caPem: makeTestCertificate().certificatePem },
      {
        authentication: {
          kind: 'client-certificate',
          certificatePem: 'none',
          keyPem: `-----BEGIN PRIVATE KEY-----\n${MARK}\n-----END PRIVATE KEY-----\n`,
        },
      },
    ];
    let version = stored.configVersion;
    for (const [index, change] of changes.entries()) {
      const runsBefore = metrics.sum('ReconcileRuns');
      const refusedBefore = metrics.sum('EgressRefusals');
      const registration: ClusterRegistration = { ...stored, mode: 'takeover', ...change };
      assert.equal(await registry.writeCluster(registration, version), 'written');
      version += 1;
      await sendAs(beta, beta.sender.changes([nodeOf(`beta-x${String(index)}`)]));
      // A run that began before the change may end after it: what counts is one that met it.
      const isMet = (): boolean => index >= 2 || metrics.sum('EgressRefusals') > refusedBefore;
      await waitUntil(() => metrics.sum('ReconcileRuns') > runsBefore && isMet(), 'a look');
    }
    assert.equal(beta.api.requests.length, 0);
    const wrong: ClusterRegistration = { ...stored, clusterUid: clusterUid(MARK) };
    const refused = await registry.writeCluster(wrong, version).catch((error: unknown) => error);
    assert.ok(refused instanceof Error);
    assertClean(refused, 'a refused registration');
    await registry.writeCluster(stored, version);
  });

  it('stay out of refusals and dead letters', async () => {
    const { alpha, aws, metrics } = world;
    const arn = 'arn:aws:sts::000000000000:assumed-role/stolen/session';
    aws.authorizer.grant(alpha.accessKey, { arn, rights: 'administrator' });
    const header = { ...alpha.sender.header, seq: alpha.sender.seq + 1 };
    const message = encodeWatcherMessage({ ...header, body: { kind: 'changes', deltas: [] } });
    const sending = { accessKey: alpha.accessKey, groupId: alpha.id };
    const letters = ['EventsDeadLetterQueue', 'ReconcileDeadLetterQueue', 'DelayDeadLetterQueue'];
    for (const queue of letters) await world.send({ ...sending, queue, body: message });
    for (const queue of ['ReconcileQueue', 'DelayQueue']) {
      await world.send({ ...sending, queue, body: '{"schema":1}' });
    }
    await waitUntil(
      () => metrics.sum('DeadLetters') >= letters.length && metrics.sum('MessageRefusals') >= 2,
      'letters and refusals',
    );
  });

  it('stand nowhere but in their own registration, in the end (S11, row 68)', async () => {
    await world.aws.fireSchedule('resync');
    for (const { table, partition, item } of await world.items()) {
      const isRegistration = partition === 'CLUSTER#alpha' || partition === 'CLUSTER#beta';
      if (!isRegistration) assertClean(item, `${table} ${partition}`);
      else {
        const fields = (item as { registration: { M: Record<string, unknown> } }).registration.M;
        const { authentication, ...rest } = fields;
        assertClean(rest, partition);
        assert.ok(inspect(authentication, { depth: 9 }).includes(MARK), 'it does find the mark');
      }
    }
    assert.ok(log.lines.length > 20);
    assertClean(log.lines, 'log lines');
    assertClean(world.metrics, 'metrics');
    const files = readdirSync(path.join(dataDirectory, 'sqs'), { recursive: true }) as string[];
    const bodies = files.filter((file) => !/\.lock$/.test(file));
    assert.ok(bodies.length > 0, 'queues are kept in files');
    for (const file of bodies) {
      assertClean(readFileSync(path.join(dataDirectory, 'sqs', file), 'latin1'), file);
    }
  });
});

describe('marked credentials in connections (S11, rows 31 and 68)', () => {
  let server: ScriptedApiServer;
  before(async () => {
    server = await startScriptedApiServer();
  });
  after(() => server.close());

  const KEY_PEM = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

  function registered(changes: Partial<ClusterRegistration>): ClusterRegistration {
    return {
      id: clusterId('west'),
      clusterUid: clusterUid('uid-of-west'),
      mode: 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROAWEST',
      server: server.url,
      caPem: server.caPem,
      authentication: { kind: 'bearer', token: MARK },
      labels: {},
      ...changes,
    };
  }

  const connector = () =>
    new HttpsClusterConnector({
      clock,
      requestTimeoutMs: 2000,
      awsCredentials: () =>
        Promise.resolve({
          accessKeyId: 'AKIDEXAMPLE',
          secretAccessKey: MARK,
          sessionToken: `session-${MARK}`,
        }),
      sealedTokens: {
        credentials: {
          readToken: (cluster) =>
            Promise.resolve({
              clusterUid: clusterUid(`uid-of-${cluster}`),
              ciphertext: 'AQID',
              issuedAtMs: clock.nowMs(),
              expiresAtMs: clock.nowMs() + 3_600_000,
            }),
        },
        seal: { open: () => Promise.resolve({ kind: 'opened', text: MARK }) },
        purpose: 'act',
      },
      egress: { loopback: 'allowed', eksTokenHosts: 'any' },
    });

  const credentials: Readonly<Record<string, ClusterAuthentication>> = {
    bearer: { kind: 'bearer', token: MARK },
    'bearer with a line break': { kind: 'bearer', token: `${MARK}\n` },
    eks: { kind: 'eks', clusterName: 'west', region: 'eu-west-1' },
    'a bound token': { kind: 'bound-token', renewerRoleId: 'AROARENEWER' },
    'half a client certificate': {
      kind: 'client-certificate',
      certificatePem: MARK,
      keyPem: KEY_PEM,
    },
  };

  for (const [title, authentication] of Object.entries(credentials)) {
    it(`keep ${title} out of refusals, reads, outcomes and errors (row 68)`, async () => {
      const said: unknown[] = [];
      for (const [trouble, script] of Object.entries(TROUBLES)) {
        server.answerWith(script);
        said.push(trouble, await connector().connect(registered({ authentication })));
        server.answerWith(emptyCluster('uid-of-west'));
        const connection = await connector().connect(registered({ authentication }));
        if (connection.kind === 'refused') continue;
        server.answerWith(script);
        const { access } = connection;
        const key = { namespace: 'ops', name: 'x' };
        const reads = [
          await access.getDaemonSet(key),
          await access.getWatcherLease(),
          await access.listPodMetadata('ops', 'a=b'),
          await access.requestSnapshot('r'),
        ];
        // An object that was found is what the cluster says it is, and is written nowhere by that.
        said.push(...reads.filter(({ kind }) => kind !== 'found'));
      }
      server.answerWith(emptyCluster('uid-of-west'));
      said.push(
        await connector().connect(registered({ authentication, server: 'https://127.0.0.1:1' })),
      );
      const { certificatePem: caPem } = makeTestCertificate();
      said.push(await connector().connect(registered({ authentication, caPem })));
      assert.ok(said.length > 20);
      const text = inspect(said, { depth: 20, maxArrayLength: null, maxStringLength: null });
      assertClean(text, title);
      for (const token of server.requests.splice(0).map(saidBack)) {
        if (token.length > 20) assert.ok(!text.includes(token.replace('Bearer ', '')), title);
      }
      assert.ok(!text.includes(KEY_PEM.split('\n')[1] ?? ''), 'the key');
    });
  }

  it('keep the token out of what a watcher is told of its streams', async () => {
    const endpoint = parseEndpoint(server.url);
    assert.ok(endpoint.kind === 'endpoint');
    const streamError: Script = (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const object = { ...statusBody(500, 'x'), message: `you sent ${saidBack(request)}` };
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    };
    const said: unknown[] = [];
    for (const script of [...Object.values(TROUBLES), streamError]) {
      server.answerWith(script);
      const source = new ApiWatchSource({
        endpoint: endpoint.endpoint,
        credential: { kind: 'bearer', token: () => Promise.resolve(MARK) },
        caPem: server.caPem,
        clock,
      });
      const { signal } = new AbortController();
      const watching = source.watch('Pod', {
        timeoutSeconds: 5,
        sendInitialEvents: true,
        signal,
        onBytes: () => undefined,
      });
      for await (const frame of watching) said.push(frame);
      const lease = await source.readLease();
      const page = await source.listPage('Node', { limit: 5, signal, onItem: () => undefined });
      said.push(...[lease, page].filter(({ kind }) => kind !== 'ok'));
      source.close();
    }
    assertClean(said, 'frames and failures');
  });

  it('never meet another cluster, nor outlive their registration (row 31)', async () => {
    server.answerWith(emptyCluster('uid-of-west'));
    server.requests.length = 0;
    const warm = connector();
    const bearer = (token: string): ClusterAuthentication => ({ kind: 'bearer', token });
    const connect = async (changes: Partial<ClusterRegistration>): Promise<string | undefined> => {
      const before = server.requests.length;
      await warm.connect(registered(changes));
      const [first] = server.requests.slice(before).map(saidBack);
      return first?.replace('Bearer ', '');
    };
    assert.equal(await connect({ authentication: bearer('first') }), 'first');
    assert.equal(await connect({ authentication: bearer('first') }), undefined, 'warm');
    const east = { id: clusterId('east'), authentication: bearer('of-east') };
    assert.equal(await connect(east), 'of-east', 'another cluster, the same endpoint');
    const rotated = { configVersion: 2, authentication: bearer('second') };
    assert.equal(await connect(rotated), 'second', 'a credential that was changed');
    // Removed and registered again: the version begins anew, and may be one that was seen.
    assert.equal(await connect({ configVersion: 2, authentication: bearer('third') }), 'third');
    assert.equal(await connect({ configVersion: 2, authentication: bearer('third') }), undefined);
  });
});

describe('npm start with a marked kubeconfig (S11, row 68)', () => {
  let server: ScriptedApiServer;
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-canary-cli-'));
  before(async () => {
    server = await startScriptedApiServer();
  });
  after(async () => {
    await server.close();
    rmSync(directory, { recursive: true });
  });

  /** Everything that the process says, on both of its ways out. */
  async function sayingOf(cluster: object, user: object, ...options: string[]): Promise<string> {
    const file = path.join(directory, 'config');
    const config = {
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
    };
    writeFileSync(file, JSON.stringify(config));
    const main = new URL('../../src/cli/main.ts', import.meta.url).pathname;
    const argv = [main, '--json', '--exit-when-settled', '--kubeconfig', file, ...options];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, error] = await Promise.all([readText(child.stdout), readText(child.stderr)]);
    return `${out}\n${error}`;
  }

  it('says what is wrong without saying the credential', async () => {
    const ca = Buffer.from(server.caPem).toString('base64');
    const cluster = { server: server.url, 'certificate-authority-data': ca };
    server.answerWith(echoing(403));
    const refused = await sayingOf(cluster, { token: MARK });
    assert.match(refused, /was refused/, 'it got as far as the echo');
    assert.ok(server.requests.some((request) => saidBack(request).includes(MARK)));
    const command = process.execPath;
    const plugin = (script: string): object => ({
      exec: { apiVersion: 'client.authentication.k8s.io/v1', command, args: ['-e', script] },
    });
    const failing = `console.error('${MARK}'); console.log('${MARK}'); process.exit(3)`;
    const saying = await sayingOf(cluster, plugin(failing));
    assert.match(saying, /cannot be used: .*failed/);
    assertClean(saying.replaceAll(failing, ''), 'a plugin that fails');
    assertClean(refused, 'npm start');
  });
});
