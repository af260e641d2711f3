// Conditions of a fleet: what each way of standing says, and that times move with the status alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  FLEET_CONDITION_TYPES,
  MESSAGE_CHARACTERS_MAX,
  boundedText,
  fleetConditions,
  type FleetCondition,
  type FleetConditionType,
  type FormerCondition,
} from '../../../../../src/core/fleet/told/fleet-conditions.ts';
import { timeText } from '../../../../../src/core/rollout/gate-words.ts';
import type { FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { AT_MS, BREACH, STANDINGS, standing } from '../../../../support/fleet-record-samples.ts';

function conditionsOf(
  record: FleetRecord,
  former: readonly FormerCondition[] = [],
): ReadonlyMap<FleetConditionType, FleetCondition> {
  const at = { former, observedGeneration: 4, nowMs: AT_MS };
  return new Map(fleetConditions(record, at).map((one) => [one.type, one]));
}

/** Types that are true, with their reasons. */
function trueOf(record: FleetRecord): Readonly<Record<string, string>> {
  const all = [...conditionsOf(record).values()].filter(({ status }) => status === 'True');
  return Object.fromEntries(all.map(({ type, reason }) => [type, reason]));
}

/** Of each sample the conditions that are true. */
const TABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  updating: { Progressing: 'RollingOut', Reconciling: 'RollingOut' },
  soaking: { Progressing: 'Soaking', Reconciling: 'Soaking' },
  next: { Progressing: 'OpeningStage', Reconciling: 'OpeningStage' },
  window: { Progressing: 'WaitingForWindow', Reconciling: 'WaitingForWindow' },
  approval: { Reconciling: 'AwaitingApproval' },
  frozen: { Paused: 'Frozen', Reconciling: 'Frozen' },
  'no-evidence': { Reconciling: 'NoEvidence' },
  refused: { Reconciling: 'ClusterRefuses' },
  invalid: { Degraded: 'Invalid', Stalled: 'Invalid' },
  paused: { Paused: 'Paused', Reconciling: 'Paused' },
  'paused while it rolls': {
    Paused: 'Paused',
    Progressing: 'RollingOut',
    Reconciling: 'RollingOut',
  },
  halted: { Degraded: 'ClustersFailed', Stalled: 'Halted' },
  'halted and paused': { Degraded: 'ClustersFailed', Paused: 'Paused', Stalled: 'Paused' },
  'rolling back': {
    Degraded: 'ClustersFailed',
    Progressing: 'RollingBack',
    Reconciling: 'RollingBack',
  },
  'rolled back': { Degraded: 'ClustersFailed', Stalled: 'RolledBack' },
  undone: { Stalled: 'Undone' },
  overruled: { Progressing: 'RollingOut', Reconciling: 'RollingOut' },
  done: { Ready: 'Completed', Succeeded: 'Completed' },
};

describe('fleetConditions', () => {
  it('has a row for each sample', () => {
    assert.deepEqual(Object.keys(TABLE).sort(), Object.keys(STANDINGS).sort());
  });

  for (const [name, expected] of Object.entries(TABLE)) {
    it(`says of a fleet that is ${name}: ${Object.keys(expected).join(', ')}`, () => {
      assert.deepEqual(trueOf(standing(name)), expected);
    });
  }

  it('gives every type once, whole, with the generation that it was made for', () => {
    for (const record of Object.values(STANDINGS)) {
      const all = fleetConditions(record, { former: [], observedGeneration: 4, nowMs: AT_MS });
      assert.deepEqual(
        all.map(({ type }) => type),
        [...FLEET_CONDITION_TYPES],
      );
      for (const { reason, message, observedGeneration, lastTransitionTime } of all) {
        assert.match(reason, /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
        assert.notEqual(message, '');
        assert.equal(observedGeneration, 4);
        assert.equal(lastTransitionTime, timeText(AT_MS));
      }
    }
  });

  it('moves lastTransitionTime with the status, and with nothing else', () => {
    const before = '2026-11-25T11:00:00Z';
    const former = [
      { type: 'Progressing', status: 'True', lastTransitionTime: before },
      { type: 'Degraded', status: 'True', lastTransitionTime: before },
    ];
    const now = conditionsOf(standing('soaking'), former);
    assert.equal(now.get('Progressing')?.lastTransitionTime, before, 'another reason, same status');
    assert.equal(now.get('Degraded')?.lastTransitionTime, timeText(AT_MS));
  });

  it('takes no time from a former condition that has none, nor that of the default status', () => {
    for (const lastTransitionTime of [
      'yesterday',
      '1970-01-01T00:00:00Z',
      '2026-99-99T00:00:00Z',
    ]) {
      const former = [{ type: 'Progressing', status: 'True', lastTransitionTime }];
      const now = conditionsOf(standing('updating'), former).get('Progressing');
      assert.equal(now?.lastTransitionTime, timeText(AT_MS));
    }
  });

  it('bounds what others wrote, in one line', () => {
    const message = `first\nsecond ${'x'.repeat(100_000)}`;
    const degraded = conditionsOf({ ...standing('halted'), breach: { ...BREACH, message } }).get(
      'Degraded',
    );
    assert.equal(degraded?.message.length, MESSAGE_CHARACTERS_MAX);
    assert.match(degraded.message, /^first second x+…$/);
  });

  it('names who paused it and who froze it', () => {
    assert.match(conditionsOf(standing('paused')).get('Paused')?.message ?? '', /by bob/);
    const frozen = conditionsOf(standing('frozen')).get('Paused')?.message;
    assert.match(frozen ?? '', /: frozen by eve: an incident$/);
  });
});

describe('boundedText', () => {
  it('never cuts a character in two', () => {
    assert.equal(boundedText('ab😀😀', 4), 'ab…');
    assert.equal(boundedText('ab', 2), 'ab');
  });
});
