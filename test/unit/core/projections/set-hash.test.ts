/** Set hashes: incremental, independent of order, blind to versions (ADR 0076, protocol 19). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hash48 } from '@rollcall/base/hash48.ts';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import type { NodeProjection } from '../../../../src/core/model/projections.ts';
import {
  addHash,
  isSameProjection,
  membershipHash,
  projectionText,
  sliceCountFor,
  sliceIndexOf,
  subtractHash,
} from '../../../../src/core/projections/set-hash.ts';

import { daemonSet } from '../../../support/core-fixtures.ts';

const MODULUS = 2 ** 48;

function node(changes: Partial<NodeProjection>): NodeProjection {
  return {
    kind: 'Node',
    name: nodeName('n'),
    uid: uid('u'),
    resourceVersion: resourceVersion('1'),
    labels: { a: '1', b: '2' },
    taints: [],
    unschedulable: false,
    isReady: true,
    isTerminating: false,
    ...changes,
  };
}

describe('set hashes', () => {
  it('stay whole numbers of 48 bits', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const hash = hash48(text);
        assert.ok(Number.isSafeInteger(hash) && hash >= 0 && hash < MODULUS);
      }),
    );
  });

  it('come back to where they were when what was added is taken away, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.nat(), (texts, start) => {
        const hashes = texts.map((text) => hash48(text));
        const added = hashes.reduce(addHash, start);
        assert.equal(hashes.toReversed().reduce(subtractHash, added), start);
      }),
    );
  });

  it('do not see a new resourceVersion, nor the order of labels', () => {
    const text = projectionText(node({}));
    assert.equal(projectionText(node({ resourceVersion: resourceVersion('2') })), text);
    assert.equal(projectionText(node({ labels: { b: '2', a: '1' } })), text);
    assert.notEqual(projectionText(node({ labels: { a: '1', b: '3' } })), text);
  });

  it('stay what is stored: test vectors', () => {
    const vectors = { '': 155594997357752, a: 133046545951655, 'node-1': 97332949621309 };
    for (const [text, hash] of Object.entries(vectors)) assert.equal(hash48(text), hash);
  });

  it('come of texts that are equal exactly where projections are called the same', () => {
    const nodes = [
      node({}),
      node({ resourceVersion: resourceVersion('2') }),
      node({ labels: { b: '2', a: '1' } }),
      node({ labels: { a: '1' } }),
      node({ taints: [{ key: 'k', effect: 'NoSchedule' }] }),
    ];
    const sets = ['1', '2'].flatMap((version) =>
      [1, 2].map((generation) => ({
        kind: 'DaemonSet' as const,
        namespace: 'ns',
        name: 'agent',
        uid: uid('u'),
        resourceVersion: resourceVersion(version),
        object: daemonSet({ metadata: { resourceVersion: version, generation } }),
      })),
    );
    const all = [...nodes, ...sets];
    let sameCount = 0;
    for (const left of all) {
      for (const right of all) {
        const isSame = projectionText(left) === projectionText(right);
        assert.equal(isSameProjection(left, right), isSame);
        sameCount += isSame ? 1 : 0;
      }
    }
    assert.equal(sameCount, 9 + 2 + 8);
  });

  it('differ between sets', () => {
    assert.notEqual(membershipHash('nodes', 'x'), membershipHash('pods/u', 'x'));
  });
});

describe('slices', () => {
  it('are 1 up to 300 nodes, 4 up to 2,000 and 16 above (design 4)', () => {
    const counts = [1, 300, 301, 2000, 2001, 15_000].map((nodes) => sliceCountFor(nodes));
    assert.deepEqual(counts, [1, 1, 4, 4, 16, 16]);
  });

  it('take every name, and spread names', () => {
    const used = new Set<number>();
    for (let index = 0; index < 1000; index += 1)
      used.add(sliceIndexOf(`node-${String(index)}`, 16));
    assert.equal(used.size, 16);
    assert.equal(sliceIndexOf('anything', 1), 0);
  });
});
