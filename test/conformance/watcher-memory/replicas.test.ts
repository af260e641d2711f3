/**
 * Two watchers of one cluster, as the highly available overlay runs them: bundles as plain processes against a
 * real API server. One holds the Lease and sends; the other takes over when it is killed, or gives up.
 */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startAttendedClock, startPaceMeter, stretched } from '../../support/machine-pace.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { openScene, type OpenedScene } from './scene.ts';
import type { WatcherProcess } from './watcher-process.ts';

/** Duration of the Lease (src/watcher/session/options.ts); what a look of the one that stands by may take after it. */
const LEASE_MS = 40_000;
const LOOK_MS_MAX = 10_000;
/** A Lease that was given back is noticed at the next look. */
const HANDOVER_MS_MAX = 15_000;
/** Time for several looks at the Lease. */
const STANDBY_MS = 10_000;
const DEADLINE_MS = 240_000;
const LEASE_PATH =
  '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';

/** As infra/overlays/components/highly-available sets it. */
const STAND_BY = { ROLLCALL_LEASE_START: 'stand-by' };

const skip = skipWithoutTools([TOOLS.go]);

describe('two watchers of one cluster', { timeout: 1_700_000, skip }, () => {
  let scene: OpenedScene;
  let holder: WatcherProcess;
  let standby: WatcherProcess;

  before(async () => {
    scene = await openScene({ nodes: 20, daemonSets: 2, otherPods: 100 });
    holder = scene.startWatcher('first', STAND_BY);
    await waitForLease(holder);
    standby = scene.startWatcher('second', STAND_BY);
  });
  after(async () => {
    await (scene as OpenedScene | undefined)?.close();
  });

  it('leave the Lease to the one that holds it', async () => {
    await waitForManifest(scene, holder);
    await waitForStandBy(standby);
    await delay(STANDBY_MS);
    standby.assertRunning();
    assert.equal(takenBy(standby), undefined);
    assert.equal(await leaseHolder(scene), takenBy(holder)?.incarnation);
  });

  it('are two again within the duration of the Lease when the holder is killed', async (context) => {
    const { tookMs, slowdown } = await measure(async () => {
      await holder.kill();
      await waitForLease(standby);
    });
    const boundMs = LEASE_MS + stretched(LOOK_MS_MAX, slowdown);
    context.diagnostic(`taken over ${(tookMs / 1000).toFixed(1)} s after the kill`);
    assert.ok(tookMs <= boundMs, `${String(tookMs)} ms, at most ${String(boundMs)}`);
    await waitForManifest(scene, standby);
    [holder, standby] = [standby, scene.startWatcher('third', STAND_BY)];
  });

  it('hand over at once when the holder is stopped (row 72)', async (context) => {
    await waitForStandBy(standby);
    await delay(STANDBY_MS);
    const { tookMs, slowdown } = await measure(async () => {
      await holder.stop();
      await waitForLease(standby);
    });
    const boundMs = stretched(HANDOVER_MS_MAX, slowdown);
    context.diagnostic(`handed over in ${(tookMs / 1000).toFixed(1)} s`);
    assert.ok(tookMs <= boundMs, `${String(tookMs)} ms, at most ${String(boundMs)}`);
    await waitForManifest(scene, standby);
  });

  it('never send side by side: messages of one epoch follow those of the one before', () => {
    const epochs = scene.queue.messages.map(({ epoch }) => BigInt(epoch));
    const ordered = epochs.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0));
    assert.deepEqual(epochs, ordered);
    assert.equal(new Set(epochs).size, 3);
  });
});

function takenBy(watcher: WatcherProcess): { readonly incarnation: string } | undefined {
  const line = watcher.logLines().findLast(({ message }) => message === 'took the lease');
  return line === undefined ? undefined : { incarnation: String(line['incarnation']) };
}

/** How long it took, without the time in which this process stood still, and how busy the machine was. */
async function measure(
  action: () => Promise<void>,
): Promise<{ readonly tookMs: number; readonly slowdown: number }> {
  const clock = startAttendedClock();
  const pace = startPaceMeter();
  await action();
  const tookMs = clock.nowMs();
  clock.stop();
  return { tookMs, slowdown: pace.stop() };
}

/** Waits until it has a connection: the Lease is all that it looks at while another one holds it. */
async function waitForStandBy(watcher: WatcherProcess): Promise<void> {
  await pollUntil({ deadlineMs: DEADLINE_MS, description: 'one stands by' }, () => {
    watcher.assertRunning();
    const directory = `/proc/${String(watcher.pid())}/fd`;
    const isConnected = readdirSync(directory).some((file) =>
      readlinkSync(`${directory}/${file}`).startsWith('socket:'),
    );
    return isConnected ? true : undefined;
  });
}

async function waitForLease(watcher: WatcherProcess): Promise<void> {
  await pollUntil({ deadlineMs: DEADLINE_MS, description: 'the Lease is taken' }, () => {
    watcher.assertRunning();
    return takenBy(watcher);
  });
}

async function waitForManifest(scene: OpenedScene, watcher: WatcherProcess): Promise<void> {
  await pollUntil({ deadlineMs: DEADLINE_MS, description: 'a whole snapshot' }, () => {
    const own = takenBy(watcher)?.incarnation;
    const closed = scene.queue.messages.some(
      ({ incarnation, body }) => incarnation === own && body.kind === 'manifest',
    );
    return closed ? true : undefined;
  });
}

async function leaseHolder({ admin }: OpenedScene): Promise<unknown> {
  const lease = await admin.get(LEASE_PATH);
  return (lease['spec'] as { readonly holderIdentity?: string }).holderIdentity;
}
