/** Resource versions as whole numbers (KEP-5504), keys as text. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  clusterId,
  clusterUid,
  compareResourceVersions,
  epoch,
  formatKey,
  incarnation,
  isResourceVersion,
  newerVersion,
  nodeName,
  resourceVersion,
  uid,
} from '../../../../src/core/model/identifiers.ts';

describe('isResourceVersion', () => {
  const rows: readonly [unknown, boolean][] = [
    ['1', true],
    ['9'.repeat(39), true],
    ['9'.repeat(40), false],
    ['0', false],
    ['01', false],
    ['-1', false],
    ['', false],
    [1, false],
  ];
  for (const [value, expected] of rows) {
    it(`${JSON.stringify(value)}: ${expected}`, () => {
      assert.equal(isResourceVersion(value), expected);
    });
  }
});

describe('compareResourceVersions', () => {
  it('goes by length, then by digits', () => {
    assert.ok(compareResourceVersions('9', '10') < 0);
    assert.ok(compareResourceVersions('11', '10') > 0);
    assert.ok(compareResourceVersions('10', '11') < 0);
    assert.equal(compareResourceVersions('10', '10'), 0);
  });
  it('finds the newer, nothing being older than everything', () => {
    const nine = resourceVersion('9');
    const ten = resourceVersion('10');
    assert.equal(newerVersion(nine, ten), ten);
    assert.equal(newerVersion(ten, nine), ten);
    assert.equal(newerVersion(undefined, nine), nine);
    assert.equal(newerVersion(nine, undefined), nine);
  });
});

describe('names of what a text means', () => {
  it('keep the text', () => {
    for (const brand of [
      clusterId,
      clusterUid,
      uid,
      nodeName,
      resourceVersion,
      epoch,
      incarnation,
    ]) {
      assert.equal(brand('17'), '17');
    }
  });
});

describe('formatKey', () => {
  it('joins cluster, namespace and name', () => {
    assert.equal(formatKey({ cluster: clusterId('c'), namespace: 'n', name: 'd' }), 'c/n/d');
  });
});
