/** The codec of watcher messages: there and back, and every refusal. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { AFFECTED_KEYS_MAX } from '../../../../../src/core/model/watcher-message.ts';
import type { WatcherMessage } from '../../../../../src/core/model/watcher-message.ts';
import {
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { messageOf, pod, samples } from '../watcher-message-samples.ts';

type Loose = Record<string, unknown>;

function envelopeOf(message: WatcherMessage): Loose {
  return JSON.parse(encodeWatcherMessage(message)) as Loose;
}

/** The sample with its body changed, encoded plain. */
function withBody(change: (body: Loose) => void, name = 'slices'): string {
  const message = samples[name];
  assert.ok(message !== undefined);
  const body = structuredClone(message.body) as unknown as Loose;
  change(body);
  return JSON.stringify({ ...envelopeOf(message), payload: `j${JSON.stringify(body)}` });
}

function firstObject(body: Loose): Loose {
  const slices = body['slices'] as { objects: { object: Loose }[] }[];
  const object = slices[0]?.objects[0]?.object;
  assert.ok(object !== undefined);
  return object;
}

function assertRefused(body: string, code: string, field?: string): void {
  const parsed = parseWatcherMessage(body);
  assert.equal(parsed.kind, 'refused', JSON.stringify(parsed).slice(0, 200));
  if (parsed.kind !== 'refused') return;
  assert.equal(parsed.code, code);
  if (field !== undefined) assert.equal(parsed.field, field);
}

describe('codec of watcher messages', () => {
  for (const [name, message] of Object.entries(samples)) {
    it(`carries ${name} there and back`, () => {
      assert.deepEqual(parseWatcherMessage(encodeWatcherMessage(message)), {
        kind: 'message',
        message,
      });
    });
  }

  it('carries them compressed as well', () => {
    for (const message of Object.values(samples)) {
      const payload = `z${zstdCompressSync(JSON.stringify(message.body)).toString('base64')}`;
      const body = JSON.stringify({ ...envelopeOf(message), payload });
      assert.deepEqual(parseWatcherMessage(body), { kind: 'message', message });
    }
  });

  it('leaves small payloads readable and compresses larger ones', () => {
    const small = samples['heartbeat'];
    assert.ok(small !== undefined);
    assert.match(String(envelopeOf(small)['payload']), /^j\{/);
    const objects = Array.from({ length: 5000 }, (_, index) => ({
      object: pod(index),
      hash: index,
    }));
    const large = messageOf({ kind: 'slices', slices: [{ set: 'pods/x', index: 0, objects }] });
    const body = encodeWatcherMessage(large);
    assert.match(String((JSON.parse(body) as Loose)['payload']), /^z/);
    assert.ok(body.length < 256 * 1024, `5,000 pods in ${body.length} bytes`);
    assert.deepEqual(parseWatcherMessage(body), { kind: 'message', message: large });
  });

  it('compresses what SQS would refuse as text', () => {
    const body = {
      kind: 'announcement',
      sliceCount: 1,
      reason: 'start',
      requestId: '\ufffe',
    } as const;
    assert.match(String(envelopeOf(messageOf(body))['payload']), /^z/);
  });

  it('tells what it can of the header of a refused message', () => {
    const message = samples['heartbeat'];
    assert.ok(message !== undefined);
    const envelope = { ...envelopeOf(message), payload: 'zAAAA', epoch: 'not-a-version' };
    const parsed = parseWatcherMessage(JSON.stringify(envelope));
    assert.ok(parsed.kind === 'refused');
    const { cluster, clusterUid, incarnation, seq } = message;
    assert.deepEqual(parsed.header, { cluster, clusterUid, incarnation, seq });
    assert.equal(parsed.field, 'epoch');
  });
});

describe('refused watcher messages', () => {
  const message = samples['heartbeat'] ?? messageOf({ kind: 'changes', deltas: [] });
  const envelope = envelopeOf(message);
  const withHeader = (change: Loose): string => JSON.stringify({ ...envelope, ...change });

  it('are undecodable when they are no JSON, no zstd, or cut short', () => {
    assertRefused('', 'undecodable', '');
    assertRefused('{"schema":', 'undecodable', '');
    assertRefused(withHeader({ payload: 'j{' }), 'undecodable', 'payload');
    assertRefused(withHeader({ payload: 'zbm90IHpzdGQ=' }), 'undecodable', 'payload');
    const whole = zstdCompressSync(JSON.stringify(message.body));
    const cut = whole.subarray(0, whole.length - 4).toString('base64');
    assertRefused(withHeader({ payload: `z${cut}` }), 'undecodable', 'payload');
  });

  it('are oversized beyond 1 MiB, or 8 MiB decompressed', () => {
    assertRefused(withHeader({ payload: `j${' '.repeat(1024 * 1024)}` }), 'oversized', '');
    const bomb = zstdCompressSync(Buffer.alloc(9 * 1024 * 1024, ' ')).toString('base64');
    assertRefused(withHeader({ payload: `z${bomb}` }), 'oversized', 'payload');
  });

  it('are of an unsupported schema when a number says so', () => {
    assertRefused(withHeader({ schema: 2 }), 'unsupported-schema', 'schema');
    assertRefused(withHeader({ schema: '1' }), 'invalid', 'schema');
  });

  it('are invalid when they are no object, or have unknown or missing keys', () => {
    for (const body of ['null', '[]', '"x"', '1']) assertRefused(body, 'invalid', '');
    assertRefused(withHeader({ extra: 1 }), 'invalid', 'extra');
    assertRefused(withHeader({ seq: undefined }), 'invalid', 'seq');
    assertRefused(`{"__proto__":{"schema":1},${JSON.stringify(envelope).slice(1)}`, 'invalid');
  });

  const headers: Readonly<Record<string, readonly unknown[]>> = {
    cluster: ['', 'a/b', 'a\nb', 'x'.repeat(101), 7, null, '-a'],
    clusterUid: ['', 'a b', 'x'.repeat(129), {}],
    epoch: ['0', '01', '-1', '1'.repeat(40), 5],
    incarnation: ['', 'a/b', 'x'.repeat(129)],
    seq: [0, -1, 1.5, '1', 1e15, null],
    payload: ['', 'q{}', 5],
  };
  for (const [field, values] of Object.entries(headers)) {
    it(`are invalid for a bad ${field}`, () => {
      for (const value of values) assertRefused(withHeader({ [field]: value }), 'invalid', field);
    });
  }

  it('are invalid for a bad body, and say where', () => {
    const at = 'payload.slices.0.objects.0.object';
    assertRefused(
      withBody((body) => (firstObject(body)['name'] = 'a\nb')),
      'invalid',
      `${at}.name`,
    );
    assertRefused(
      withBody((body) => (firstObject(body)['extra'] = 1)),
      'invalid',
      `${at}.extra`,
    );
    assertRefused(
      withBody((body) => (firstObject(body)['kind'] = 'Secret')),
      'invalid',
    );
    assertRefused(
      withBody((body) => (firstObject(body)['labels'] = { a: 1 })),
      'invalid',
      `${at}.labels`,
    );
    const long = { ['k'.repeat(500)]: 'v' };
    assertRefused(
      withBody((body) => (firstObject(body)['labels'] = long)),
      'invalid',
      `${at}.labels`,
    );
    assertRefused(
      withBody((body) => (body['kind'] = 'other')),
      'invalid',
      'payload.kind',
    );
    assertRefused(
      withBody((body) => (body['sliceCount'] = 3), 'announcement'),
      'invalid',
    );
    assertRefused(
      withBody((body) => (body['standsBy'] = 'two words'), 'announcement'),
      'invalid',
      'payload.standsBy',
    );
    assertRefused(
      withBody((body) => (body['begun'] = ['pods']), 'changes'),
      'invalid',
      'payload.begun.0',
    );
    const key = { namespace: 'ops', name: 'agent' };
    for (const keys of [
      [{ ...key, namespace: 'Ops' }],
      Array.from({ length: AFFECTED_KEYS_MAX + 1 }, () => key),
    ]) {
      assertRefused(
        withBody((body) => (body['affected'] = { rules: 1, keys }), 'changes'),
        'invalid',
      );
    }
  });

  it('are invalid when a DaemonSet, or the outline of one, is not the one it is said to be', () => {
    const daemonSetOf = (body: Loose, at: 'object' | 'outline'): Loose => {
      const slices = body['slices'] as { objects: { object: Loose }[] }[];
      const [whole, opaque] = slices[1]?.objects ?? [];
      const outline = (opaque?.object ?? {})['outline'] as Loose;
      return (at === 'object' ? (whole?.object ?? {}) : outline)['object'] as Loose;
    };
    for (const change of [
      (object: Loose) => ((object['metadata'] as Loose)['uid'] = 'other'),
      (object: Loose) => ((object['metadata'] as Loose)['namespace'] = 'kube-system'),
      (object: Loose) => delete object['spec'],
      (object: Loose) => (object['spec'] = { template: 5 }),
    ]) {
      for (const at of ['object', 'outline'] as const) {
        assertRefused(
          withBody((body) => change(daemonSetOf(body, at))),
          'invalid',
        );
      }
    }
  });

  it('are invalid for nesting or keys that a recursive walk could not take (faults 67)', () => {
    for (const [depth, code] of [
      [100, 'invalid'],
      [5000, 'oversized'],
    ] as const) {
      const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const text = withBody(() => undefined).replace(
        '{\\"future\\":',
        `{\\"deep\\":${deep.replaceAll('"', '\\"')},\\"future\\":`,
      );
      assertRefused(text, code);
    }
    const poisoned = withBody(() => undefined).replace('\\"future\\"', '\\"__proto__\\"');
    assertRefused(poisoned, 'invalid');
    const labels = withBody(() => undefined).replace(
      '\\"empty.example/value\\"',
      '\\"__proto__\\"',
    );
    assertRefused(labels, 'invalid');
    assert.equal(({} as Loose)['future'], undefined);
  });

  it('never throws, whatever the bytes: 1,000 mutations and 1,000 inventions', () => {
    const bodies = Object.values(samples).map((sample) => encodeWatcherMessage(sample));
    const mutated = fc
      .record({
        body: fc.constantFrom(...bodies),
        at: fc.nat({ max: 3000 }),
        remove: fc.nat({ max: 20 }),
        insert: fc.string({ unit: 'binary', maxLength: 20 }),
      })
      .map(({ body, at, remove, insert }) => {
        const index = at % body.length;
        return body.slice(0, index) + insert + body.slice(index + remove);
      });
    fc.assert(
      fc.property(mutated, (body) => {
        assert.ok(['message', 'refused'].includes(parseWatcherMessage(body).kind));
      }),
      { numRuns: 1000 },
    );
    const invented = fc
      .record({ json: fc.jsonValue({ maxDepth: 6 }), payload: fc.jsonValue({ maxDepth: 6 }) })
      .map(({ json, payload }) =>
        typeof json === 'object' && json !== null && !Array.isArray(json)
          ? { ...envelope, ...json, payload: `j${JSON.stringify(payload)}` }
          : json,
      );
    fc.assert(
      fc.property(invented, (json) => {
        assert.equal(parseWatcherMessage(JSON.stringify(json)).kind, 'refused');
      }),
      { numRuns: 1000 },
    );
  });
});
