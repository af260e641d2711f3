/**
 * Where a registration can make the functions connect to: an endpoint, and nothing else (S12, row 66).
 *
 * "Refused" is proved at the socket: every attempt to connect of this process is counted, together
 * with what arrived at a real TLS server on the loopback addresses, which is what the refused names and
 * addresses lead to wherever they can. The resolver is a stub; nothing here asks a real one.
 */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { after, before, beforeEach, describe, it, mock } from 'node:test';
import { composition } from '../../functions/composition.ts';
import { HttpsClusterConnector } from '../../src/adapters/kubernetes/api/cluster-connector.ts';
import type { EgressPolicy, ResolvedAddress } from '../../src/adapters/kubernetes/egress/egress.ts';
import { reportedConnector } from '../../src/app/isolation/reported-access.ts';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import type { ClusterConnector } from '../../src/ports/cluster/cluster-access.ts';
import { createHeldTimers } from '../support/held-timers.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../support/memory-metrics.ts';
import { answerJson, startScriptedApiServer } from '../support/scripted-api-server.ts';
import type { ScriptedApiServer, Script } from '../support/scripted-api-server.ts';

const UID = '11111111-2222-3333-4444-555555555555';
const TOKEN = 'canary-token-of-west';
const IN_LAMBDA = { ROLLCALL_STAGE: 'local', AWS_LAMBDA_FUNCTION_NAME: 'reconcile' };
const clock = createHeldTimers();
/** How long a transport waits for a connection, unless told otherwise. */
const CONNECT_MS = 3000;

const kubeSystem: Script = (_request, response) => {
  answerJson(response, {
    status: 200,
    body: { metadata: { name: 'kube-system', uid: UID, resourceVersion: '4' } },
  });
};

/** Where this process tried to connect to, as `address port`. */
const attempts: string[] = [];

describe('egress of a registered endpoint (S12, row 66)', () => {
  let server: ScriptedApiServer;
  /** What a redirect would lead to. */
  let elsewhere: ScriptedApiServer;

  before(async () => {
    server = await startScriptedApiServer();
    elsewhere = await startScriptedApiServer();
    server.answerWith(kubeSystem);
    // eslint-disable-next-line @typescript-eslint/unbound-method -- called with its own `this` below
    const emit = Socket.prototype.emit as (this: Socket, ...parts: unknown[]) => boolean;
    mock.method(Socket.prototype, 'emit', function count(this: Socket, ...parts: unknown[]) {
      if (parts[0] === 'connectionAttempt')
        attempts.push(`${String(parts[1])} ${String(parts[2])}`);
      return emit.apply(this, parts);
    });
  });
  beforeEach(() => {
    attempts.length = 0;
    server.requests.length = 0;
    server.answerWith(kubeSystem);
  });
  after(async () => {
    mock.restoreAll();
    await server.close();
    await elsewhere.close();
  });

  function registered(changes: Partial<ClusterRegistration>): ClusterRegistration {
    return {
      id: clusterId('west'),
      clusterUid: clusterUid(UID),
      mode: 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROAWEST',
      server: server.url,
      caPem: server.caPem,
      authentication: { kind: 'bearer', token: TOKEN },
      labels: {},
      ...changes,
    };
  }

  /** A connector whose resolver answers with these addresses, whatever the name. */
  function connectorOf(
    addresses: readonly string[] | (() => readonly string[]),
    policy: EgressPolicy = {},
  ): ClusterConnector {
    const resolve = (): Promise<readonly ResolvedAddress[]> => {
      const list = typeof addresses === 'function' ? addresses() : addresses;
      return Promise.resolve(
        list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    };
    return new HttpsClusterConnector({
      clock,
      egress: { resolve, ...policy },
    });
  }

  async function refusalOf(
    connector: ClusterConnector,
    changes: Partial<ClusterRegistration>,
  ): Promise<unknown> {
    const connectionsBefore = server.connectionCount();
    const connection = await connector.connect(registered(changes));
    assert.equal(connection.kind, 'refused', JSON.stringify(changes));
    assert.equal(server.connectionCount(), connectionsBefore);
    assert.deepEqual(attempts, [], `nothing may be connected to for ${JSON.stringify(changes)}`);
    return connection.kind === 'refused' ? connection.refusal : undefined;
  }

  const refusedAs = (reason: string, field = 'server') => ({
    kind: 'egress-refused',
    field,
    reason,
  });

  it('connects where nothing speaks against it, which the counter of attempts sees', async () => {
    const connector = connectorOf(['127.0.0.1'], { loopback: 'allowed' });
    const named = registered({ server: `https://localhost:${server.port}` });
    assert.equal((await connector.connect(named)).kind, 'connected');
    assert.deepEqual(attempts, [`127.0.0.1 ${server.port}`]);
  });

  const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
    loopback: ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'],
    metadata: [
      '169.254.169.254',
      '169.254.170.2',
      '169.254.170.23',
      '168.63.129.16',
      '100.100.100.200',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
      '::ffff:169.254.169.254',
      '::ffff:a9fe:a9fe',
      '64:ff9b::a9fe:a9fe',
    ],
    'link-local': ['169.254.1.1', 'fe80::1', 'fe80::1%eth0', 'febf::1', '::ffff:169.254.1.1'],
    private: [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      '198.18.0.1',
      'fc00::1',
      'fd12:3456::1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
    ],
    reserved: [
      '0.0.0.0',
      '0.1.2.3',
      '192.0.0.192',
      '192.0.2.1',
      '192.88.99.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '239.255.255.255',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      '::127.0.0.1',
      '::ffff:0:127.0.0.1',
      '64:ff9b:1::a9fe:a9fe',
      '100::1',
      '2001::1',
      '2001:db8::1',
      '2002:7f00:1::',
      '3fff::1',
      'fec0::1',
      'ff02::1',
      'not an address',
    ],
  };

  for (const [reason, addresses] of Object.entries(ADDRESSES)) {
    it(`refuses ${reason} addresses before connecting, by name and written out (row 66)`, async () => {
      for (const address of addresses) {
        const byName = { server: `https://api.example.com:${server.port}` };
        const refusal = await refusalOf(connectorOf([address]), byName);
        assert.deepEqual(refusal, refusedAs(reason), address);
        const host = address.includes(':') ? `[${address}]` : address;
        const literal = { server: `https://${host}:${server.port}` };
        const ofLiteral = await refusalOf(connectorOf([]), literal);
        const isUrl = URL.canParse(literal.server);
        assert.deepEqual(ofLiteral, refusedAs(isUrl ? reason : 'no-url'), address);
      }
    });
  }

  it('refuses a name of which one address among good ones is not permitted (row 66)', async () => {
    const policy = { loopback: 'allowed' } as const;
    for (const bad of ['169.254.169.254', 'fd00:ec2::254', '10.0.0.1']) {
      const connector = connectorOf(['127.0.0.1', bad], policy);
      const refusal = await refusalOf(connector, { server: `https://localhost:${server.port}` });
      assert.equal((refusal as { kind: string }).kind, 'egress-refused', bad);
    }
    const refusal = await refusalOf(connectorOf([], policy), { server: 'https://nobody.example' });
    assert.deepEqual(refusal, refusedAs('no-address'));
  });

  it('refuses what is not a plain https address (row 66)', async () => {
    const { port } = server;
    const cases: Readonly<Record<string, readonly string[]>> = {
      'not-https': [`http://127.0.0.1:${port}`, 'ftp://x', 'file:///etc/passwd', 'data:,x'],
      'user-info': [`https://user:${TOKEN}@localhost:${port}`, `https://@localhost:${port}`],
      query: [`https://localhost:${port}/?x`, `https://localhost:${port}/#x`, 'https://localhost?'],
      host: [
        // 127.0.0.1 in every spelling that a URL parser turns round.
        `https://2130706433:${port}`,
        `https://0x7f000001:${port}`,
        `https://0177.0.0.1:${port}`,
        `https://127.1:${port}`,
        `https://0x7f.0.0.1:${port}`,
        `https://%31%32%37.0.0.1:${port}`,
        `https://loc%61lhost:${port}`,
        `https:localhost:${port}`,
        `https:/localhost:${port}`,
        `https:///localhost:${port}`,
      ],
      port: ['https://localhost:0', 'https://localhost:22', 'https://localhost:25'],
      'no-url': [
        '',
        'localhost',
        `https://[::1%25eth0]:${port}`,
        `https://[::1`,
        'https://localhost:65536',
        'https://local host',
        'https://local\nhost',
        'https:\\\\localhost',
        'https://ⓛocalhost',
        'https://１２７.0.0.1',
        'https://256.256.256.256',
        `https://${'a'.repeat(3000)}`,
      ],
    };
    for (const [reason, servers] of Object.entries(cases)) {
      for (const address of servers) {
        const refusal = await refusalOf(connectorOf(['127.0.0.1']), { server: address });
        assert.deepEqual(refusal, refusedAs(reason), address);
      }
    }
  });

  it('is not misled by a dot at the end (row 66)', async () => {
    for (const host of ['localhost.', '127.0.0.1.']) {
      const refusal = await refusalOf(connectorOf(['127.0.0.1']), {
        server: `https://${host}:${server.port}`,
      });
      assert.deepEqual(refusal, refusedAs('loopback'), host);
    }
  });

  it('opens private ranges only as the registration names them, and nothing else by them', async () => {
    const address = { server: `https://api.example.com:${server.port}` };
    const opened = { egress: { privateRanges: ['10.20.0.0/16', 'fd12::/16'] } };
    for (const outside of ['10.21.0.1', '192.168.0.1', 'fd13::1', '::ffff:10.21.0.1']) {
      const refusal = await refusalOf(connectorOf([outside]), { ...address, ...opened });
      assert.deepEqual(refusal, refusedAs('private'), outside);
    }
    const wide = { egress: { privateRanges: ['fc00::/7', '100.64.0.0/10'] } };
    for (const metadata of ['fd00:ec2::254', '100.100.100.200']) {
      const refusal = await refusalOf(connectorOf([metadata]), { ...address, ...wide });
      assert.deepEqual(refusal, refusedAs('metadata'), metadata);
    }
    for (const range of [
      '0.0.0.0/0',
      '::/0',
      '127.0.0.0/8',
      '169.254.0.0/16',
      '8.8.8.0/24',
      '10.0.0.0/7',
      'fc00::/6',
      '::ffff:10.0.0.0/104',
      '10.0.0.0',
      '10.0.0.0/33',
      '10.0.0.0/8 ',
      '__proto__',
    ]) {
      const refusal = await refusalOf(connectorOf(['127.0.0.1']), {
        ...address,
        egress: { privateRanges: [range] },
      });
      assert.deepEqual(refusal, refusedAs('range', 'egress.privateRanges'), range);
    }
  });

  it('tries to reach a private address that is registered', async () => {
    // TEST: an address of 198.18.0.0/15, which nobody routes. Some machines say so at once, others never.
    const connector = new HttpsClusterConnector({
      clock,
      egress: { resolve: () => Promise.resolve([{ address: '198.18.77.1', family: 4 }]) },
    });
    const registration = registered({
      server: `https://api.example.com:${server.port}`,
      egress: { privateRanges: ['198.18.77.0/24'] },
    });
    const connection = await clock.expireDuring(connector.connect(registration), CONNECT_MS);
    assert.equal(connection.kind === 'refused' && connection.refusal.kind, 'unavailable');
    assert.deepEqual(attempts, [`198.18.77.1 ${server.port}`]);
  });

  it('holds hosts to the allow-list of the environment, where there is one', async () => {
    const policy: EgressPolicy = { loopback: 'allowed', hostSuffixes: ['clusters.example'] };
    for (const host of ['evilclusters.example', 'clusters.example.evil', '127.0.0.1']) {
      const refusal = await refusalOf(connectorOf(['127.0.0.1'], policy), {
        server: `https://${host}:${server.port}`,
      });
      assert.deepEqual(refusal, refusedAs('host'), host);
    }
    for (const host of ['west.clusters.example', 'clusters.example', 'west.clusters.example.']) {
      await connectorOf(['127.0.0.1'], policy).connect(
        registered({ server: `https://${host}:${server.port}` }),
      );
      assert.equal(attempts.length, 1, host);
      attempts.length = 0;
    }
  });

  it('sends an EKS token to API servers of EKS alone: it would open the cluster that it names', async () => {
    const authentication = { kind: 'eks', clusterName: 'victim', region: 'eu-west-1' } as const;
    const policy: EgressPolicy = { loopback: 'allowed' };
    for (const host of ['localhost', 'eks.amazonaws.com.evil.example', 'x.execute-api.api.aws']) {
      const refusal = await refusalOf(connectorOf(['127.0.0.1'], policy), {
        authentication,
        server: `https://${host}:${server.port}`,
      });
      assert.deepEqual(refusal, refusedAs('host'), host);
    }
    const connector = new HttpsClusterConnector({
      clock,
      awsCredentials: () => Promise.resolve({ accessKeyId: 'AKID', secretAccessKey: 'x' }),
      egress: { ...policy, resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) },
    });
    for (const host of [
      '0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com'.toLowerCase(),
      '0123456789abcdef.eks-cluster.eu-west-1.api.aws',
    ]) {
      await connector.connect(
        registered({ authentication, server: `https://${host}:${server.port}` }),
      );
      assert.equal(attempts.length, 1, host);
      attempts.length = 0;
    }
    assert.equal(server.requests.length, 0, 'the certificate is not that of the name');
  });

  it('verifies the certificate for the name, not for the address that it connects to', async () => {
    const connector = connectorOf(['127.0.0.1'], { loopback: 'allowed' });
    const connection = await connector.connect(
      registered({ server: `https://api.example.com:${server.port}` }),
    );
    assert.deepEqual(connection, {
      kind: 'refused',
      refusal: { kind: 'unavailable', message: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
    assert.equal(server.requests.length, 0);
  });

  it('catches a name that leads elsewhere later: judged again at each connection (row 66)', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['169.254.169.254']];
    let asked = 0;
    const connector = connectorOf(() => answers[asked++] ?? [], { loopback: 'allowed' });
    const registration = registered({ server: `https://localhost:${server.port}` });
    const connection = await connector.connect(registration);
    assert.ok(connection.kind === 'connected');
    await connection.access.getNode('node-1');
    assert.equal(asked, 1, 'a warm connection is not resolved again');
    server.answerWith((request, response) => {
      response.setHeader('connection', 'close');
      kubeSystem(request, response);
    });
    await connection.access.getNode('node-1');
    const requestsBefore = server.requests.length;
    const read = await connection.access.getNode('node-1');
    assert.deepEqual(read, {
      kind: 'unavailable',
      message: 'EGRESS_REFUSED',
      isRefused: false,
    });
    const later = await connector.connect(registration);
    assert.deepEqual(later, { kind: 'refused', refusal: refusedAs('metadata') });
    assert.equal(server.requests.length, requestsBefore);
    assert.deepEqual(attempts, [`127.0.0.1 ${server.port}`]);
  });

  it('follows no redirect, and says so (row 66)', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      server.answerWith((_request, response) => {
        response.writeHead(status, { location: `${elsewhere.url}/${TOKEN}` });
        response.end();
      });
      const connector = connectorOf([], { loopback: 'allowed' });
      const connection = await connector.connect(registered({}));
      assert.deepEqual(connection, {
        kind: 'refused',
        refusal: {
          kind: 'unavailable',
          message: `HTTP ${status}: a redirect, which is not followed`,
        },
      });
    }
    assert.equal(elsewhere.connectionCount(), 0);
  });

  it('gives up on answers without end: headers, body, drops, an upgrade (row 66)', async () => {
    const scripts: Readonly<Record<string, Script>> = {
      HPE_HEADER_OVERFLOW: (_request, response) => {
        for (let index = 0; index < 8; index += 1)
          response.setHeader(`x-${index}`, 'x'.repeat(4000));
        response.end();
      },
      RESPONSE_TOO_LARGE: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const chunk = Buffer.alloc(4 * 1024 * 1024, 0x20);
        const more = (): void => {
          while (!response.destroyed && response.write(chunk));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      ETIMEDOUT: (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        response.once('close', () => {
          clearInterval(timer);
        });
        void clock.expire(200);
      },
      'HTTP 101: not the object that was asked for': (_request, response) => {
        response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n');
      },
    };
    for (const [code, script] of Object.entries(scripts)) {
      server.answerWith(script);
      const connector = new HttpsClusterConnector({
        clock,
        requestTimeoutMs: 200,
        egress: { loopback: 'allowed' },
      });
      const connection = await connector.connect(registered({}));
      const refusal = connection.kind === 'refused' ? connection.refusal : undefined;
      assert.equal(refusal?.kind === 'unavailable' && refusal.message, code);
    }
  });

  it('opens loopback at stage local on this machine alone, whatever a registration says (S12)', async () => {
    const stages: readonly (readonly [Record<string, string>, 'connected' | 'refused'])[] = [
      [{ ROLLCALL_STAGE: 'local' }, 'connected'],
      [IN_LAMBDA, 'refused'],
      // An emulator of AWS runs the functions on this machine: then AWS is a loopback address too.
      [{ ...IN_LAMBDA, AWS_ENDPOINT_URL: 'http://127.0.0.1:4566' }, 'connected'],
      [{ ROLLCALL_STAGE: 'dev' }, 'refused'],
      [{ ROLLCALL_STAGE: 'Local' }, 'refused'],
      [{}, 'refused'],
      [{ ROLLCALL_STAGE: 'local', ROLLCALL_ENDPOINT_SUFFIXES: ' .clusters.example ,' }, 'refused'],
    ];
    process.env['AWS_REGION'] ??= 'us-east-1';
    for (const [stage, outcome] of stages) {
      const environment = {
        ...stage,
        ...{ ROLLCALL_REGISTRY_TABLE: 'r', ROLLCALL_VIEW_TABLE: 'v' },
        ROLLCALL_EVENTS_QUEUE_URL: 'https://sqs.example/1/e',
        ROLLCALL_RECONCILE_QUEUE_URL: 'https://sqs.example/r',
        ROLLCALL_DELAY_QUEUE_URL: 'https://sqs.example/d',
        ROLLCALL_CREDENTIALS_KEY_ARN: 'arn:aws:kms:us-east-1:111122223333:key/1',
      };
      const { connector } = composition({ functionName: 'reconcile', parts: {} }, environment);
      const connection = await connector.connect(registered({}));
      assert.equal(connection.kind, outcome, JSON.stringify(stage));
      if (connection.kind === 'refused') assert.equal(connection.refusal.kind, 'egress-refused');
      connector.forget(clusterId('west'));
    }
  });

  it('is told in one log line and one metric, which name the field and no secret (S11)', async () => {
    const log = new MemoryLog();
    const metrics = new MemoryMetrics();
    const connector = reportedConnector(connectorOf(['10.1.2.3']), { log, metrics });
    await refusalOf(connector, { server: `https://user:${TOKEN}@secret.example` });
    await refusalOf(connector, { server: 'https://secret.example' });
    const told = log.lines.map(({ level, message, fields }) => ({ level, message, ...fields }));
    const line = { level: 'warn', message: 'endpoint not permitted', cluster: 'west' };
    assert.deepEqual(
      told,
      ['user-info', 'private'].map((reason) => ({ ...line, field: 'server', reason })),
    );
    assert.equal(metrics.sum('EgressRefusals'), 2);
    assert.equal(metrics.sum('EgressRefusals', 'private'), 1);
    const connected = reportedConnector(connectorOf([], { loopback: 'allowed' }), { log, metrics });
    assert.equal((await connected.connect(registered({}))).kind, 'connected');
    assert.equal(log.lines.length, 2);
  });
});
