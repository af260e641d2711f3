/** The conformance suites against what the local engine runs, on every `npm test`: this needs nothing but npm. */
import { ownQueues, ownTables } from '../../conformance/aws/implementations.ts';
import { describeQueues, describeTables } from '../../conformance/aws/run-suites.ts';

describeQueues(ownQueues);
describeTables(ownTables);
