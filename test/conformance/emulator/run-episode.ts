/**
 * Plays the steps of an episode on two servers, in the same order on both, and reports what differs.
 *
 * Both get a step at the same time, and the next one when both have answered. Watches stay open until the end, so that
 * they see history and what comes live alike; then both streams are read until they are quiet and equally long, or
 * have been quiet for long. A request that one server took and the other refused ends the episode: what follows
 * would differ for that reason alone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { compareAnswers, type Difference } from './compare.ts';
import { maskAnswer, maskFrame } from './mask.ts';
import { ServerMemory } from './memory.ts';
import type { Answer, ComparedServer, OpenWatch } from './server.ts';
import type { Step } from './step.ts';

export interface Pair<Side> {
  readonly left: Side;
  readonly right: Side;
}

export interface EpisodeResult {
  readonly differences: readonly Difference[];
  readonly stepsPlayed: number;
}

const QUIET_MS = 40;
/** A frame that only one side has: it is missing when it has not come for so long. */
const QUIET_MS_IF_UNEQUAL = 10_000;
const BOOKMARK_MS_MAX = 30_000;
const POLL_MS = 10;

type Sides<Value> = Pair<Value>;

/** Plays an episode. */
export async function runEpisode(
  servers: Pair<ComparedServer>,
  steps: readonly Step[],
): Promise<EpisodeResult> {
  const memories: Sides<ServerMemory> = { left: new ServerMemory(), right: new ServerMemory() };
  const differences: Difference[] = [];
  const watches: { readonly step: Step; readonly open: Sides<OpenWatch> }[] = [];
  let stepsPlayed = 0;
  try {
    for (const step of steps) {
      if (step.settleMs !== undefined) await catchUp(servers, step, step.settleMs);
      const [left, right] = await Promise.all([
        servers.left.send(step, memories.left),
        servers.right.send(step, memories.right),
      ]);
      stepsPlayed += 1;
      if (isWatch(left) && isWatch(right)) {
        watches.push({ step, open: { left, right } });
        if (step.awaitsBookmark === true) await waitForBookmarks({ left, right });
        continue;
      }
      const found = compareAnswers(
        step,
        maskEither(step, left, memories.left),
        maskEither(step, right, memories.right),
      );
      differences.push(...found);
      if (step.method !== 'GET' && isTaken(left) !== isTaken(right)) break;
    }
    for (const { step, open } of watches) {
      await readToEnd(open);
      differences.push(...compareWatches(step, open, memories));
    }
  } finally {
    for (const { open } of watches) {
      open.left.close();
      open.right.close();
    }
  }
  return { differences, stepsPlayed };
}

/**
 * Waits until the cache of the real server has what was written before. A consistent list is answered from the very
 * cache, once that is as new as etcd, however long it takes a busy machine.
 */
async function catchUp(
  { left, right }: Pair<ComparedServer>,
  { resource, path }: Step,
  settleMs: number,
): Promise<void> {
  await delay(settleMs);
  const root = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)/.exec(path)?.[0];
  if (resource === '' || root === undefined) return;
  const list: Step = {
    ...{ id: -1, verb: 'list', resource, note: 'catch up', actor: 'admin', method: 'GET' },
    path: `${root}/${resource}?limit=1`,
  };
  // What it shows is nobody's to remember.
  const sent = [left, right].map((server) => server.send(list, new ServerMemory()));
  await Promise.all(sent);
}

function isTaken(answer: Answer | OpenWatch): boolean {
  return isWatch(answer) || answer.status < 300;
}

function isWatch(answer: Answer | OpenWatch): answer is OpenWatch {
  return 'frames' in answer;
}

/** A watch that only one server opened: its status is what differs. */
function maskEither(step: Step, answer: Answer | OpenWatch, memory: ServerMemory): Json {
  if (!isWatch(answer)) return maskAnswer(step, answer, memory);
  answer.close();
  return { status: 200, warningsCount: 0, body: 'a watch' };
}

/** The real server sends the bookmark a moment after the events; what came between would be chance. */
async function waitForBookmarks({ left, right }: Sides<OpenWatch>): Promise<void> {
  const deadlineMs = performance.now() + BOOKMARK_MS_MAX;
  const isMarked = ({ frames }: OpenWatch): boolean =>
    frames.some((frame) => isJsonObject(frame) && frame['type'] === 'BOOKMARK');
  while (performance.now() < deadlineMs && !(isMarked(left) && isMarked(right))) {
    await delay(POLL_MS);
  }
}

async function readToEnd({ left, right }: Sides<OpenWatch>): Promise<void> {
  for (;;) {
    const quietMs = performance.now() - Math.max(left.lastFrameAtMs(), right.lastFrameAtMs());
    const isEqual =
      left.frames.length === right.frames.length && left.hasEnded() === right.hasEnded();
    if (quietMs >= (isEqual ? QUIET_MS : QUIET_MS_IF_UNEQUAL)) return;
    await delay(POLL_MS);
  }
}

function compareWatches(
  step: Step,
  open: Sides<OpenWatch>,
  memories: Sides<ServerMemory>,
): Difference[] {
  const mask = (side: 'left' | 'right'): Json => ({
    hasEnded: open[side].hasEnded(),
    frames: inOrder(open[side].frames).map((frame) => maskFrame(frame, memories[side])),
  });
  return compareAnswers(step, mask('left'), mask('right'));
}

/** The frames with the leading additions sorted by namespace and name. */
function inOrder(frames: readonly Json[]): readonly Json[] {
  const isAddition = (frame: Json): boolean => isJsonObject(frame) && frame['type'] === 'ADDED';
  const end = frames.findIndex((frame) => !isAddition(frame));
  const count = end === -1 ? frames.length : end;
  const columns = frames.slice(0, count).map(columnsOf);
  const sorted = frames
    .slice(0, count)
    .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    .map((frame, index) => withColumns(frame, columns[index]));
  return [...sorted, ...frames.slice(count)];
}

function objectOf(frame: Json): JsonObject {
  const object = isJsonObject(frame) ? frame['object'] : undefined;
  return isJsonObject(object) ? object : {};
}

function columnsOf(frame: Json): Json | undefined {
  return objectOf(frame)['columnDefinitions'];
}

function withColumns(frame: Json, columnDefinitions: Json | undefined): Json {
  const object = objectOf(frame);
  if (object['kind'] !== 'Table' || !isJsonObject(frame)) return frame;
  const { columnDefinitions: _former, ...rest } = object;
  return {
    ...frame,
    object: { ...rest, ...(columnDefinitions === undefined ? {} : { columnDefinitions }) },
  };
}

/** `namespace/name` of the object in a frame, or of the row of a table in it. */
function placeOf(frame: Json): string {
  const object = objectOf(frame);
  const { rows } = object;
  const row = Array.isArray(rows) ? (rows as readonly Json[])[0] : undefined;
  const shown = isJsonObject(row) ? row['object'] : object;
  const metadata = isJsonObject(shown) ? shown['metadata'] : undefined;
  if (!isJsonObject(metadata)) return '';
  return JSON.stringify([metadata['namespace'] ?? '', metadata['name'] ?? '']);
}
