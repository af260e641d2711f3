/** Slot and successor names: vectors of ADR 0030, and the rules of protocol 10. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import { slotName, successorName } from '../../../../src/core/pod/naming.ts';
import { OWNER_UID } from '../../../support/core-fixtures.ts';

function slotOf(daemonSetName: string, node: string, revision?: string): string {
  return slotName({
    daemonSetName,
    daemonSetUid: OWNER_UID,
    node: nodeName(node),
    ...(revision === undefined ? {} : { revision }),
  });
}

describe('slotName', () => {
  const vectors: readonly [string, string, string | undefined, string][] = [
    ['agent', 'node-1', undefined, 'agent-pmmf6z2dpv'],
    ['agent', 'node-2', undefined, 'agent-nsxrsqxx9p'],
    ['agent', 'node-1', 'bcdfghjklm', 'agent-szncgfj4dw'],
    [
      'logs.collector',
      'ip-10-0-0-1.eu-west-1.compute.internal',
      undefined,
      'logs.collector-cmdzv9kqh4',
    ],
    [`${'a'.repeat(50)}.-bcd`, 'node-1', undefined, `${'a'.repeat(50)}-pmmf6z2dpv`],
  ];
  for (const [name, node, revision, expected] of vectors) {
    it(`is the vector of ADR 0030 for ${name.slice(0, 20)} on ${node}, revision ${revision}`, () => {
      assert.equal(slotOf(name, node, revision), expected);
      assert.equal(slotOf(name, node, revision), expected, 'also when it is remembered');
    });
  }

  it('cuts the name, never the hash, and keeps within 63 characters (protocol 10)', () => {
    const name = slotOf('d'.repeat(253), 'node-1');
    assert.equal(name, `${'d'.repeat(52)}-pmmf6z2dpv`);
    assert.equal(name.length, 63);
  });

  it('differs for a DaemonSet that was re-made under its name (spec faults 38)', () => {
    const remade = slotName({
      daemonSetName: 'agent',
      daemonSetUid: uid('other'),
      node: nodeName('node-1'),
    });
    assert.notEqual(remade, slotOf('agent', 'node-1'));
  });

  it('stays the same after more names than are remembered', () => {
    for (let index = 0; index < 50_001; index += 1) slotOf('agent', `filler-${index}`);
    assert.equal(slotOf('agent', 'node-1'), 'agent-pmmf6z2dpv');
  });
});

describe('successorName', () => {
  it('follows from the UID of the predecessor alone (ADR 0030)', () => {
    const name = successorName({ daemonSetName: 'agent', predecessorUid: uid('pod-1') });
    assert.equal(name, 'agent-vghdjxjmsm');
  });

  it('with surge also from the revision: two of one predecessor never clash (S2, ADR 0030)', () => {
    const name = successorName({
      daemonSetName: 'agent',
      predecessorUid: uid('pod-1'),
      revision: 'bcdfghjklm',
    });
    assert.equal(name, 'agent-7pp9j5l6pl');
  });
});
