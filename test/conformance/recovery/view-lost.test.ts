/**
 * The view table is lost while a thousand pods run: everything in it comes back with one snapshot, and no
 * pod is restarted for it. Pods are compared by UID, as an independent witness sees them.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { edit, podUids, waitFor } from '../rollouts/rolled.ts';
import {
  addNode,
  expectRolled,
  expectStatuses,
  expectView,
  openFleet,
  podsOf,
  withoutPodChange,
} from './fleet.ts';
import type { Fleet } from './fleet.ts';
import { openTables, type OperatorTables } from './tables.ts';

const NODES = 100;
const DEADLINE_MS = 480_000;

const skip = skipWithoutTools([TOOLS.go]);

describe(
  'the view table is deleted while a thousand pods run',
  { timeout: 1_700_000, skip },
  () => {
    let fleet: Fleet;
    let tables: OperatorTables;

    before(async () => {
      fleet = await openFleet('view-lost', { nodes: NODES, daemonSets: 10 });
      tables = openTables(fleet.stage.engine().aws);
    });
    after(async () => {
      (tables as OperatorTables | undefined)?.close();
      await (fleet as Fleet | undefined)?.stage.close();
    });

    it('row 34: without it nothing is created or deleted, whatever is to be done', async () => {
      await withoutPodChange(fleet, async () => {
        await tables.drop('ViewTable');
        await addNode(fleet, 'late-node');
        const [first] = fleet.sets;
        assert.ok(first !== undefined);
        await edit(fleet.stage, first, { version: 'b' });
      });
    });

    it('row 34: after one snapshot all is as before, and what was to be done is done', async (context) => {
      const former = podsOf(fleet);
      const fromEvent = fleet.stage.observer.events.length;
      const startedMs = performance.now();
      await tables.make('ViewTable');
      await expectView(fleet, true);
      context.diagnostic(
        `the view was whole ${((performance.now() - startedMs) / 1000).toFixed(1)} s after the table was there again`,
      );
      const [edited, ...others] = fleet.sets;
      assert.ok(edited !== undefined);
      await expectRolled(fleet, edited, { version: 'b', nodes: NODES + 1 });
      await waitFor(
        fleet.stage,
        () => others.every((set) => podUids(fleet.stage, set).has('late-node')),
        { description: 'the late node has its pods', deadlineMs: DEADLINE_MS },
      );
      await expectStatuses(fleet, NODES + 1);
      const now = podsOf(fleet);
      for (const { name } of others) {
        const kept = new Map(now.get(name));
        kept.delete('late-node');
        assert.deepEqual(kept, former.get(name), `${name} kept every pod`);
      }
      const deleted = fleet.stage.observer.events
        .slice(fromEvent)
        .filter(({ type, record }) => type === 'DELETED' && record.kind === 'Pod')
        .map(({ record }) => record.uid);
      assert.deepEqual(deleted.sort(), [...(former.get(edited.name) ?? new Map()).values()].sort());
      assert.deepEqual(fleet.stage.observer.violations, []);
    });
  },
);
