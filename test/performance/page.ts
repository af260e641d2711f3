/**
 * `npm run bench -- page`: the page of 100 clusters with 200 nodes each in Chromium, served by the server of `rollcall ui`.
 *
 * The documents are made up; the server, its protection, the page and the browser are real. It measures the time from the navigation
 * until all nodes are painted; while 200 nodes change with each look, the frames of each second and what the tab's thread computes;
 * and the heap and the memory of the tab before and after each third of an hour's looks, which are sent as fast as the page takes them.
 * `BENCH_CLUSTERS` and `BENCH_ROUNDS` set the size. Leaves with 1 beyond a goal.
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
  tabBytes,
  traceWork,
  usedHeapBytes,
} from './support/page-measures.ts';
import { say } from './support/say.ts';
import { percentile, renderRows } from './support/statistics.ts';

const CLUSTERS = Number(process.env['BENCH_CLUSTERS'] ?? 100);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9);
const SIZE = { clusters: CLUSTERS, nodes: 200 };
/** The server looks this often at most. */
const LOOK_MS = 2000;
const CHANGED_PER_SECOND = 100;
const FRAMES_MS = 60_000;
/** So many are traced. */
const TRACED_LOOKS = 10;
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

/** A task that is longer than a frame of thirty a second costs one on a machine that does nothing else. */
const GOALS = { paintMs: 1000, framesPerSecond: 30, taskMs: 1000 / 30, growthShare: 0.1 };

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

/** Sends looks, one every two seconds, of a map that changes: so many, or until the signal aborts. */
async function sendLooks(served: ScriptedPage, count: number, signal?: AbortSignal): Promise<void> {
  const map = nodeMapOf(SIZE);
  for (let turn = 1; turn <= count && signal?.aborted !== true; turn += 1) {
    await served.send('nodes', changed(map, (CHANGED_PER_SECOND * LOOK_MS) / 1000, turn));
    await tellLook(served);
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Frames of each second while the map changes with each look. */
async function measureFrames(page: Page, served: ScriptedPage): Promise<readonly number[]> {
  const done = new AbortController();
  const sent = sendLooks(served, Number.POSITIVE_INFINITY, done.signal);
  const frames = await countFrames(page, FRAMES_MS);
  done.abort();
  await sent;
  return frames;
}

/** Memory of the tab, in bytes. */
interface Memory {
  readonly heap: number;
  readonly tab: number;
}

/** The memory before, and after each third of an hour's looks. */
async function measureMemory(page: Page, served: ScriptedPage): Promise<readonly Memory[]> {
  const map = nodeMapOf(SIZE);
  const session = await page.createCDPSession();
  const measure = async (): Promise<Memory> => {
    const heap = await usedHeapBytes(session);
    return { heap, tab: await tabBytes(page.browser()) };
  };
  const used = [await measure()];
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
    used.push(await measure());
    say(marker);
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
  say('tracing');
  const work = await traceWork(page, () => sendLooks(served, TRACED_LOOKS));
  say('playing an hour');
  const memory = await measureMemory(page, served);
  const growths = (['heap', 'tab'] as const).map((of) => {
    const [, first, , last] = memory.map((each) => each[of]);
    return (last ?? Number.NaN) / (first ?? Number.NaN) - 1;
  });
  const paintMs = percentile(paints, 50);
  const rows = [
    [
      'painted, median / max, ms',
      'frames a second, median / p5 / least',
      'computed for a look / longest task, ms',
      'heap before and after each third, MiB',
      'tab, MiB',
    ],
    [
      `${paintMs.toFixed(0)} / ${Math.max(...paints).toFixed(0)}`,
      [percentile(frames, 50), percentile(frames, 5), Math.min(...frames)].join(' / '),
      `${(work.totalMs / TRACED_LOOKS).toFixed(0)} / ${work.longestTaskMs.toFixed(1)}`,
      memory.map(({ heap }) => mebibytes(heap)).join(', '),
      memory.map(({ tab }) => mebibytes(tab)).join(', '),
    ],
  ];
  process.stdout.write(`${renderRows(rows)}\n`);
  const isMissed =
    !(paintMs < GOALS.paintMs) ||
    !(percentile(frames, 50) > GOALS.framesPerSecond) ||
    !(work.longestTaskMs < GOALS.taskMs) ||
    !growths.every((growth) => growth < GOALS.growthShare);
  if (isMissed) process.exitCode = 1;
} finally {
  await chromium.close();
  await served.close();
}
