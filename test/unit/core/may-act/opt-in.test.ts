/** Which DaemonSets of a copilot cluster Rollcall has a part in, and what the others are told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { copilotGuard, copilotStanding } from '../../../../src/core/may-act/opt-in.ts';
import { POLICY_ANNOTATION } from '../../../../src/core/policy/rollout-policy.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';

const set = (type: string | undefined, policy?: string): DaemonSetObject =>
  daemonSet({
    spec: type === undefined ? {} : { updateStrategy: { type } },
    metadata: policy === undefined ? {} : { annotations: { [POLICY_ANNOTATION]: policy } },
  });

describe('the standing of a DaemonSet in copilot', () => {
  for (const [title, given, standing] of [
    ['follows OnDelete with the annotation', set('OnDelete', 'soak: 1m'), 'followed'],
    [
      'follows one whose policy is empty or unreadable: it is held',
      set('OnDelete', ''),
      'followed',
    ],
    ['only observes without the annotation', set('OnDelete'), 'not-opted-in'],
    ['only observes RollingUpdate', set('RollingUpdate', 'soak: 1m'), 'rolling-update'],
    ['only observes the default strategy', set(undefined, 'soak: 1m'), 'rolling-update'],
    ['says first that nobody opted in', set('RollingUpdate'), 'not-opted-in'],
  ] as const) {
    it(title, () => {
      assert.equal(copilotStanding(given), standing);
    });
  }

  it('is the code of a guard that changes nothing, with what would be right', () => {
    assert.equal(copilotGuard(set('OnDelete', 'x')), undefined);
    const rolling = copilotGuard(set('RollingUpdate', 'x'));
    assert.equal(rolling?.kind, 'observe');
    assert.equal(rolling.code, 'rolling-update');
    assert.match(rolling.message, /set updateStrategy\.type to OnDelete/);
    assert.match(copilotGuard(set('OnDelete'))?.message ?? '', /rollcall\.dev\/rollout/);
  });
});
