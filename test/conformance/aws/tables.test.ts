/** The table suite against our own tables, DynamoDB Local and MiniStack. */
import { tableImplementations } from './implementations.ts';
import { describeTables } from './run-suites.ts';

for (const implementation of tableImplementations) describeTables(implementation);
