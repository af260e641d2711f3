/**
 * The event-source mappings of a stack's functions: what takes messages out of the queues and calls a function.
 *
 * Disabling them is the brake (docs/operations.md): messages stay in their queues, not received and not counted. Taking
 * a function's concurrency away is none: its mappings go on receiving, every throttle counts as a receive, and what was
 * received too often ends in the dead letters. A deployment leaves a disabled mapping disabled, unless it changes it.
 */
import {
  LambdaClient,
  paginateListEventSourceMappings,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import type { AwsClientConfig } from '../reach/stack.ts';
import type { KnownTrigger, TriggerControl } from './triggers.ts';

/** Functions that are called by mappings; serverless.yml declares them, and a test compares. */
export const MAPPED_FUNCTIONS = [
  'ingest',
  'reconcile',
  'requeue',
  'credential',
  'dead-letter',
] as const;

/** Lambda, as whoever runs the command. */
export function openMappings(config: AwsClientConfig): TriggerControl {
  const client = createAwsClient(LambdaClient, CALL_LIMITS.command, { ...config });
  return {
    list: async (functionName) => {
      const found: KnownTrigger[] = [];
      const pages = paginateListEventSourceMappings({ client }, { FunctionName: functionName });
      for await (const { EventSourceMappings: mappings = [] } of pages) {
        for (const { UUID: id = '', EventSourceArn: arn = '', State: state = '' } of mappings) {
          const source = arn.split(':').at(-1) ?? '';
          found.push({ kind: 'queue', id, functionName, source, state });
        }
      }
      return found;
    },
    turn: async ({ id }, to) => {
      await client.send(
        new UpdateEventSourceMappingCommand({ UUID: id, Enabled: to === 'Enabled' }),
      );
    },
    close: () => {
      client.destroy();
    },
  };
}
