/** Schedules of a stack's functions: rules that its outputs name, read and switched (issue 18). */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../../scripts/lib/run-tool.ts';
import type { RuleControl, RuleState } from '../../../../src/adapters/eventbridge/rule-control.ts';
import { openSchedules, SCHEDULED_FUNCTIONS } from '../../../../src/cli/stack/triggers.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';

class Rules implements RuleControl {
  readonly states = new Map<string, RuleState>([['fleet-rule', 'ENABLED']]);

  read(rule: string): Promise<RuleState> {
    return Promise.resolve(this.states.get(rule) ?? 'missing');
  }

  turn(rule: string, to: 'on' | 'off'): Promise<void> {
    this.states.set(rule, to === 'on' ? 'ENABLED' : 'DISABLED');
    return Promise.resolve();
  }
}

const OUTPUTS = { FleetScheduleName: 'fleet-rule', ResyncScheduleName: 'resync-rule' };

describe('openSchedules', () => {
  it('switches the rule that the outputs name, and reads it back', async () => {
    const rules = new Rules();
    const schedules = openSchedules(rules, 'rollcall-prod', OUTPUTS);
    const [on] = await schedules.list('rollcall-prod-fleet');
    assert.ok(on);
    assert.deepEqual([on.kind, on.source, on.state], ['schedule', 'fleet-rule', 'Enabled']);
    await schedules.turn(on, 'Disabled');
    assert.equal(rules.states.get('fleet-rule'), 'DISABLED');
    assert.equal((await schedules.list('rollcall-prod-fleet'))[0]?.state, 'Disabled');
    await schedules.turn(on, 'Enabled');
    assert.equal(rules.states.get('fleet-rule'), 'ENABLED');
  });

  it('finds nothing for a function without a schedule, a rule that is gone, a stack that names none', async () => {
    const schedules = openSchedules(new Rules(), 'rollcall-prod', OUTPUTS);
    assert.deepEqual(await schedules.list('rollcall-prod-reconcile'), []);
    assert.deepEqual(await schedules.list('rollcall-prod-resync'), []);
    assert.deepEqual(await schedules.list('rollcall-other-fleet'), []);
    const former = openSchedules(new Rules(), 'rollcall-prod', {});
    assert.deepEqual(await former.list('rollcall-prod-fleet'), []);
  });

  it('knows every function that serverless.yml gives a schedule', () => {
    const service = readService(path.join(repositoryRoot, 'serverless.yml'), 'local');
    const scheduled = service.functions
      .filter(({ schedulePeriodsMs }) => schedulePeriodsMs.length > 0)
      .map(({ name }) => name);
    assert.deepEqual(scheduled.toSorted(), SCHEDULED_FUNCTIONS.toSorted());
  });
});
