/**
 * The bus that decisions of fleets are put on, as the environment of the function names it: none, where it names none.
 *
 * Of this function alone, so that no other bundle holds it. The bus is one of the stack's own account and region, whose right
 * infra/roles.yml gives.
 */
import { createEventBridgeBus } from '../../src/adapters/eventbridge/event-bus.ts';
import type { BusCredentials } from '../../src/adapters/eventbridge/event-bus.ts';
import { partitionOf } from '../../src/adapters/kubernetes/egress/aws-partitions.ts';
import type { BusOptions } from '../../src/app/fleet/audience/tell-bus.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** As whom, and by which clock. */
export interface BusIdentity {
  readonly credentials: () => Promise<BusCredentials>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** The bus; undefined: nobody is told. Throws when a region is not set: that is a broken deployment. */
export function eventBusOf(
  { credentials, clock }: BusIdentity,
  environment: Readonly<NodeJS.ProcessEnv> = process.env,
): BusOptions | undefined {
  const busName = environment['ROLLCALL_EVENT_BUS_NAME'] ?? '';
  if (busName === '') return undefined;
  const region = environment['AWS_REGION'] ?? '';
  const suffix = partitionOf(region)?.suffix;
  if (suffix === undefined) throw new Error('AWS_REGION names no region that is known');
  const endpoint =
    environment['AWS_ENDPOINT_URL_EVENTBRIDGE'] ??
    environment['AWS_ENDPOINT_URL'] ??
    `https://events.${region}.${suffix}`;
  return {
    bus: createEventBridgeBus({
      ...{ busName, region, endpoint, credentials },
      nowMs: () => clock.nowMs(),
    }),
    stackName: `rollcall-${environment['ROLLCALL_STAGE'] ?? 'unknown'}`,
  };
}
