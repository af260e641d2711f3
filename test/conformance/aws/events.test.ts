/** The suite of event buses against our own and MiniStack. */
import { eventImplementations } from './event-implementations.ts';
import { describeEvents } from './run-event-suite.ts';

for (const implementation of eventImplementations) describeEvents(implementation);
