/**
 * Closed schemas with bounds: registrations, messages, hints (rows 65 and 67, S11, S12).
 *
 * The fuzz beside this file throws 10,000 inputs at each parser; here are the edges themselves: what
 * just fits, what just does not, and what a registration must never be able to say.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHook } from 'node:async_hooks';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, mock } from 'node:test';
import { promisify } from 'node:util';
import { parseRegistration } from '../../src/adapters/dynamodb/registration-schema.ts';
import { createDynamoRegistryStore } from '../../src/adapters/dynamodb/registry-store.ts';
import type { DynamoStoreOptions } from '../../src/adapters/dynamodb/table.ts';
import { HttpsClusterConnector } from '../../src/adapters/kubernetes/api/cluster-connector.ts';
import { parseEndpoint } from '../../src/adapters/kubernetes/egress/endpoint.ts';
import { resultOf } from '../support/kubeconfig-result.ts';
import { loadKubeconfig } from '../../src/adapters/kubeconfig/load-kubeconfig.ts';
import { parseHint, parseTimer } from '../../src/adapters/sqs/schema/hint-codec.ts';
import {
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { clusterId } from '../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import { messageOf, pod, samples } from '../unit/adapters/sqs/watcher-message-samples.ts';
import { createHeldTimers } from '../support/held-timers.ts';

const CANARY = 'canary-5d41402abc4b2a76';

const REGISTRATION = {
  id: 'west-1',
  clusterUid: '11111111-2222-3333-4444-555555555555',
  mode: 'takeover',
  isFrozen: false,
  configVersion: 3,
  senderRoleId: 'AROAEXAMPLE',
  server: 'https://api.example.com',
  caPem: '-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n',
  egress: { privateRanges: ['10.0.0.0/8', 'fd12::/16'] },
  authentication: { kind: 'bearer', token: CANARY },
  labels: { stage: 'test', constructor: 'x', 'example.com/team': '' },
  takeoverProbedAtMs: 5,
  sentinel: { uid: 'u', createdAtMs: 4 },
  rival: { seenAtMs: 6, evidence: 'it was seen' },
};

function refusedFields(changes: object): readonly string[] {
  const parsed = parseRegistration({ ...REGISTRATION, ...changes });
  assert.equal(parsed.kind, 'refused', JSON.stringify(changes).slice(0, 200));
  const fields = parsed.kind === 'refused' ? parsed.fields : [];
  assert.ok(!JSON.stringify(fields).includes(CANARY), 'S11: fields, never values');
  return fields;
}

/** Resources of Node that were made while `run` ran, of these kinds. */
async function resourcesMade(kinds: RegExp, run: () => Promise<unknown>): Promise<string[]> {
  const made: string[] = [];
  const hook = createHook({
    init: (_id, type) => {
      if (kinds.test(type)) made.push(type);
    },
  });
  hook.enable();
  try {
    await run();
  } finally {
    hook.disable();
  }
  return made;
}

const PROCESS_FILE_SOCKET = /PROCESSWRAP|^FS|FILEHANDLE|TCP|TLS|PIPE|UDP|GETADDRINFO|DNS/;
const PROCESS_SOCKET = /PROCESSWRAP|TCP|TLS|PIPE|UDP|GETADDRINFO|DNS/;

/** What a kubeconfig can say, and a registration cannot: as fields of it and of its credential. */
const CODE_AND_EGRESS: Readonly<Record<string, unknown>> = {
  exec: { command: 'sh', args: ['-c', 'touch /tmp/owned'] },
  'auth-provider': { name: 'gcp', config: { 'cmd-path': '/bin/sh', 'cmd-args': '-c id' } },
  tokenFile: '/etc/passwd',
  'client-key': '/etc/shadow',
  'certificate-authority': '/etc/ssl/ca.pem',
  'proxy-url': 'http://169.254.169.254',
  'insecure-skip-tls-verify': true,
  'tls-server-name': 'elsewhere',
  headers: { host: 'elsewhere' },
  as: 'system:admin',
};

describe('a registration (S12, row 65)', () => {
  it('is accepted with every field that there is', () => {
    const parsed = parseRegistration(REGISTRATION);
    assert.equal(parsed.kind === 'registration' && parsed.registration.labels['constructor'], 'x');
  });

  it('has no field for programs, files, proxies, other names or identities (row 65)', () => {
    for (const [name, value] of Object.entries(CODE_AND_EGRESS)) {
      assert.equal(refusedFields({ [name]: value }).length, 1, name);
      const authentication = { kind: 'bearer', token: CANARY, [name]: value };
      const [field] = refusedFields({ authentication });
      assert.match(String(field), /^authentication\./, name);
      assert.deepEqual(refusedFields({ authentication: { kind: name, [name]: value } }), [
        'authentication.kind',
      ]);
    }
  });

  it('opens no process, no file and no socket, even where one got past the schema (row 65)', async () => {
    const connector = new HttpsClusterConnector({ clock: createHeldTimers() });
    const made = await resourcesMade(PROCESS_FILE_SOCKET, async () => {
      for (const [name, value] of Object.entries(CODE_AND_EGRESS)) {
        const hostile = {
          ...REGISTRATION,
          [name]: value,
          authentication: { kind: name, [name]: value },
        } as unknown as ClusterRegistration; // what the schema would have refused
        const connection = await connector.connect(hostile);
        assert.equal(connection.kind, 'refused');
        assert.equal(parseRegistration(hostile).kind, 'refused');
      }
    });
    assert.deepEqual(made, []);
    const seen = await resourcesMade(PROCESS_SOCKET, () =>
      promisify(execFile)(process.execPath, ['--version']),
    );
    assert.ok(seen.includes('PROCESSWRAP'), 'the counter sees a process when there is one');
  });

  it('is not made of a kubeconfig that would run or reach something (row 65)', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-kubeconfig-'));
    const file = path.join(directory, 'config');
    const server = 'https://127.0.0.1:1';
    const users: Readonly<Record<string, object>> = {
      'plugin-not-allowed': {
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', 'id'] },
      },
      unsupported: { 'auth-provider': CODE_AND_EGRESS['auth-provider'] },
    };
    const clusters: readonly object[] = [
      { server, 'proxy-url': 'http://127.0.0.1:1' },
      { server, 'tls-server-name': 'elsewhere' },
    ];
    const load = async (cluster: object, user: object): Promise<unknown> => {
      const config = {
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user }],
      };
      writeFileSync(file, JSON.stringify(config));
      const loaded = await resultOf(loadKubeconfig({ path: file, parseServer: parseEndpoint }));
      return loaded.kind === 'refused' ? loaded.code : loaded.kind;
    };
    const made = await resourcesMade(PROCESS_SOCKET, async () => {
      for (const [code, user] of Object.entries(users)) {
        assert.equal(await load({ server }, user), code);
      }
      for (const cluster of clusters) {
        assert.equal(await load(cluster, { token: CANARY }), 'unsupported');
      }
    });
    rmSync(directory, { recursive: true });
    assert.deepEqual(made, []);
  });

  it('is bounded in every field, and named by field when it is not (row 67)', () => {
    const cases: readonly (readonly [string, object])[] = [
      ['id', { id: 'a'.repeat(101) }],
      ['id', { id: 'a\nb' }],
      ['id', { id: 'a/b' }],
      ['id', { id: 'a#b' }],
      ['clusterUid', { clusterUid: 'u'.repeat(129) }],
      ['clusterUid', { clusterUid: 'u/v' }],
      ['mode', { mode: 'copilot2' }],
      ['isFrozen', { isFrozen: 'no' }],
      ['configVersion', { configVersion: 0 }],
      ['configVersion', { configVersion: 1.5 }],
      ['configVersion', { configVersion: 2 ** 60 }],
      ['senderRoleId', { senderRoleId: '' }],
      ['senderRoleId', { senderRoleId: 'AROA:session' }],
      ['server', { server: `https://${'a'.repeat(2048)}` }],
      ['caPem', { caPem: 'x'.repeat(65_537) }],
      ['caPem', { caPem: '\u0000' }],
      ['egress.privateRanges.0', { egress: { privateRanges: ['example.com'] } }],
      ['egress.privateRanges', { egress: { privateRanges: Array(17).fill('10.0.0.0/8') } }],
      ['egress.loopback', { egress: { privateRanges: [], loopback: true } }],
      ['authentication.token', { authentication: { kind: 'bearer', token: CANARY.repeat(1000) } }],
      [
        'authentication.clusterName',
        { authentication: { kind: 'eks', clusterName: 'a/b', region: 'eu-west-1' } },
      ],
      [
        'authentication.region',
        { authentication: { kind: 'eks', clusterName: 'a', region: 'x.evil.example' } },
      ],
      ['labels', { labels: { a: 1 } }],
      ['labels', { labels: { 'a b': '' } }],
      ['labels', { labels: { a: 'x'.repeat(64) } }],
      ['labels', { labels: JSON.parse('{"__proto__":"x"}') as object }],
      [
        'labels',
        { labels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${i}`, ''])) },
      ],
      ['takeoverProbedAtMs', { takeoverProbedAtMs: -1 }],
      ['sentinel.uid', { sentinel: { uid: 'a b', createdAtMs: 1 } }],
      ['rival.evidence', { rival: { seenAtMs: 1, evidence: 'x'.repeat(4097) } }],
      ['?', JSON.parse('{"\\n{\\"level\\":\\"error\\"}":1}') as object],
      ['?', { ['x'.repeat(70_000)]: 1 }],
    ];
    for (const [field, changes] of cases) assert.deepEqual(refusedFields(changes), [field]);
    for (const none of [undefined, null, 'text', 7, [], [REGISTRATION]]) {
      assert.equal(parseRegistration(none).kind, 'refused');
    }
    const withPrototype = JSON.parse(
      `{"__proto__":{"isAdmin":true},${JSON.stringify(REGISTRATION).slice(1)}`,
    ) as unknown;
    assert.equal(parseRegistration(withPrototype).kind, 'refused');
  });

  /** A registry whose table answers with this item, and keeps what is written. */
  function storeWith(item: object | undefined): {
    readonly store: ReturnType<typeof createDynamoRegistryStore>;
    readonly writes: unknown[];
  } {
    const writes: unknown[] = [];
    const client = {
      config: {},
      send: (command: { readonly constructor: { readonly name: string } }) => {
        if (!/Get/.test(command.constructor.name)) writes.push(command);
        const key = { pk: 'CLUSTER#west-1', sk: 'CLUSTER' };
        const found = item === undefined ? [] : [{ ...key, ...item }];
        return Promise.resolve({ Item: found[0], Responses: { registry: found } });
      },
    } as unknown as DynamoStoreOptions['client']; // as much of a client as a store uses
    const random = createSystemRandom();
    return {
      store: createDynamoRegistryStore({ client, tableName: 'registry', random }),
      writes,
    };
  }

  it('is refused before it is written, without a word of its credential (S11, row 67)', async () => {
    const { store, writes } = storeWith(undefined);
    const { configVersion: _version, ...rest } = REGISTRATION;
    const bad = { ...rest, server: CANARY.repeat(200), configVersion: 0 };
    await assert.rejects(
      store.writeCluster(bad as unknown as ClusterRegistration, 0), // refused by the schema
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'registration-invalid');
        assert.equal(error.message, 'not a registration: server');
        return true;
      },
    );
    assert.deepEqual(writes, []);
  });

  it('is an error under another cluster’s key, and where it does not fit (S6, S11)', async () => {
    const { configVersion, ...registration } = REGISTRATION;
    const read = (item: object): Promise<unknown> =>
      storeWith(item).store.readCluster(clusterId('west-1'));
    assert.ok(await read({ registration, configVersion }));
    const elsewhere = { ...registration, id: 'east-1' };
    await assert.rejects(
      read({ registration: elsewhere, configVersion }),
      /is no registration: id$/,
    );
    const exec = { ...registration, exec: CANARY };
    await assert.rejects(read({ registration: exec, configVersion }), (error: Error) => {
      assert.match(error.message, /is no registration: exec$/);
      assert.ok(!error.message.includes(CANARY));
      return true;
    });
    await assert.rejects(read({ registration: 'text', configVersion }));
  });
});

describe('a watcher’s message (row 67)', () => {
  const acceptsPod = (changes: object): boolean => {
    const object = { ...pod(1), ...changes };
    const slice = { set: 'pods/u' as const, index: 0, objects: [{ object, hash: 1 }] };
    const message = messageOf({ kind: 'slices', slices: [slice] });
    return parseWatcherMessage(encodeWatcherMessage(message)).kind === 'message';
  };
  const label = (key: string, value: string): object => ({
    labels: Object.fromEntries([[key, value]]),
  });

  it('takes what Kubernetes allows, and nothing longer (row 67)', () => {
    const prefix = `${'p'.repeat(253)}/`;
    const pairs: readonly (readonly [object, object])[] = [
      [{ name: 'n'.repeat(253) }, { name: 'n'.repeat(254) }],
      [{ namespace: 'n'.repeat(63) }, { namespace: 'n'.repeat(64) }],
      [{ namespace: 'a-b' }, { namespace: 'a.b' }],
      [label(prefix + 'k'.repeat(63), ''), label(prefix + 'k'.repeat(64), '')],
      [label('k', 'v'.repeat(63)), label('k', 'v'.repeat(64))],
      [label('constructor', 'v'), label('__proto__', 'v')],
      [label('k', 'v'), label('k', 'v\n{"level":"error"}')],
      [label('k', 'v'), label('k\u001b[2J', 'v')],
      [label('k', 'v'), label('k', '\u202e')],
      [{ reason: 'Evicted' }, { reason: 'x'.repeat(257) }],
      [{ reason: 'Out of cpu' }, { reason: 'x\r\ny' }],
      [{ resourceVersion: '9'.repeat(39) }, { resourceVersion: '9'.repeat(40) }],
      [{ resourceVersion: '1' }, { resourceVersion: '01' }],
      [{ createdAtMs: 8.64e15 }, { createdAtMs: 8.64e15 + 1000 }],
      [{ createdAtMs: 0 }, { createdAtMs: -1 }],
      [{ uid: 'u'.repeat(128) }, { uid: 'u'.repeat(129) }],
      [{ uid: 'a:b' }, { uid: 'a/b' }],
      [{ uid: 'a.b' }, { uid: 'a#b' }],
      [{ boundNode: 'n1' }, { boundNode: '../n1' }],
      [{}, { extra: 1 }],
      [{}, { constructor: 1 }],
    ];
    for (const [fitting, other] of pairs) {
      assert.equal(acceptsPod(fitting), true, JSON.stringify(fitting).slice(0, 100));
      assert.equal(acceptsPod(other), false, JSON.stringify(other).slice(0, 100));
    }
  });

  it('refuses `__proto__` at every level that has keys, and pollutes nothing (row 67)', () => {
    for (const [name, sample] of Object.entries(samples)) {
      const body = JSON.stringify(sample.body);
      for (let at = body.indexOf('{'); at !== -1; at = body.indexOf('{', at + 1)) {
        const isEmpty = body[at + 1] === '}';
        const trap = `{"__proto__":{"polluted":true}${isEmpty ? '' : ','}`;
        const payload = `j${body.slice(0, at)}${trap}${body.slice(at + 1)}`;
        const { body: _body, ...header } = sample;
        const parsed = parseWatcherMessage(JSON.stringify({ ...header, payload }));
        assert.equal(parsed.kind, 'refused', `${name} at ${at}: ${body.slice(at, at + 60)}`);
      }
    }
    assert.equal((Object.prototype as { polluted?: unknown }).polluted, undefined);
  });

  it('is refused by its length before it is parsed: 1 MiB, and 8 KiB for hints (rows 25, 67)', () => {
    const parse = mock.method(JSON, 'parse');
    const tooLong = `{"a":"${'x'.repeat(1024 * 1024)}"}`;
    const parsed = [
      parseWatcherMessage(tooLong),
      parseHint(tooLong.slice(0, 8193)),
      parseTimer(tooLong),
    ];
    const calls = parse.mock.callCount();
    parse.mock.restore();
    assert.deepEqual(
      parsed.map((one) => one.kind === 'refused' && one.code),
      ['oversized', 'oversized', 'oversized'],
    );
    assert.equal(calls, 0);
  });
});
