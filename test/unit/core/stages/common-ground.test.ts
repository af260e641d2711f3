/**
 * What bad nodes have in common: claimed where numbers carry it, listed where they do not, silent where there is nothing.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { withCommonGround } from '../../../../src/core/stages/common-ground.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import { stageNode } from '../../../support/stage-nodes.ts';

const ZONE = 'topology.kubernetes.io/zone';
const ARCH = 'kubernetes.io/arch';

function message(nodes: readonly StageNode[], ...bad: readonly string[]): string {
  const breach = {
    cause: 'Restarts',
    atMs: 1,
    message: 'it fails',
    nodes: bad.map(nodeName),
  } as const;
  return withCommonGround(breach, nodes).message;
}

const well = (name: string, labels: Record<string, string>): StageNode =>
  stageNode(name, { is: 'well', labels });

describe('common ground', () => {
  it('is claimed where it explains which nodes are bad', () => {
    const nodes = Array.from({ length: 30 }, (_each, index) =>
      well(`n${String(index)}`, { [ARCH]: index < 6 ? 'arm64' : 'amd64' }),
    );
    const bad = nodes.slice(0, 6).map(({ node }) => node.name);
    assert.equal(
      message(nodes, ...bad),
      'it fails; what they share is arch arm64 (6 of 6 with it, 0 of 24 without)',
    );
  });

  it('is only where to look first, of a few nodes', () => {
    const nodes = [
      well('n1', { [ZONE]: 'a' }),
      well('n2', { [ZONE]: 'b' }),
      well('n3', { [ZONE]: 'b' }),
    ];
    assert.equal(
      message(nodes, 'n2', 'n3'),
      'it fails; look first at zone b (2 of 2 with it, 0 of 1 without)',
    );
  });

  it('is nothing that one bad node has', () => {
    const nodes = [
      well('n1', { [ZONE]: 'a' }),
      ...['n2', 'n3'].map((name) => well(name, { [ZONE]: 'b' })),
    ];
    assert.equal(message(nodes, 'n1'), 'it fails');
    assert.equal(message([...nodes, well('n4', { [ZONE]: 'c' })], 'n1', 'n4'), 'it fails');
  });

  it('is not told where all nodes are alike, and not of nodes without the revision', () => {
    const nodes = [well('n1', { [ZONE]: 'a' }), well('n2', { [ZONE]: 'a' })];
    assert.equal(message(nodes, 'n1', 'n2'), 'it fails');
    const old = stageNode('n3', { labels: { [ZONE]: 'b' } });
    assert.equal(message([...nodes, old], 'n1', 'n2'), 'it fails');
  });

  it('shows no character that a label cannot have', () => {
    const system = {
      kernelVersion: '6.1\u001b[31m',
      osImage: '',
      containerRuntimeVersion: '',
      kubeletVersion: '',
      bootId: '',
    };
    const one = well('n1', {});
    const two = well('n2', {});
    const odd = [one, two].map((each) => ({ ...each, node: { ...each.node, system } }));
    assert.match(message([...odd, well('n3', {})], 'n1', 'n2'), /kernel 6\.1\?\[31m/);
  });
});
