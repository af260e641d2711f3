/** design 3: steps say how a run ends; one place arranges it. */
import { describe, it } from 'node:test';
import type { EndContext, RunContext } from '../../../../../src/app/reconcile/run/context.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

import assert from 'node:assert/strict';

/** True only of a type that has this member: the compiler refuses the literal below otherwise. */
type Has<T, K extends PropertyKey> = K extends keyof T ? true : false;
type Ports<C extends RunContext> = {
  readonly timers: Has<C['dependencies']['queue'], 'sendTimers'>;
  readonly state: Has<C['dependencies']['view'], 'writeState'>;
};

describe('the end of a run', () => {
  it('is arranged in one place: no step has a port that sends timers or writes the state', () => {
    const ofSteps: Ports<RunContext> = { timers: false, state: false };
    const ofTheEnd: Ports<EndContext> = { timers: true, state: true };
    assert.notDeepEqual(ofSteps, ofTheEnd);
  });

  it('sends its timer before it records that one was sent (protocol 12)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const order: string[] = [];
    const { dependencies } = world;
    const queue: typeof dependencies.queue = {
      sendHints: (...sent) => dependencies.queue.sendHints(...sent),
      sendTimers: (timers) => {
        order.push('timer');
        return dependencies.queue.sendTimers(timers);
      },
    };
    world.view.hooks = {
      before: ({ operation }) => {
        if (operation === 'writeState') order.push('state');
      },
    };
    await world.mirror.sync();
    await world.run({ queue });
    assert.deepEqual(order, ['state', 'timer', 'state'], 'intents, then a timer, then outcomes');
  });
});
