/**
 * The bus that decisions of fleets are put on, as the environment of the function names it: none, where it names none.
 *
 * Of this function alone, so that no other bundle holds it. The bus is one of the stack's own account and region, whose right
 * infra/roles.yml gives.
 */
import { createEventBridgeBus } from '../../src/adapters/eventbridge/event-bus.ts';
import type { EventsCredentials } from '../../src/adapters/eventbridge/signed-request.ts';
import type { BusOptions } from '../../src/app/fleet/notify/fleet-notifier.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { eventsEndpoint } from '../events-endpoint.ts';

/** As whom, and by which clock. */
export interface BusIdentity {
  readonly credentials: () => Promise<EventsCredentials>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** The bus; undefined: no event is sent. Throws when a region is not set: that is a broken deployment. */
export function eventBusOf(
  { credentials, clock }: BusIdentity,
  environment: Readonly<NodeJS.ProcessEnv> = process.env,
): Omit<BusOptions, 'memory'> | undefined {
  const busName = environment['ROLLCALL_EVENT_BUS_NAME'] ?? '';
  if (busName === '') return undefined;
  const region = environment['AWS_REGION'] ?? '';
  const endpoint = eventsEndpoint(region, environment);
  return {
    bus: createEventBridgeBus({
      ...{ busName, region, endpoint, credentials },
      nowMs: () => clock.nowMs(),
    }),
    stackName: `rollcall-${environment['ROLLCALL_STAGE'] ?? 'unknown'}`,
  };
}
