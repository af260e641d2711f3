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
  annotationPatch,
  createWriter,
  daemonPodCount,
  daemonPodPath,
  otherPodPath,
  readinessPatch,
} from './population.ts';
import type { PopulationSize } from './population.ts';
import { openScene, type OpenedScene } from './scene.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { Delta, WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import type { ApiClient } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import type { EventsQueue } from './events-queue.ts';
import type { Memory, WatcherProcess } from './watcher-process.ts';

interface Scene {
  readonly admin: ApiClient;
  readonly size: PopulationSize;
  readonly watcher: WatcherProcess;
  readonly queue: EventsQueue;
  /** Restarts the API server, which then has streaming lists or not; its cache knows nothing of the time before. */
  readonly restartApiServer: (watchList: 'on' | 'off') => Promise<void>;
}

/** Memory at the end of a phase, its peak within it. */
interface PhaseResult extends Memory {
  readonly phase: string;
  readonly tookMs: number;
}

const DEADLINE_MS = 480_000;
const STEADY_MS = 5_000;
const LEASE_PATH =
  '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';

/** Runs one phase and reads the memory at its end. */
async function measurePhase(
  phase: string,
  scene: Scene,
  play: (scene: Scene) => Promise<void>,
): Promise<PhaseResult> {
  const startedMs = performance.now();
  scene.watcher.resetPeak();
  await play(scene);
  return { phase, ...scene.watcher.memory(), tookMs: performance.now() - startedMs };
}

/** From the start of the process to the manifest of its first snapshot, which must name everything. */
async function startUp(scene: Scene): Promise<void> {
  await waitFor(scene, 'the first snapshot', () => hasManifest(scene.queue.messages));
  assert.deepEqual(countSnapshot(scene.queue.messages), expectedCounts(scene.size));
}

/** Nothing happens. */
async function steadyState(): Promise<void> {
  await delay(STEADY_MS);
}

/** Pods of others and of DaemonSets change in ways that do not matter, and some in ways that do. */
async function churn(scene: Scene): Promise<void> {
  const { admin, size, queue } = scene;
  const from = queue.messages.length;
  const changed = Math.min(size.nodes, 1000);
  const writer = createWriter(admin.connection);
  try {
    const others = numbers(Math.min(size.otherPods, 5000)).map(otherPodPath);
    const daemons = numbers(changed).map((node) => daemonPodPath(1, node));
    const turned = numbers(changed).map((node) => daemonPodPath(2, node));
    await writer.writeAll([
      ...others.map((path) => annotationPatch(path, 'a')),
      ...daemons.map((path) => annotationPatch(path, 'a')),
    ]);
    await writer.writeAll(turned.map((path) => readinessPatch(path, false)));
    await waitFor(scene, 'every pod that turned', () => {
      const unready = deltasOf(queue.messages.slice(from)).filter(
        ({ object }) => object?.kind === 'Pod' && !object.isReady,
      );
      return new Set(unready.map(({ uid }) => uid)).size === changed;
    });
  } finally {
    writer.close();
  }
}

/** A function asks for a snapshot, as it does through the Lease. */
async function snapshotOnRequest(scene: Scene): Promise<void> {
  const { admin, queue, size } = scene;
  const from = queue.messages.length;
  const annotations = { 'rollcall.dev/snapshot-requested': `request-${String(Date.now())}` };
  await admin.patch(LEASE_PATH, { metadata: { annotations } });
  await waitFor(scene, 'the snapshot', () => hasManifest(queue.messages.slice(from)));
  assert.deepEqual(countSnapshot(queue.messages.slice(from)), expectedCounts(size));
}

/** After 410, by streaming lists. */
function relistByWatch(scene: Scene): Promise<void> {
  return relist(scene, 'on');
}

/** After 410, page by page: the way of releases where streaming lists are off. */
function relistByPages(scene: Scene): Promise<void> {
  return relist(scene, 'off');
}

/**
 * An API server that takes longer to start than a Lease lives ends the watcher's epoch: a snapshot then brings what a
 * list should have. A busy machine is that slow now and then; it is asked again.
 */
const RELISTS_MAX = 3;

async function relist(scene: Scene, watchList: 'on' | 'off'): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    if ((await relistOnce(scene, watchList)) === 'listed') return;
    assert.ok(attempt < RELISTS_MAX, 'the watcher lost its Lease each time');
  }
}

/** What changes while the watcher does not listen, and the API server forgets, is found by lists. */
async function relistOnce(scene: Scene, watchList: 'on' | 'off'): Promise<'listed' | 'epoch-lost'> {
  const { admin, watcher, queue } = scene;
  const from = queue.messages.length;
  const fromLine = watcher.logLines().length;
  const mark = `at-${String(Date.now())}`;
  watcher.pause();
  await scene.restartApiServer(watchList);
  // Only now: what comes before would still wait in the streams that the restart cut.
  await admin.patch('/api/v1/nodes/node-0001', { metadata: { labels: { churn: mark } } });
  await admin.patch(daemonPodPath(3, 0), { metadata: { labels: { churn: mark } } });
  watcher.resume();
  const isEpochLost = (): boolean =>
    watcher
      .logLines()
      .slice(fromLine)
      .some(({ message }) => message === 'the epoch is over') &&
    hasManifest(queue.messages.slice(from));
  await waitFor(scene, 'what had changed', () => {
    if (isEpochLost()) return true;
    const seen = deltasOf(queue.messages.slice(from)).flatMap(({ object }) =>
      object !== null && 'labels' in object && object.labels['churn'] === mark ? [object.kind] : [],
    );
    return seen.includes('Node') && seen.includes('Pod');
  });
  if (isEpochLost()) return 'epoch-lost';
  const lines = watcher.logLines().slice(fromLine);
  const expired = lines.filter(({ message }) => message.startsWith('position expired'));
  assert.ok(
    expired.some(({ kind }) => kind === 'Pod'),
    'pods were listed again after 410',
  );
  const paged = lines.some(({ message }) => message.startsWith('server has no WatchList'));
  assert.equal(paged, watchList === 'off');
  assert.ok(!hasManifest(queue.messages.slice(from)), 'a list after 410 needs no snapshot');
  return 'listed';
}

async function waitFor(scene: Scene, what: string, isDone: () => boolean): Promise<void> {
  await pollUntil({ deadlineMs: DEADLINE_MS, description: what }, () => {
    scene.watcher.assertRunning();
    return isDone() ? true : undefined;
  });
}

function hasManifest(messages: readonly WatcherMessage[]): boolean {
  return messages.some(({ body }) => body.kind === 'manifest');
}

function deltasOf(messages: readonly WatcherMessage[]): readonly Delta[] {
  return messages.flatMap(({ body }) => (body.kind === 'changes' ? body.deltas : []));
}

/** Objects by kind of set in the slices of the last snapshot that is whole. */
function countSnapshot(all: readonly WatcherMessage[]): Readonly<Record<string, number>> {
  const messages = all.slice(
    0,
    all.findLastIndex(({ body }) => body.kind === 'manifest'),
  );
  const announced = messages.findLastIndex(({ body }) => body.kind === 'announcement');
  const counts: Record<string, number> = {};
  for (const { body } of messages.slice(announced)) {
    if (body.kind !== 'slices') continue;
    for (const { set, objects } of body.slices) {
      const [kind = ''] = set.split('/');
      counts[kind] = (counts[kind] ?? 0) + objects.length;
    }
  }
  return counts;
}

function expectedCounts(size: PopulationSize): Readonly<Record<string, number>> {
  return {
    nodes: size.nodes,
    daemonsets: size.daemonSets,
    pods: daemonPodCount(size),
    revisions: 0,
  };
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

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
