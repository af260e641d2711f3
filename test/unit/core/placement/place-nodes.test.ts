/** Placement on all nodes of a view, remembered for the list that they came in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeNodes } from '../../../../src/core/placement/place-nodes.ts';
import { daemonSet, node } from '../../../support/core-fixtures.ts';

const wide = daemonSet();
const narrow = daemonSet({ podSpec: { nodeSelector: { pool: 'a' } } });
const placements = (...[of, nodes]: Parameters<typeof placeNodes>): readonly string[] =>
  placeNodes(of, nodes).map(({ node: { name }, placement }) => `${name} ${placement}`);

describe('placement on all nodes', () => {
  it('goes by name, whatever the order of the list', () => {
    const nodes = [node('n2'), node('n1', { labels: { pool: 'a' } })];
    assert.deepEqual(placements(narrow, nodes), ['n1 run', 'n2 leave']);
  });

  it('is remembered for a list and a template, and decided again for another one of either', () => {
    const nodes = [node('n1'), node('n2')];
    const first = placeNodes(wide, nodes);
    assert.equal(placeNodes(structuredClone(wide), nodes), first);
    assert.deepEqual(placements(narrow, nodes), ['n1 leave', 'n2 leave']);
    assert.equal(placeNodes(wide, nodes), first);
    assert.notEqual(placeNodes(wide, [...nodes]), first);
  });

  it('is decided again for a list that was changed in place', () => {
    const nodes = [node('n1'), node('n2')];
    assert.deepEqual(placements(narrow, nodes), ['n1 leave', 'n2 leave']);
    nodes[1] = node('n2', { labels: { pool: 'a' } });
    assert.deepEqual(placements(narrow, nodes), ['n1 leave', 'n2 run']);
    nodes.pop();
    assert.deepEqual(placements(narrow, nodes), ['n1 leave']);
  });
});
