/**
 * The memory of the watcher of a large cluster: its bundle as its image starts it, against a real API server, with
 * exactly the rights that are shipped, sending over TLS.
 *
 * What the watcher holds grows with the cluster: a tenth of it would say nothing about the limit.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import {
  churn,
  measurePhase,
  relistByPages,
  relistByWatch,
  snapshotOnRequest,
  startUp,
  steadyState,
} from './phases.ts';
import type { PhaseResult, Scene } from './phases.ts';
import type { PopulationSize } from './population.ts';
import { openScene, type OpenedScene } from './scene.ts';

const MEBIBYTE = 2 ** 20;
/** What infra/watcher/deployment.yaml says was measured. */
const PEAK_BYTES_MAX = 110 * MEBIBYTE;
const TIMEOUT_MS = 1_790_000;

const skip = skipWithoutTools([TOOLS.go]);

const SIZE: PopulationSize = { nodes: 1_000, daemonSets: 10, otherPods: 90_000 };

describe('the watcher of a large cluster', { timeout: TIMEOUT_MS, skip }, () => {
  let opened: OpenedScene;
  let scene: Scene;

  before(async () => {
    opened = await openScene(SIZE);
    const { admin, queue, controlPlane } = opened;
    const watcher = opened.startWatcher('watcher');
    scene = { admin, size: SIZE, watcher, queue, restartApiServer: controlPlane.setWatchList };
  });
  after(async () => {
    await (opened as OpenedScene | undefined)?.close();
  });

  const phases = [
    ['its first lists and its first snapshot', startUp],
    ['steady state', steadyState],
    ['churn of pods', churn],
    ['a snapshot that was asked for', snapshotOnRequest],
    ['streamed lists after its position has expired (410)', relistByWatch],
    ['paged lists after its position has expired (410)', relistByPages],
  ] as const;
  for (const [phase, play] of phases) {
    it(`stays within its memory through ${phase}`, async (context) => {
      const result = await measurePhase(phase, scene, play);
      context.diagnostic(describeResult(result));
      assert.ok(result.peakBytes <= PEAK_BYTES_MAX, describeResult(result));
    });
  }
});

function describeResult({ phase, tookMs, ...memory }: PhaseResult): string {
  const mebibytes = (bytes: number): string => (bytes / MEBIBYTE).toFixed(1);
  const { peakBytes, residentBytes, fileBytes } = memory;
  return (
    `${phase}: peak ${mebibytes(peakBytes)} MiB, then ${mebibytes(residentBytes)} MiB ` +
    `(${mebibytes(fileBytes)} MiB of it the program's file), ${(tookMs / 1000).toFixed(1)} s`
  );
}
