/** The suites of queues, tables and event buses against the servers of others; our own pass them in `npm test`. */
import { eventReferences } from './event-implementations.ts';
import { queueReferences, tableReferences } from './implementations.ts';
import { describeEvents } from './run-event-suite.ts';
import { describeQueues, describeTables } from './run-suites.ts';

for (const reference of queueReferences) describeQueues(reference);
for (const reference of tableReferences) describeTables(reference);
for (const reference of eventReferences) describeEvents(reference);
