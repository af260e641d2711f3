/**
 * `fleet`: the schedule that steps FleetDaemonSets (issue 18, docs/fleet.md).
 *
 * A turn looks which of them are due and makes a step for each. One that is late, twice or never costs time alone: who loses the record
 * of a fleet to another turn has sent nothing. It reads strongly consistent: what it concludes is sent to clusters.
 */
import type { ScheduledEvent } from 'aws-lambda';
import { defined } from '@rollcall/base/defined.ts';
import { createDynamoFleetMirrorStore } from '../../src/adapters/dynamodb/single-item-stores.ts';
import {
  createDynamoFleetRolloutStore,
  createDynamoFleetStore,
} from '../../src/adapters/dynamodb/fleet-stores.ts';
import { FLEET_REQUESTS } from '../../src/adapters/kubernetes/api/manifest-apply.ts';
import { createMirrorConnector } from '../../src/adapters/kubernetes/api/mirror-access.ts';
import { createFleetReader } from '../../src/adapters/policy/fleet/fleet-reader.ts';
import { createFleetNotifier } from '../../src/app/fleet/notify/fleet-notifier.ts';
import { stepFleets } from '../../src/app/fleet/step/step-fleets.ts';
import { reportedConnector } from '../../src/app/isolation/reported-access.ts';
import { composition } from '../composition.ts';
import { makeKmsSeal } from '../kms-seal.ts';
import { createHandler } from '../middleware.ts';
import { eventBusOf } from './event-bus.ts';

/** Kept back of an invocation: a request that is never answered, and what is recorded after it. */
const TURN_RESERVE_MS = 15_000;

/** Here and not in composition.ts: no other function reads FleetDaemonSets, so no other bundle holds what they need. */
const reader = createFleetReader();

/** The Lambda handler of the schedule. */
export const handler = createHandler<ScheduledEvent, void>({
  name: 'fleet',
  makeSeal: makeKmsSeal,
  connects: 'act',
  fleetRequests: FLEET_REQUESTS,
  handle: async (_event, context) => {
    const { log, metrics, remainingMs } = context;
    const composed = composition(context);
    const { registry, registryTable, freezes, view, connector, clock, random } = composed;
    const bus = eventBusOf({ credentials: composed.awsCredentials, clock });
    const memory = composed.mirrorMemory;
    const process = { clock, random, log, metrics };
    const mirror = {
      mirrors: createDynamoFleetMirrorStore(registryTable),
      ...{ registry, memory },
      connector: createMirrorConnector(connector),
    };
    await stepFleets(
      { deadlineMs: clock.monotonicMs() + remainingMs() - TURN_RESERVE_MS },
      {
        ...process,
        fleets: createDynamoFleetStore(registryTable),
        rollouts: createDynamoFleetRolloutStore(registryTable),
        registry,
        freezes,
        reader,
        view,
        connector: reportedConnector(connector, { log, metrics }),
        notifier: createFleetNotifier({
          ...{ process, mirror, logItems: { view, memory } },
          ...defined({ bus: bus && { ...bus, memory } }),
        }),
      },
    );
  },
});
