/** The queue suite against our own server, ElasticMQ and MiniStack. */
import { queueImplementations } from './implementations.ts';
import { describeQueues } from './run-suites.ts';

for (const implementation of queueImplementations) describeQueues(implementation);
