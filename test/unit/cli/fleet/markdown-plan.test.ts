// A plan as a comment: what a reviewer has to see, bounded, and without anybody's markup coming alive.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  COMMENT_CHARACTERS_MAX,
  renderMarkdownPlan,
} from '../../../../src/cli/fleet/render-plan.ts';
import type { ClusterFacts, ObservedCluster } from '../../../../src/core/fleet/cluster-facts.ts';
import { planFleet } from '../../../../src/core/fleet/plan-fleet.ts';
import {
  NOW_MS,
  factsOf,
  fleetOf,
  liveOf,
  manifestOf,
  nodesOf,
} from '../../../support/fleet-samples.ts';

function comment(clusters: readonly ClusterFacts[], spec: JsonObject = {}): string {
  return renderMarkdownPlan('monitoring/agent', planFleet(fleetOf(spec), clusters, NOW_MS)).join(
    '\n',
  );
}

const seen = (nodes: number, image?: string): ObservedCluster => ({
  heardAtMs: NOW_MS,
  nodes: nodesOf(nodes),
  daemonSet: image === undefined ? null : liveOf(manifestOf({}, image)),
});

describe('renderMarkdownPlan', () => {
  it('counts nodes, stages, clusters and images', () => {
    const text = comment([
      factsOf('c1', { seen: seen(3, 'registry.example/agent:0') }),
      factsOf('c2', { seen: seen(5, 'registry.example/agent:0') }),
      factsOf('new', { seen: seen(2) }),
      factsOf('watched', { mode: 'observe' }),
    ]);
    assert.match(text, /^### `monitoring\/agent`\n/);
    assert.match(text, /^\*\*3 clusters: 1 gets it, 2 change, 0 have it; 10 nodes change\.\*\*$/m);
    assert.match(text, /^1 not touched by Rollcall/m);
    assert.match(
      text,
      /^\| `agent` \| `registry.example\/agent:0` \| `registry.example\/agent:1` \| 2 \|$/m,
    );
    assert.match(text, /^\| `c2` \| `[\w-]+` \| update \| 5 \|$/m);
  });

  it('has no table of clusters where none changes', () => {
    const annotations = { 'rollcall.dev/rollout': fleetOf().strategy.policyText ?? '' };
    const live = liveOf({ ...manifestOf(), metadata: { annotations } });
    const text = comment([factsOf('c1', { seen: { heardAtMs: NOW_MS, daemonSet: live } })]);
    assert.doesNotMatch(text, /Clusters that change/);
  });

  it('stays within its bound for 10,000 clusters, each with an image of its own', () => {
    const one = factsOf('one', { seen: seen(1, 'registry.example/agent:0') });
    const plan = planFleet(fleetOf(), [one], NOW_MS);
    const [stage = assert.fail()] = plan.stages;
    const [cluster = assert.fail()] = stage.clusters;
    const clusters = Array.from({ length: 10_000 }, (_, index) => ({
      ...cluster,
      id: `cluster-${String(index)}-${'x'.repeat(250)}`,
      images: [{ container: 'c'.repeat(300), from: `${'r'.repeat(300)}${String(index)}` }],
    }));
    const stages = Array.from({ length: 32 }, (_, index) => ({
      ...stage,
      name: `stage-${String(index)}-${'y'.repeat(250)}`,
      clusters: index === 3 ? clusters : [cluster],
    }));
    const refused = clusters.map(({ id }) => ({
      id,
      problems: [{ field: 'f'.repeat(500), message: 'm'.repeat(500) }] as const,
    }));
    const unknownNames = clusters.map(({ id }) => id);
    const text = renderMarkdownPlan('t'.repeat(1000), { ...plan, stages, refused, unknownNames });
    assert.ok(text.join('\n').length < COMMENT_CHARACTERS_MAX);
    assert.ok(text.includes('… 9981 more.'), 'of 10,031');
  });

  it('lets no image become a link, a mention, a cell or a line', () => {
    const image = 'x`@admins | [a](https://evil.example)\n<img src=x>';
    const text = comment([factsOf('c1', { seen: seen(1, image) })]);
    const rows = text.split('\n').filter((line) => line.includes('@admins'));
    assert.equal(rows.length, 1);
    // In a code span, with its bar escaped: four cells.
    assert.match(rows[0] ?? '', /^\| `agent` \| `x'@admins \\\| \[a\][^`]*` \| `[^`]+` \| 1 \|$/);
  });
});
