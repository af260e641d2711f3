/** The doctor on the policy of start-up taints: it names the registered taint, or the registered condition. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import type { Json } from '@rollcall/base/json.ts';
import { isForStartUp } from '../../../../src/cli/checks/read-cluster.ts';
import type { StartUp } from '../../../../src/core/model/registration.ts';
import { registrationOf } from '../../../support/store-suite.ts';

/** The policy as it is shipped. */
function shipped(folder: string): Json {
  const [policy = ''] = readFileSync(`infra/${folder}/admission.yaml`, 'utf8').split('\n---\n');
  return parse(policy) as Json; // YAML of this repository
}

const TAINT = { key: 'rollcall.dev/agents-not-ready', effect: 'NoSchedule' } as const;

function fits(folder: string, startUp: Partial<StartUp>): boolean {
  const whole = { taint: TAINT, counts: 'labelled', waitBoundMs: 1, ...startUp } as const;
  return isForStartUp(shipped(folder), { ...registrationOf('c1'), startUp: whole });
}

describe('the admission policy of start-up taints', () => {
  it('is for the registered taint by key and effect, whatever the value', () => {
    assert.equal(fits('start-up', {}), true);
    assert.equal(fits('start-up', { taint: { ...TAINT, value: 'x' } }), true);
    assert.equal(fits('start-up', { taint: { ...TAINT, effect: 'NoExecute' } }), false);
    assert.equal(fits('start-up', { taint: { ...TAINT, key: 'example.com/other' } }), false);
  });

  it('is for the registered condition, whatever the taint', () => {
    const taint = { ...TAINT, key: 'readiness.k8s.io/agents' };
    assert.equal(
      fits('start-up-condition', { taint, condition: 'rollcall.dev/AgentsReady' }),
      true,
    );
    assert.equal(fits('start-up-condition', { taint, condition: 'example.com/Other' }), false);
    assert.equal(fits('start-up-condition', { taint }), false);
  });
});
