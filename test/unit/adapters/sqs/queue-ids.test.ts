/** Group and deduplication ids, and the identity of a sender. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clusterId, incarnation } from '../../../../src/core/model/identifiers.ts';
import type { DaemonSetKey } from '../../../../src/core/model/identifiers.ts';
import {
  CROWD_KEYS_MIN,
  eventDeduplicationId,
  eventGroupId,
  hintDeduplicationId,
  hintGroupId,
  hintGroupIds,
} from '../../../../src/adapters/sqs/queue-ids.ts';
import { identifySender } from '../../../../src/adapters/sqs/queue-ids.ts';
import { messageOf } from './watcher-message-samples.ts';

const header = messageOf({ kind: 'changes', deltas: [] });
const key: DaemonSetKey = { cluster: clusterId('west-1'), namespace: 'agents', name: 'collector' };
const LEGAL = /^[\x21-\x7e]{1,128}$/;

describe('ids of messages', () => {
  it('are cluster, and cluster/epoch/incarnation/seq, for events', () => {
    assert.equal(eventGroupId(header), 'west-1');
    const id = 'west-1/123456789012345678901234567890/k3b9x/42';
    assert.equal(eventDeduplicationId(header), id);
  });

  it('are hashed when they would be too long, and still differ by seq', () => {
    const long = { ...header, incarnation: incarnation('x'.repeat(128)) };
    const first = eventDeduplicationId(long);
    assert.match(first, LEGAL);
    assert.notEqual(first, eventDeduplicationId({ ...long, seq: 43 }));
    assert.equal(first, eventDeduplicationId({ ...long }));
  });

  it('group hints by key, and tell producers apart by prefix (protocol 12)', () => {
    assert.match(hintGroupId(key), /^west-1\/[0-9a-f]{32}$/);
    const others = [
      { ...key, name: 'collector2' },
      { ...key, namespace: 'agents2' },
      { ...key, cluster: clusterId('west-2') },
    ];
    assert.notEqual(hintDeduplicationId('a/', key), hintDeduplicationId('b/', key));
    // Also where the prefix is so long that it is replaced by its hash.
    for (const prefix of ['a/', 'a'.repeat(200)]) {
      for (const other of others) {
        assert.notEqual(hintGroupId(key), hintGroupId(other));
        assert.notEqual(hintDeduplicationId(prefix, key), hintDeduplicationId(prefix, other));
      }
    }
  });

  it('call more keys a crowd than reconcile has room for', () => {
    const text = readFileSync(new URL('../../../../serverless.yml', import.meta.url), 'utf8');
    assert.match(
      text,
      /ReconcileQueue\.Arn[\s\S]*?maximumConcurrency: \$\{param:reconcileConcurrency\}/,
    );
    const [, room] = /^ +reconcileConcurrency: (\d+)$/m.exec(text) ?? [];
    assert.equal(CROWD_KEYS_MIN, Number(room) + 1);
  });

  it('keep a key to its lane, and lanes to their cluster (L3)', () => {
    const keysOf = (cluster: string): DaemonSetKey[] =>
      Array.from({ length: 200 }, (_, index) => ({
        cluster: clusterId(cluster),
        namespace: 'agents',
        name: `set-${String(index)}`,
      }));
    const west = hintGroupIds(keysOf('west-1'), 'usual');
    assert.deepEqual(hintGroupIds(keysOf('west-1').toReversed(), 'usual').toReversed(), west);
    const east = new Set(hintGroupIds(keysOf('west-2'), 'usual'));
    assert.ok(west.every((id) => LEGAL.test(id) && !east.has(id)));
    const own = new Set(keysOf('west-1').map(hintGroupId));
    assert.ok(west.every((id) => !own.has(id)));
    const counts = [...new Set(west)].map((lane) => west.filter((id) => id === lane).length);
    assert.ok(Math.max(...counts) < 3 * (200 / 12), `lanes are filled evenly: ${counts.join()}`);
  });

  it('are legal for every input', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.string(),
        fc.string(),
        (prefix, namespace, name) => {
          const any = { cluster: clusterId(prefix), namespace, name };
          assert.match(hintGroupId(any), LEGAL);
          assert.match(hintDeduplicationId(prefix, any), LEGAL);
          assert.match(eventGroupId({ ...header, cluster: clusterId(prefix) }), LEGAL);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('identifySender (S6)', () => {
  it('takes the role id before the colon, never the session name', () => {
    assert.equal(identifySender('AROAEXAMPLE:west-1'), 'AROAEXAMPLE');
    assert.equal(identifySender('AROAEXAMPLE:AROAOTHER:x'), 'AROAEXAMPLE');
  });

  it('lets a user or account id stand for itself', () => {
    assert.equal(identifySender('000000000000'), '000000000000');
  });

  it('knows nobody in anything else', () => {
    for (const id of [undefined, '', ':AROAEXAMPLE', 'a b', '127.0.0.1', 'x'.repeat(200)]) {
      assert.equal(identifySender(id), undefined);
    }
  });
});
