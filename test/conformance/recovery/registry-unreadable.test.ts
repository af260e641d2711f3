/**
 * A registry that cannot be read counts as frozen (protocol 13): an item that is no registration, and a table that
 * refuses. Nothing is created or deleted while that lasts, the log says why, and it goes on afterwards.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { edit, nodesAt, waitFor } from '../rollouts/rolled.ts';
import { addNode, expectPodsOn, expectRolled, openFleet, withoutPodChange } from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { openTables } from './tables.ts';
import type { Backup, OperatorTables } from './tables.ts';

const CLUSTER = 'conformance';
const NODES = 20;
/** A batch that was on its way, and what its pods take to come and go. */
const UNDER_WAY_MS = 3_000;

const skip = skipWithoutTools([TOOLS.go]);

describe('a registry that cannot be read', { timeout: 600_000, skip }, () => {
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
    });
    assert.ok(saysSo(fleet, fromLine), fleet.stage.activity.tail(20));
    await tables.restore('RegistryTable', backup);
    await expectPodsOn(fleet, 'node-while-spoilt');
  });

  it('protocol 13: a table that refuses stops a rollout half-way, and it ends when the table is back', async () => {
    const [set] = fleet.sets;
    assert.ok(set !== undefined);
    const fromLine = fleet.stage.activity.lines.length;
    await edit(fleet.stage, set, { version: 'b', readyDelayMs: 500 });
    await waitFor(fleet.stage, (observer) => nodesAt(observer, set, 'b').length >= 4, {
      description: 'a part of the nodes at b',
    });
    await tables.drop('RegistryTable');
    await delay(UNDER_WAY_MS);
    await withoutPodChange(fleet, () => Promise.resolve());
    const atB = nodesAt(fleet.stage.observer, set, 'b').length;
    assert.ok(atB < NODES, 'it was stopped half-way');
    assert.ok(saysSo(fleet, fromLine), fleet.stage.activity.tail(20));
    await tables.make('RegistryTable');
    await tables.restore('RegistryTable', backup);
    await expectRolled(fleet, set, { version: 'b', nodes: NODES + 1 });
    assert.deepEqual(fleet.stage.observer.violations, []);
  });
});

/** What was read a moment ago may be believed for a moment (ingest's options). */
async function forgetWarmRegistration(): Promise<void> {
  await delay(UNDER_WAY_MS);
}

/** A warning or an error names the registry. */
function saysSo({ stage }: Fleet, fromLine: number): boolean {
  return stage.activity.lines
    .slice(fromLine)
    .some(
      ({ level, message, fields }) =>
        (level === 'warn' || level === 'error') &&
        `${message} ${JSON.stringify(fields)}`.includes('registry'),
    );
}
