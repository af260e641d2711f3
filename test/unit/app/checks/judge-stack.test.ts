/** What `rollcall stack check` finds (F2, F3, F4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONCURRENCY_NEEDED } from '../../../../src/app/checks/judge-stack.ts';
import { checked, unchecked, type Needs } from '../../../../src/app/checks/needs.ts';
import { presentCheck } from '../../../../src/cli/stack/check-stack.ts';

interface Account extends Pick<Needs, 'concurrency' | 'freeze' | 'standing'> {
  readonly isDeployed: boolean;
  readonly registry: Needs['registryTable'];
  readonly stopped: readonly string[];
  readonly stoppedSchedules: readonly string[];
}

interface Found {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

function check(change: Partial<Account>): readonly Found[] {
  const { isDeployed = true, registry = 'protected', freeze, standing } = change;
  const { concurrency = { total: 1000, unreserved: 900 } } = change;
  const { stopped: queues = [], stoppedSchedules: schedules = [] } = change;
  const none = unchecked('there is no registry');
  const { document, exitCode } = presentCheck({
    nowMs: 1_000_000,
    stack: checked({ name: 'rollcall-prod', isDeployed }),
    concurrency: checked(concurrency),
    registryTable: checked(registry),
    switchedOff: checked({ queues, schedules }),
    freeze: freeze === undefined ? none : checked(freeze),
    standing: standing === undefined ? none : checked(standing),
  });
  const findings = document['findings'] as readonly Found[];
  assert.equal(exitCode, findings.length === 0 ? 0 : 1);
  return findings;
}

const codesOf = (change: Partial<Account>): readonly string[] =>
  check(change).map(({ code }) => code);

describe('stack check', () => {
  it('finds nothing in a stack that is well, nor before a first deployment in a new stage', () => {
    assert.deepEqual(codesOf({}), []);
    assert.deepEqual(codesOf({ isDeployed: false, registry: 'missing' }), []);
  });

  it('warns of the quota of a new account, and of places that others reserved (F4)', () => {
    assert.deepEqual(codesOf({ concurrency: { total: 10, unreserved: 10 } }), [
      'concurrency-quota',
    ]);
    const reserved = { total: 1000, unreserved: CONCURRENCY_NEEDED - 1 };
    assert.deepEqual(codesOf({ concurrency: reserved }), ['concurrency-reserved']);
    const enough = { total: CONCURRENCY_NEEDED, unreserved: CONCURRENCY_NEEDED };
    assert.deepEqual(codesOf({ concurrency: enough }), []);
  });

  it('tells a registry that is in the way, one that is gone, and one that is not protected (F2)', () => {
    assert.deepEqual(codesOf({ isDeployed: false }), ['registry-left']);
    assert.deepEqual(codesOf({ isDeployed: false, registry: 'unprotected' }), ['registry-left']);
    assert.deepEqual(codesOf({ registry: 'missing' }), ['registry-missing']);
    assert.deepEqual(codesOf({ registry: 'unprotected' }), ['registry-unprotected']);
  });

  it('tells what is frozen, by whom and why, and a freeze that nobody can read (issue 18)', () => {
    const note = { by: 'ann', why: 'bad kernel', atMs: 1 };
    assert.deepEqual(codesOf({ freeze: { version: 3, daemonSets: {} } }), []);
    const freeze = { version: 4, all: note, daemonSets: { 'ns/agent': note } };
    const [stack, set] = check({ freeze });
    assert.match(stack?.message ?? '', /whole stack is frozen by ann \(bad kernel\)/);
    assert.match(stack?.remedy ?? '', /rollcall thaw --yes/);
    assert.match(set?.remedy ?? '', /rollcall thaw --daemon-set ns\/agent/);
    assert.deepEqual(codesOf({ freeze: 'unreadable' }), ['freeze-unreadable']);
  });

  it('tells what was stopped (F3)', () => {
    const [finding] = check({ stopped: ['rollcall-prod-reconcile.fifo'] });
    assert.equal(finding?.code, 'stopped');
    assert.match(finding.message, /rollcall-prod-reconcile\.fifo/);
    assert.match(finding.remedy, /rollcall stack resume/);
    const [schedule] = check({ stoppedSchedules: ['fleet'] });
    assert.equal(schedule?.code, 'stopped');
    assert.match(schedule.message, /schedule of fleet is off/);
  });

  it('tells who stopped it and why, and that resync makes no turns though nothing is switched off', () => {
    const stop = { by: 'ann', why: 'INC-1', atMs: 0, functions: ['reconcile'] };
    const [stopped] = check({ stopped: ['q'], standing: { stop } });
    assert.match(stopped?.message ?? '', /^stopped since .* by ann \(INC-1\).*from q;/);
    const [unsaid] = check({ standing: { stop } });
    assert.match(unsaid?.message ?? '', /Yet everything is called/);
    assert.deepEqual(codesOf({ standing: { walkedAtMs: 0 } }), ['functions-behind']);
    const off = { standing: { walkedAtMs: 0 }, stoppedSchedules: ['resync'] };
    assert.deepEqual(codesOf(off), ['stopped']);
  });

  it('says what to do about everything', () => {
    const all = [
      { concurrency: { total: 10, unreserved: 10 }, stopped: ['q'], registry: 'missing' as const },
      { isDeployed: false },
    ];
    for (const { message, remedy } of all.flatMap((change) => check(change))) {
      assert.ok(message.length > 20 && remedy.length > 20);
    }
  });
});
