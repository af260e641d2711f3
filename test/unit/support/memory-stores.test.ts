/** The in-memory stores keep the semantics of the ports: the suite that DynamoDB passes, too (M4). */
import { describe } from 'node:test';
import { testFleetRolloutStore } from '../../support/fleet-rollout-store-suite.ts';
import { testFreezeNotes, testFreezeStore } from '../../support/freeze-store-suite.ts';
import { MemoryFreezeStore } from '../../support/memory-freeze-store.ts';
import { MemoryFleetRolloutStore } from '../../support/memory-fleet-rollout-store.ts';
import { MemoryRegistryStore } from '../../support/memory-registry-store.ts';
import { MemoryViewStore } from '../../support/memory-view-store.ts';
import { testRegistryStore, testViewStore } from '../../support/store-suite.ts';
import { testSliceStore } from '../../support/slice-store-suite.ts';

describe('the view store in memory (M4, row 62)', () => {
  const store = new MemoryViewStore();
  testViewStore(() => store);
  testSliceStore(() => store);
});

describe('the registry in memory (M4, row 62)', () => {
  const store = new MemoryRegistryStore();
  testRegistryStore(() => store);
  testFreezeNotes(() => store);
});

describe('rollouts of FleetDaemonSets in memory (M4)', () => {
  const store = new MemoryFleetRolloutStore();
  testFleetRolloutStore(() => store);
});

describe('the freeze of the stack in memory (M4)', () => {
  const store = new MemoryFreezeStore();
  testFreezeStore(() => store);
});
