/**
 * A registry that cannot be read counts as frozen (protocol 13): an item that is no registration, and a table that
 * refuses. Nothing is created or deleted while that lasts, the log says why, and it goes on afterwards.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { edit, nodesAt, waitFor, waitUntilStill } from '../rollouts/rolled.ts';
import { addNode, expectPodsOn, expectRolled, openFleet, withoutPodChange } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { openTables, type Backup, type OperatorTables } from './tables.ts';

const CLUSTER = 'conformance';
const NODES = 20;
/** Longer than a pod takes to become ready. */
const UNDER_WAY_MS = 6_000;
const WARM_MS = 3_000;
const SAID_MS = 120_000;

const skip = skipWithoutTools([TOOLS.go]);

describe('a registry that cannot be read', { timeout: 1_700_000, skip }, () => {
  let fleet: Fleet;
  let tables: OperatorTables;
  let backup: Backup;

  before(async () => {
    fleet = await openFleet('registry-unreadable', { nodes: NODES, daemonSets: 3 });
    tables = openTables(fleet.stage.engine().aws);
    backup = await tables.copy('RegistryTable');
  });
  after(async () => {
    (tables as OperatorTables | undefined)?.close();
    await (fleet as Fleet | undefined)?.stage.close();
  });

  it('protocol 13: an item that is no registration stops creates, and they follow when it is one again', async () => {
    const fromLine = fleet.stage.activity.lines.length;
    await withoutPodChange(fleet, async () => {
      await tables.spoilRegistration(CLUSTER);
      await forgetWarmRegistration();
      await addNode(fleet, 'node-while-spoilt');
      await expectSaid(fleet, fromLine);
    });
    await tables.restore('RegistryTable', backup);
    await expectPodsOn(fleet, 'node-while-spoilt');
  });

  it('protocol 13: a table that refuses stops a rollout half-way, and it ends when the table is back', async () => {
    const [set] = fleet.sets;
    assert.ok(set !== undefined);
    const fromLine = fleet.stage.activity.lines.length;
    // Five batches of pods: long enough that a part is left when the table has gone.
    await edit(fleet.stage, set, { version: 'b', readyDelayMs: 3_000 });
    await waitFor(fleet.stage, (observer) => nodesAt(observer, set, 'b').length >= 4, {
      description: 'a part of the nodes at b',
    });
    await tables.drop('RegistryTable');
    await expectSaid(fleet, fromLine);
    // A batch that was on its way, and what its pods take to come and go.
    await waitUntilStill(fleet.stage, UNDER_WAY_MS);
    await withoutPodChange(fleet, () => Promise.resolve());
    const atB = nodesAt(fleet.stage.observer, set, 'b').length;
    assert.ok(atB < NODES, 'it was stopped half-way');
    await tables.make('RegistryTable');
    await tables.restore('RegistryTable', backup);
    await expectRolled(fleet, set, { version: 'b', nodes: NODES + 1 });
    assert.deepEqual(fleet.stage.observer.violations, []);
  });
});

/** What was read a moment ago may be believed for a moment (ingest's options). */
async function forgetWarmRegistration(): Promise<void> {
  await delay(WARM_MS);
}

/** Waits until it has been tried, and said why nothing was done. */
async function expectSaid(fleet: Fleet, fromLine: number): Promise<void> {
  const options = { deadlineMs: SAID_MS, description: 'a line on the registry' };
  try {
    await pollUntil(options, () => (saysSo(fleet, fromLine) ? true : undefined));
  } catch (cause) {
    throw new Error(fleet.stage.activity.tail(20), { cause });
  }
}

function saysSo({ stage }: Fleet, fromLine: number): boolean {
  return stage.activity.lines
    .slice(fromLine)
    .some(
      ({ level, message, fields }) =>
        (level === 'warn' || level === 'error') &&
        `${message} ${JSON.stringify(fields)}`.includes('registry'),
    );
}
