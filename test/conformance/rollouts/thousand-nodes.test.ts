/**
 * A thousand nodes rolled at 10 % on a real control plane: availability by an independent witness.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { openStage } from '../scenarios/stage.ts';
import type { Stage } from '../scenarios/stage.ts';
import {
  assertWithinBudget,
  createRolled,
  edit,
  expectVersion,
  podUids,
  reportSince,
  rollingUpdate,
} from './rolled.ts';
import type { Rolled } from './rolled.ts';

const NODES_COUNT = 1000;
const MAX_UNAVAILABLE = 100;
const DEADLINE_MS = 240_000;

const skip = skipWithoutTools([TOOLS.go]);

describe('a thousand nodes rolled at 10 %', { timeout: 900_000, skip }, () => {
  let stage: Stage;
  let rolled: Rolled;

  before(async () => {
    await ensureBinaries();
    const nodes = plainNodes(NODES_COUNT);
    stage = await openStage({ backend: 'real', name: 'rollout-thousand', nodes });
    rolled = await createRolled(stage, {
      name: 'agent',
      nodes: nodes.map(({ metadata }) => metadata.name),
      strategy: rollingUpdate({ maxUnavailable: '10%' }),
      deadlineMs: DEADLINE_MS,
    });
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('keep 900 of them available at every moment, and replace each pod exactly once', async (context) => {
    const before = podUids(stage, rolled);
    const fromEvent = await edit(stage, rolled, { version: 'b' });
    await expectVersion(stage, rolled, { version: 'b', deadlineMs: DEADLINE_MS });
    const report = reportSince(stage, rolled, fromEvent);
    context.diagnostic(
      `${String(NODES_COUNT)} nodes rolled in ${(report.tookMs / 1000).toFixed(1)} s, ` +
        `${String(report.availableNodesMin)} available at the lowest`,
    );
    assertWithinBudget(report, rolled, MAX_UNAVAILABLE);
    assert.equal(report.creations.length, NODES_COUNT);
    assert.deepEqual(
      report.deletions.map(({ podUid }) => podUid).sort(),
      [...before.values()].sort(),
      'each former pod went once, and none of the new ones',
    );
    assert.equal(new Set(report.creations.map(({ node }) => node)).size, NODES_COUNT);
    assert.deepEqual(stage.observer.violations, [], 'S1: two non-terminal pods on one node');
  });
});
