/** Dead letters in memory keep the semantics of the port: the suite that DynamoDB passes, too (M4). */
import { describe } from 'node:test';
import { testDeadLetterStore, testFirstRefusals } from '../../support/dead-letter-suite.ts';
import { MemoryDeadLetterStore } from '../../support/memory-dead-letter-store.ts';
import { MemoryRegistryStore } from '../../support/memory-registry-store.ts';

describe('dead letters in memory', () => {
  const letters = new MemoryDeadLetterStore();
  testDeadLetterStore(() => ({
    letters,
    recordDeadLetter: (record) => letters.recordDeadLetter(record),
  }));

  const registry = new MemoryRegistryStore();
  testFirstRefusals(() => ({
    letters,
    recordDeadLetter: (record) => registry.recordDeadLetter(record),
  }));
});
