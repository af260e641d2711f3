/** What travels beside a message about its node changes (protocol 20, ADR 0046). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AFFECTED_ATTRIBUTE,
  AFFECTED_BYTES_MAX,
  affectedAttributes,
  attributesBeside,
  readAffectedKeys,
  readStandsBy,
  STANDS_BY_ATTRIBUTE,
} from '../../../../src/adapters/sqs/event-attributes.ts';

function keysOf(count: number): { namespace: string; name: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    namespace: 'node-agents',
    name: `agent-${String(index)}.v1`,
  }));
}

describe('keys that node changes concern', () => {
  for (const count of [0, 1, 2, 300]) {
    it(`are read as they were written: ${String(count)}`, () => {
      const affected = { rules: 1, keys: keysOf(count) };
      const attribute = affectedAttributes(affected)[AFFECTED_ATTRIBUTE];
      assert.deepEqual(readAffectedKeys(attribute?.StringValue), affected);
      const { DataType = '', StringValue = '' } = attribute ?? {};
      const bytes = Buffer.byteLength(AFFECTED_ATTRIBUTE + DataType + StringValue);
      assert.ok(bytes <= AFFECTED_BYTES_MAX);
    });
  }

  it('are not written beyond the bound, nor where they are not known: then every key is meant', () => {
    assert.deepEqual(affectedAttributes({ rules: 1, keys: keysOf(1000) }), {});
    assert.deepEqual(affectedAttributes(undefined), {});
    assert.equal(readAffectedKeys(undefined), undefined);
  });

  for (const text of [
    '',
    ':',
    '1',
    'x:ops/agent',
    '1:ops',
    '1:ops/agent,',
    '1:ops/agent;ops/other',
    '1:Ops/agent',
    '1:ops/agent/more',
    `1:${'a'.repeat(70)}/agent`,
    `1:${Array.from({ length: 2000 }, () => 'ops/agent').join(',')}`,
  ]) {
    it(`are not known where they cannot be read: ${text.slice(0, 30)}`, () => {
      assert.equal(readAffectedKeys(text), undefined);
    });
  }
});

describe('who holds the Lease of a watcher that stands by', () => {
  it('is read as it was written, and what cannot be a name counts as missing', () => {
    const written = attributesBeside({ standsBy: 'eu-1/1/prod' }, undefined)[STANDS_BY_ATTRIBUTE];
    assert.equal(readStandsBy(written?.StringValue), 'eu-1/1/prod');
    for (const text of [undefined, '', 'two words', 'x'.repeat(257), 'a\nb'])
      assert.equal(readStandsBy(text), undefined);
  });
});
