/**
 * An operator of a world, with the orders that `rollcall rollout` gives (app/rollout); what fails has perhaps changed nothing.
 */
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { giveOrder } from '../../../src/app/rollout/give-order.ts';
import { CLUSTER } from './registration.ts';
import type { MemoryFreezeStore } from '../memory-freeze-store.ts';
import type { MemoryRegistryStore } from '../memory-registry-store.ts';
import type { MemoryViewStore } from '../memory-view-store.ts';
import type { ProcessClock } from './process-clock.ts';
import type { SimulatedQueues } from './queues.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { noHolder } from '../rollout-stores.ts';

const policies = createPolicyReader();

interface Workplace {
  readonly registry: MemoryRegistryStore;
  readonly freezes: MemoryFreezeStore;
  readonly view: MemoryViewStore;
  readonly random: Random;
  readonly functionClock: ProcessClock;
  readonly queues: SimulatedQueues;
  readonly note: (text: string) => void;
}

/** Gives an order to one DaemonSet of the world; true: it stands. Not to be awaited by whoever moves the clock. */
export async function order(
  world: Workplace,
  name: string,
  kind: 'pause' | 'resume' | 'approve' | 'undo',
): Promise<boolean> {
  const { registry, freezes, view, random, functionClock: clock, queues } = world;
  const asks = {
    pause: { kind: 'pause' },
    resume: { kind: 'resume', overrules: 'somebody looked' },
    approve: { kind: 'approve' },
    undo: { kind: 'undo' },
  } as const;
  const ask = asks[kind];
  try {
    const outcome = await giveOrder(
      { key: { cluster: CLUSTER, namespace: 'ns', name }, by: 'ann', ask },
      {
        ...{ registry, freezes, view, policies, clock, random, holderOf: noHolder },
        hints: queues.hintQueue(clock),
      },
    );
    world.note(`order ${kind} ${name}: ${outcome.kind}`);
    return outcome.kind !== 'refused';
  } catch (error) {
    world.note(`order ${kind} ${name}: ${String(error)}`);
    return false;
  }
}
