/** The brake and its release: what calls a stack's functions, turned and waited for (F3). */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../../scripts/lib/run-tool.ts';
import type { RuleControl } from '../../../../src/adapters/eventbridge/rule-control.ts';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';
import {
  MAPPED_FUNCTIONS,
  openSchedules,
  SCHEDULED_FUNCTIONS,
  turnTriggers,
  type KnownTrigger,
  type TriggerControl,
} from '../../../../src/cli/stack/triggers.ts';
import { VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';

/** Lambda as it is: a turned mapping is on its way for a while, and refuses to be turned meanwhile. */
class SlowLambda implements TriggerControl {
  readonly mappings: KnownTrigger[] = [];
  readonly turned: string[] = [];
  readonly #ready = new Map<string, { readonly state: string; atMs: number }>();
  readonly #clock: VirtualClock;
  readonly #takesMs: number;

  constructor(clock: VirtualClock, takesMs: number) {
    this.#clock = clock;
    this.#takesMs = takesMs;
  }

  list(functionName: string): Promise<readonly KnownTrigger[]> {
    const found = this.mappings.filter((mapping) => mapping.functionName === functionName);
    return Promise.resolve(
      found.map((mapping) => {
        const turn = this.#ready.get(mapping.id);
        if (turn === undefined) return mapping;
        const isThere = this.#clock.monotonicMs() >= turn.atMs;
        const way = turn.state === 'Enabled' ? 'Enabling' : 'Disabling';
        return { ...mapping, state: isThere ? turn.state : way };
      }),
    );
  }

  turn({ id }: KnownTrigger, state: 'Enabled' | 'Disabled'): Promise<void> {
    const turn = this.#ready.get(id);
    assert.ok((turn?.atMs ?? 0) <= this.#clock.monotonicMs(), 'Lambda: ResourceInUseException');
    this.#ready.set(id, { state, atMs: this.#clock.monotonicMs() + this.#takesMs });
    this.turned.push(`${id} ${state}`);
    return Promise.resolve();
  }

  close(): void {
    assert.fail('whoever opened it closes it');
  }
}

function mappingOf(name: string, state = 'Enabled'): KnownTrigger {
  const full = `rollcall-prod-${name}`;
  return { kind: 'queue', id: name, functionName: full, source: full, state };
}

async function drive<Result>(clock: VirtualClock, running: Promise<Result>): Promise<Result> {
  let isDone = false;
  const ended = running.finally(() => (isDone = true));
  ended.catch(() => undefined);
  while (!isDone) {
    await settle();
    if (!isDone) await clock.advance(500);
  }
  return ended;
}

describe('turnTriggers (F3)', () => {
  const stop = { stackName: 'rollcall-prod', functions: ['reconcile'], to: 'Disabled' } as const;
  const patience = (clock: VirtualClock, signal = new AbortController().signal) => ({
    clock,
    signal,
    say: () => undefined,
  });

  it('disables the mappings that it is told, once, and waits until they are', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 7000);
    lambda.mappings.push(mappingOf('reconcile'), mappingOf('ingest'));
    const done = await drive(clock, turnTriggers(lambda, stop, patience(clock)));
    assert.deepEqual(lambda.turned, ['reconcile Disabled']);
    assert.deepEqual(
      done.map(({ state }) => state),
      ['Disabled'],
    );
  });

  it('waits for a mapping that is on its way before it turns it', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 7000);
    lambda.mappings.push(mappingOf('reconcile'));
    const stopping = turnTriggers(lambda, stop, patience(clock));
    await settle();
    const going = turnTriggers(lambda, { ...stop, to: 'Enabled' }, patience(clock));
    await drive(
      clock,
      Promise.all([stopping, going]).catch(() => undefined),
    );
    assert.deepEqual(lambda.turned.slice(0, 2), ['reconcile Disabled', 'reconcile Enabled']);
  });

  it('turns nothing that is as it should be', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 0);
    lambda.mappings.push(mappingOf('reconcile', 'Disabled'));
    await drive(clock, turnTriggers(lambda, stop, patience(clock)));
    assert.deepEqual(lambda.turned, []);
  });

  it('stops whatever is called, though nothing calls one of them, and says so then', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 0);
    lambda.mappings.push(mappingOf('reconcile'));
    const both = { ...stop, functions: ['fleet', 'reconcile'] };
    await assert.rejects(drive(clock, turnTriggers(lambda, both, patience(clock))), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, /^rollcall-prod-fleet has .* no schedule: nothing calls it/);
      return true;
    });
    assert.deepEqual(lambda.turned, ['reconcile Disabled']);
  });

  it('says which function nothing calls, and gives up after five minutes', async () => {
    const clock = new VirtualClock();
    const lambda = new SlowLambda(clock, 3_600_000);
    await assert.rejects(turnTriggers(lambda, stop, patience(clock)), (error) => {
      assert.ok(error instanceof CommandError);
      assert.match(error.message, /rollcall-prod-reconcile has no event-source mapping/);
      return true;
    });
    lambda.mappings.push(mappingOf('reconcile'));
    await assert.rejects(drive(clock, turnTriggers(lambda, stop, patience(clock))), (error) => {
      assert.ok(error instanceof CommandError);
      assert.equal(error.exitCode, EXIT.timedOut);
      assert.match(error.message, /Not disabled yet: rollcall-prod-reconcile \(Disabling\)/);
      return true;
    });
    assert.ok(clock.monotonicMs() < 310_000);
  });
});

describe('what calls functions', () => {
  it('is known of every function that serverless.yml maps to a queue, or gives a schedule', () => {
    const { functions } = readService(path.join(repositoryRoot, 'serverless.yml'), 'local');
    const namesOf = (found: typeof functions) => found.map(({ name }) => name).toSorted();
    const mapped = functions.filter(({ queueMappings }) => queueMappings.length > 0);
    const scheduled = functions.filter(({ schedulePeriodsMs }) => schedulePeriodsMs.length > 0);
    assert.deepEqual(namesOf(mapped), [...MAPPED_FUNCTIONS].toSorted());
    assert.deepEqual(namesOf(scheduled), SCHEDULED_FUNCTIONS.toSorted());
  });

  it('is no schedule where a function has none, its rule is gone, or the stack names none', async () => {
    const rules: RuleControl = {
      read: (rule: string) => Promise.resolve(rule === 'fleet-rule' ? 'ENABLED' : 'missing'),
      turn: () => assert.fail('only looks'),
    };
    const outputs = { FleetScheduleName: 'fleet-rule', ResyncScheduleName: 'resync-rule' };
    const schedules = openSchedules(rules, 'rollcall-prod', outputs);
    assert.equal((await schedules.list('rollcall-prod-fleet'))[0]?.source, 'fleet-rule');
    for (const name of ['prod-reconcile', 'prod-resync', 'other-fleet']) {
      assert.deepEqual(await schedules.list(`rollcall-${name}`), []);
    }
    const former = openSchedules(rules, 'rollcall-prod', {});
    assert.deepEqual(await former.list('rollcall-prod-fleet'), []);
  });
});
