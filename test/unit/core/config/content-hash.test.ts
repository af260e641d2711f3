/** Hashes of content: what they tell, and what they do not (ADR 0061). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  configKeyOf,
  hashContent,
  hashTogether,
  scopeOf,
} from '../../../../src/core/config/content-hash.ts';
import type { ConfigKey } from '../../../../src/core/config/content-hash.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';

function key(byte: number): ConfigKey {
  return configKeyOf(new Uint8Array(32).fill(byte)) ?? assert.fail('the key is too short');
}

const OF = { kind: 'Secret', namespace: 'infra', name: 'token' } as const;

function secret(
  data: Record<string, string>,
  more: Record<string, unknown> = {},
): KubernetesObject {
  return { metadata: { name: 'token', uid: 'u', resourceVersion: '1' }, data, ...more };
}

describe('hashes of content', () => {
  it('are known by heart: they are stored, and compared after a release', () => {
    assert.equal(key(1).id, '3679d833');
    assert.equal(hashContent(key(1), OF, secret({ a: 'MQ==' })).length, 20);
  });

  it('need the key: nobody tries words without it', () => {
    const object = secret({ pin: 'MTIzNA==' });
    assert.notEqual(hashContent(key(1), OF, object), hashContent(key(2), OF, object));
    assert.notEqual(key(1).id, key(2).id);
    assert.equal(configKeyOf(new Uint8Array(15)), undefined);
  });

  it('follow data and binaryData, in any order, and nothing else', () => {
    const hash = (object: KubernetesObject): string => hashContent(key(1), OF, object);
    const same = hash(secret({ a: '1', b: '2' }));
    assert.equal(hash(secret({ b: '2', a: '1' }, { immutable: true, type: 'Opaque' })), same);
    assert.equal(
      hash({
        ...secret({ a: '1', b: '2' }),
        metadata: { name: 'x', uid: 'v', resourceVersion: '9', labels: {} },
      }),
      same,
    );
    assert.notEqual(hash(secret({ a: '1', b: '3' })), same);
    assert.notEqual(hash(secret({ a: '1', b: '2' }, { binaryData: { c: 'AA==' } })), same);
    // What stands in one field must not be taken for what stands in another.
    assert.notEqual(hash(secret({}, { binaryData: { a: '1' } })), hash(secret({ a: '1' })));
  });

  it('differ for two objects with the same content', () => {
    const object = secret({ a: '1' });
    const others = [
      { ...OF, namespace: 'other' },
      { ...OF, name: 'other' },
      { ...OF, kind: 'ConfigMap' as const },
    ];
    const hashes = [OF, ...others].map((of) => hashContent(key(1), of, object));
    assert.equal(new Set(hashes).size, 4);
  });

  it('together follow each object; a scope follows key and names alone', () => {
    const a = { kind: 'ConfigMap' as const, name: 'a', hash: '1' };
    const b = { kind: 'Secret' as const, name: 'b', hash: '2' };
    assert.notEqual(hashTogether([a, b]), hashTogether([a, { ...b, hash: '3' }]));
    const changed = { ...b, hash: '3' };
    assert.equal(scopeOf('k', [a, b]), scopeOf('k', [a, changed]));
    assert.notEqual(scopeOf('k', [a, b]), scopeOf('l', [a, b]));
    assert.notEqual(scopeOf('k', [a, b]), scopeOf('k', [a]));
  });
});
