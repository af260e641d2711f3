// What one cluster is given: overrides in their order, judged again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { fleetRenderer, policyInForce } from '../../../../src/core/fleet/render-fleet.ts';
import type { Rendering } from '../../../../src/core/fleet/render-fleet.ts';
import { factsOf, fleetOf, manifestOf } from '../../../support/fleet-samples.ts';

function renderedFor(spec: JsonObject, labels: Readonly<Record<string, string>> = {}): Rendering {
  return fleetRenderer(fleetOf(spec))(factsOf('c1', { labels }));
}

function podSpecOf(rendering: Rendering): Json | undefined {
  assert.equal(rendering.kind, 'rendered', JSON.stringify(rendering));
  const { template }: { readonly template: object } = rendering.manifest.spec;
  return jsonMember(template as JsonObject, 'spec');
}

describe('fleetRenderer', () => {
  it('applies overrides in their order, and in each the merge before the JSON patch', () => {
    const path = '/spec/template/spec/priorityClassName';
    const overrides = [
      {
        name: 'first',
        strategicMerge: { spec: { template: { spec: { priorityClassName: 'merged' } } } },
        jsonPatch: [
          { op: 'test', path, value: 'merged' },
          { op: 'replace', path, value: 'patched' },
        ],
      },
      {
        name: 'second',
        jsonPatch: [
          { op: 'test', path, value: 'patched' },
          { op: 'remove', path },
        ],
      },
    ];
    const rendering = renderedFor({ overrides });
    assert.equal(jsonMember(podSpecOf(rendering), 'priorityClassName'), undefined);
    assert.deepEqual(rendering.kind === 'rendered' && rendering.overrides, ['first', 'second']);
  });

  it('has a hash of the pod template alone, equal where templates mean the same', () => {
    const hashOf = (spec: JsonObject): string => {
      const rendering = renderedFor(spec);
      assert.equal(rendering.kind, 'rendered');
      return rendering.hash;
    };
    const plain = hashOf({});
    assert.equal(hashOf({ template: manifestOf({ dnsPolicy: '', tolerations: [] }) }), plain);
    const other = {
      ...manifestOf(),
      spec: { ...(manifestOf()['spec'] as JsonObject), minReadySeconds: 9 },
    };
    assert.equal(hashOf({ template: other }), plain);
    assert.notEqual(hashOf({ template: manifestOf({}, 'registry.example/agent:2') }), plain);
  });

  const REFUSED: readonly (readonly [what: string, override: JsonObject, field: string])[] = [
    [
      'a JSON patch that finds nothing',
      { jsonPatch: [{ op: 'remove', path: '/spec/nothing' }] },
      'spec.overrides[0].jsonPatch',
    ],
    [
      'a merge that names no key',
      { strategicMerge: { spec: { template: { spec: { containers: [{ image: 'x' }] } } } } },
      'spec.overrides[0].strategicMerge',
    ],
    [
      'a patch that leaves no DaemonSet',
      { jsonPatch: [{ op: 'remove', path: '/spec/template/spec/containers/0' }] },
      'spec.template.spec.containers',
    ],
    ['another name', { strategicMerge: { metadata: { name: 'other' } } }, 'metadata.name'],
    [
      'another selector',
      {
        strategicMerge: {
          spec: {
            selector: { matchLabels: { tier: 'a' } },
            template: { metadata: { labels: { tier: 'a' } } },
          },
        },
      },
      'spec.selector',
    ],
  ];
  for (const [what, override, field] of REFUSED) {
    it(`refuses ${what}, by the field and the override`, () => {
      const rendering = renderedFor({ overrides: [{ name: 'odd', ...override }] });
      assert.equal(rendering.kind, 'refused');
      assert.deepEqual(
        rendering.problems.map((problem) => problem.field),
        [field],
      );
      const isNamed = /override/.test(`${field}${rendering.problems[0].message}`);
      assert.ok(isNamed, JSON.stringify(rendering));
    });
  }
});

describe('policyInForce', () => {
  it('makes of an older policy the newest, and leaves what overrides say for their clusters', () => {
    const older = fleetOf({ strategy: { rollout: { soak: '5m' } } });
    const newest = fleetOf({ strategy: { rollout: { soak: '1h' } } });
    const edit = policyInForce(newest, older);
    assert.equal(edit('{"soak":"5m"}'), '{"soak":"1h"}');
    assert.equal(edit('{"soak":"7m"}'), '{"soak":"7m"}');
  });
});
