/** The in-memory stores keep the semantics of the ports: the suite that DynamoDB passes, too (M4). */
import { describe } from 'node:test';
import { testCredentialStore } from '../../support/credential-store-suite.ts';
import { MemoryCredentialStore } from '../../support/memory-credential-store.ts';
import { testFleetRolloutStore } from '../../support/fleet-rollout-store-suite.ts';
import { testFleetMirrorStore } from '../../support/fleet-mirror-store-suite.ts';
import { testFreezeNotes, testFreezeStore } from '../../support/freeze-store-suite.ts';
import { MemoryFreezeStore } from '../../support/memory-freeze-store.ts';
import { testFleetStore } from '../../support/fleet-store-suite.ts';
import { MemoryFleetRolloutStore } from '../../support/memory-fleet-rollout-store.ts';
import { MemoryFleetStore } from '../../support/memory-fleet-store.ts';
import { MemoryFleetMirrorStore } from '../../support/memory-mirrors.ts';
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

describe('sealed tokens in memory (M4)', () => {
  const store = new MemoryCredentialStore();
  testCredentialStore(() => store);
});

describe('FleetDaemonSets in memory (M4)', () => {
  const store = new MemoryFleetStore();
  testFleetStore(() => store);
});

describe('rollouts of FleetDaemonSets in memory (M4)', () => {
  const store = new MemoryFleetRolloutStore();
  testFleetRolloutStore(() => store);
});

describe('where fleets are mirrored, in memory (M4)', () => {
  const store = new MemoryFleetMirrorStore();
  testFleetMirrorStore(() => store);
});

describe('the freeze of the stack in memory (M4)', () => {
  const store = new MemoryFreezeStore();
  testFreezeStore(() => store);
});
