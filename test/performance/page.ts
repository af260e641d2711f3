/**
 * `npm run bench -- page`: the page of 100 clusters with 200 nodes each in Chromium, served by the server of `rollcall ui`.
 *
 * The documents are made up; the server, its protection, the page and the browser are real. It measures the time from the navigation
 * until all nodes are painted, frames while 100 nodes change each second, and the heap after each third of an hour's looks,
 * which are sent as fast as the page takes them. `BENCH_CLUSTERS` and `BENCH_ROUNDS` set the size. Leaves with 1 beyond a goal.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'puppeteer-core';
import { startChromium } from '../support/browser/chromium.ts';
import { healthOf, nodeMapOf } from '../support/browser/fleet-documents.ts';
import { serveScripted, type ScriptedPage } from '../support/browser/scripted-page.ts';
import { openVisit } from '../support/browser/visit.ts';
import {
  countFrames,
  notePainted,
  paintedMs,
  usedHeapBytes,
  type Frames,
} from './support/page-measures.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const CLUSTERS = Number(process.env['BENCH_CLUSTERS'] ?? 100);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9);
const SIZE = { clusters: CLUSTERS, nodes: 200 };
/** The server looks this often at most. */
const LOOK_MS = 2000;
const CHANGED_PER_SECOND = 100;
const FRAMES_MS = 20_000;
const LOOKS_PER_HOUR = 3_600_000 / LOOK_MS;
const THIRDS = 3;

const ENTRIES_PER_LOOK = 2;
const THIRD_BOUND_MS = 600_000;
/** As the page counts them. */
const ALL_NODES = new RegExp(
  `${(SIZE.clusters * SIZE.nodes).toLocaleString('en').replace(',', ',?')} nodes`,
);
/** Three nodes in each tenth cluster are failing (fleet-documents.ts). */
const SERVING = SIZE.clusters * SIZE.nodes - 3 * Math.ceil(SIZE.clusters / 10);
const ALL_SERVING = new RegExp(`${SERVING.toLocaleString('en')}\\s+serving`);

const GOALS = { paintMs: 1000, framesPerSecond: 30, growthShare: 0.1 };

/** A map in which so many nodes, drawn by the turn, have another reason and release. */
function changed(map: ReturnType<typeof nodeMapOf>, count: number, turn: number): object {
  const clusters = map.clusters.map((cluster) => ({
    ...cluster,
    reason: [...cluster.reason],
    release: [...cluster.release],
  }));
  for (let change = 0; change < count; change += 1) {
    // A stride that is prime to the number of nodes reaches all of them.
    const at = ((turn * count + change) * 7919) % (SIZE.clusters * SIZE.nodes);
    const cluster = clusters[Math.floor(at / SIZE.nodes)];
    if (cluster === undefined) continue;
    cluster.reason[at % SIZE.nodes] = (turn + change) % map.reasons.length;
    cluster.release[at % SIZE.nodes] = turn % map.releases.length;
  }
  return { ...map, atMs: Date.now(), clusters };
}

/** What the server sends with every look. */
async function tellLook(served: ScriptedPage): Promise<void> {
  await served.send('status', healthOf(SIZE));
  await served.send('look', { nextInMs: LOOK_MS });
}

/** The times of opening it anew, each with empty caches. */
async function measurePaints(browser: Browser, served: ScriptedPage): Promise<readonly number[]> {
  const tookMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport({ width: 1280, height: 900 });
    await notePainted(page, ALL_SERVING);
    await page.goto(served.address);
    tookMs.push(await paintedMs(page));
    await context.close();
  }
  return tookMs;
}

/** Frames while the map changes with each look. */
async function measureFrames(page: Page, served: ScriptedPage): Promise<Frames> {
  const map = nodeMapOf(SIZE);
  const done = new AbortController();
  const sending = async (): Promise<void> => {
    for (let turn = 1; !done.signal.aborted; turn += 1) {
      await served.send('nodes', changed(map, (CHANGED_PER_SECOND * LOOK_MS) / 1000, turn));
      await tellLook(served);
      await delay(LOOK_MS, undefined, { signal: done.signal }).catch(() => undefined);
    }
  };
  const sent = sending();
  const frames = await countFrames(page, FRAMES_MS);
  done.abort();
  await sent;
  return frames;
}

/** The heap after each third of an hour. */
async function measureHeap(page: Page, served: ScriptedPage): Promise<readonly number[]> {
  const map = nodeMapOf(SIZE);
  const session = await page.createCDPSession();
  const used: number[] = [];
  for (let third = 0; third < THIRDS; third += 1) {
    for (let look = 0; look < LOOKS_PER_HOUR / THIRDS; look += 1) {
      const turn = third * LOOKS_PER_HOUR + look;
      await served.send('nodes', changed(map, (CHANGED_PER_SECOND * LOOK_MS) / 1000, turn));
      await tellLook(served);
      await served.send('log', { entries: entriesOf(turn) });
    }
    const marker = `third ${String(third + 1)} of an hour`;
    const outages = [{ code: 'functions-behind', message: marker, remedy: '' }] as const;
    await served.send('status', healthOf(SIZE, { outages }));
    await page.waitForFunction(
      (text) => document.body.innerText.includes(text),
      { timeout: THIRD_BOUND_MS },
      marker,
    );
    used.push(await usedHeapBytes(session));
    say(`${marker}: ${mebibytes(used.at(-1) ?? 0)} MiB`);
  }
  return used;
}

function entriesOf(turn: number): readonly object[] {
  return Array.from({ length: ENTRIES_PER_LOOK }, (_, entry) => ({
    kind: 'effect',
    effect: 'create',
    atMs: Date.now(),
    run: turn,
    parts: [{ came: 'done', count: 1, names: [`node-${String(entry)}`] }],
    cluster: 'prod-eu-000',
    subject: { kind: 'daemonset', namespace: 'node-agents', name: 'log-collector' },
    text: `1 pod created on node-${String(entry)} (${String(turn)})`,
  }));
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

const served = await serveScripted({});
await served.send('nodes', nodeMapOf(SIZE));
await tellLook(served);
const chromium = await startChromium();
try {
  say(`opening it ${String(ROUNDS)} times`);
  const paints = await measurePaints(chromium.browser, served);
  const { page, hasText } = await openVisit(chromium.browser);
  await page.goto(served.address);
  await hasText(ALL_NODES);
  say('counting frames');
  const frames = await measureFrames(page, served);
  say('playing an hour');
  const heap = await measureHeap(page, served);
  const [first = Number.NaN, , last = Number.NaN] = heap;
  const growth = last / first - 1;
  const paintMs = percentile(paints, 50);
  const rows = [
    [
      'painted, median / max, ms',
      'frames a second, mean / least',
      'longest frame, ms',
      'heap after each third, MiB',
    ],
    [
      `${paintMs.toFixed(0)} / ${Math.max(...paints).toFixed(0)}`,
      `${frames.perSecond.toFixed(1)} / ${String(frames.perSecondMin)}`,
      frames.longestMs.toFixed(0),
      heap.map(mebibytes).join(', '),
    ],
  ];
  process.stdout.write(`${renderRows(rows)}\n`);
  const isMissed =
    !(paintMs < GOALS.paintMs) ||
    !(frames.perSecond > GOALS.framesPerSecond) ||
    !(growth < GOALS.growthShare);
  if (isMissed) process.exitCode = 1;
} finally {
  await chromium.close();
  await served.close();
}
