/** Measures of a tab in Chromium: when it showed what was asked for, its frames, the work of its thread, and what its heap holds. */
import { readFileSync } from 'node:fs';
import type { Browser, CDPSession, Page } from 'puppeteer-core';

/** What the main thread of a tab computed in a while; time in which it had no core does not count. */
export interface ThreadWork {
  readonly totalMs: number;
  readonly longestTaskMs: number;
}

const SECOND_MS = 1000;

/** Has each document of the tab note when a text stood in it and was painted, by its own clock from the navigation on. */
export async function notePainted(page: Page, text: RegExp): Promise<void> {
  const install = (source: string): void => {
    const wanted = new RegExp(source);
    const noteAfterPaint = (): void => {
      // The frame that has it is on its way once the next one begins.
      requestAnimationFrame(() => {
        document.documentElement.dataset['paintedMs'] = String(performance.now());
      });
    };
    const look = (): void => {
      if (wanted.test(document.body.innerText)) noteAfterPaint();
      else requestAnimationFrame(look);
    };
    addEventListener('DOMContentLoaded', look);
  };
  await page.evaluateOnNewDocument(install, text.source);
}

/** What was noted, milliseconds from the navigation. */
export async function paintedMs(page: Page): Promise<number> {
  const noted = await page.waitForFunction(() => document.documentElement.dataset['paintedMs']);
  return Number(await noted.jsonValue());
}

/** The frames of each second of a while. */
export async function countFrames(page: Page, durationMs: number): Promise<readonly number[]> {
  const times = await page.evaluate(
    (forMs) =>
      new Promise<readonly number[]>((resolve) => {
        const seen: number[] = [];
        const note = (atMs: number): void => {
          seen.push(atMs);
          if (atMs - (seen[0] ?? atMs) < forMs) requestAnimationFrame(note);
          else resolve(seen);
        };
        requestAnimationFrame(note);
      }),
    durationMs,
  );
  const [first = 0, ...later] = times;
  const counts = Array.from({ length: Math.floor(durationMs / SECOND_MS) }, () => 0);
  for (const atMs of later) {
    const second = Math.floor((atMs - first) / SECOND_MS);
    if (second < counts.length) counts[second] = (counts[second] ?? 0) + 1;
  }
  return counts;
}

interface TraceEvent {
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  /** Processor time in microseconds. */
  readonly tdur?: number;
}

/** Traces what the main thread of the tab does until the work is done. */
export async function traceWork(page: Page, work: () => Promise<void>): Promise<ThreadWork> {
  await page.tracing.start({ categories: ['disabled-by-default-devtools.timeline'] });
  await work();
  const trace = new TextDecoder().decode(await page.tracing.stop());
  const { traceEvents } = JSON.parse(trace) as { readonly traceEvents: readonly TraceEvent[] };
  const byThread = new Map<string, number[]>();
  for (const { name, pid, tid, tdur = 0 } of traceEvents) {
    if (name !== 'RunTask') continue;
    const thread = `${String(pid)} ${String(tid)}`;
    const tasksMs = byThread.get(thread) ?? [];
    tasksMs.push(tdur / 1000);
    byThread.set(thread, tasksMs);
  }
  // The browser has other threads; none of them has as much to do.
  const works = [...byThread.values()].map((tasksMs) => ({
    totalMs: tasksMs.reduce((sum, taskMs) => sum + taskMs, 0),
    longestTaskMs: Math.max(...tasksMs),
  }));
  const [busiest] = works.sort((left, right) => right.totalMs - left.totalMs);
  if (busiest === undefined) throw new Error('the trace has no task');
  return busiest;
}

/** Bytes of JavaScript's heap that are in use after a collection. */
export async function usedHeapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

/** Bytes of memory of the largest tab's process that no other process shares: heap, documents and canvases. Linux alone has it. */
export async function tabBytes(browser: Browser): Promise<number> {
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const tabs = processInfo.filter(({ type }) => type === 'renderer');
  return Math.max(...tabs.map(({ id }) => anonymousBytes(id)));
}

function anonymousBytes(processId: number): number {
  const status = readFileSync(`/proc/${String(processId)}/status`, 'utf8');
  const [, kibibytes = ''] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kibibytes) * 1024;
}
