// What a cluster is never given.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fleetRenderer, type Rendering } from '../../../../../src/core/fleet/render-fleet.ts';
import { whyNotGiven } from '../../../../../src/core/fleet/rollout/may-give.ts';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import { fleetOf } from '../../../../support/fleet-samples.ts';

function render(type?: string): Rendering {
  const strategicMerge = type === undefined ? {} : { spec: { updateStrategy: { type } } };
  const fleet = fleetOf({ overrides: [{ name: 'strategy', strategicMerge }] });
  return fleetRenderer(fleet)({ id: clusterId('c'), labels: {} });
}

describe('whyNotGiven', () => {
  it('keeps RollingUpdate from copilot clusters, where the built-in controller would roll it unstaged', () => {
    assert.equal(whyNotGiven(render(), 'copilot')?.cause, 'PolicyNotFollowed');
    assert.equal(whyNotGiven(render('RollingUpdate'), 'copilot')?.cause, 'PolicyNotFollowed');
    assert.equal(whyNotGiven(render('OnDelete'), 'copilot'), undefined);
    assert.equal(whyNotGiven(render('RollingUpdate'), 'takeover'), undefined);
  });

  it('tells what renders to nothing by its field', () => {
    const problems = [{ field: 'spec.overrides[0]', message: 'leaves no DaemonSet' }] as const;
    assert.deepEqual(whyNotGiven({ kind: 'refused', problems }, 'takeover'), {
      cause: 'Refused',
      message: 'spec.overrides[0]: leaves no DaemonSet',
    });
  });
});
