/**
 * What the published package offers to programs: an SQS server in one call. The repository imports files instead.
 */
export { createSystemClock } from '@rollcall/base/system/system-clock.ts';
export { createSystemRandom } from '@rollcall/base/system/system-random.ts';
export { startSqsServer } from './sqs/server/server.ts';
