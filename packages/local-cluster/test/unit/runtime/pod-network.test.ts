/** Addresses follow from names. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeAddress, podNetwork } from '../../../src/runtime/pod-network.ts';

test('a machine has one address and a /24 for its pods, always the same', () => {
  assert.match(nodeAddress('worker-1'), /^172\.(1[6-9]|2\d|3[01])\.\d{1,3}\.\d{1,3}$/);
  assert.equal(nodeAddress('worker-1'), nodeAddress('worker-1'));
  const { cidr, size, address } = podNetwork('worker-1');
  assert.match(cidr, /^10\.\d{1,3}\.\d{1,3}\.0\/24$/);
  assert.equal(size, 253);
  assert.equal(address(0), cidr.replace('0/24', '2'));
  assert.equal(address(size - 1), cidr.replace('0/24', '254'));
});

test('among a thousand machines hardly any share an address', () => {
  const names = Array.from({ length: 1000 }, (_unused, index) => `worker-${index}`);
  assert.ok(new Set(names.map(nodeAddress)).size >= 995);
  assert.ok(new Set(names.map((name) => podNetwork(name).cidr)).size >= 980);
});
