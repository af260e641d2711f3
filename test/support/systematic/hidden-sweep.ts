/**
 * Every pair of a change and its opposite, hidden in every way in which that can happen (faults row 4).
 *
 * held: the watch carries both late, in one go. relisted: the watch loses both and lists anew. outage: the
 * queue refuses the first, and the watcher repeats the first alone. dropped: the message of the first is lost for
 * good. restarted: the watcher is down for both. unread: `ingest` takes both, one right after the other. While the first
 * stands, runs of the key are forced: they see nothing of it.
 */
import assert from 'node:assert/strict';
import { theWatcher } from '../simulation/look.ts';
import { World } from '../simulation/world.ts';
import { countsOf, endStateOf } from './end-state.ts';
import { HIDDEN_NODES, HIDDEN_PAIRS, HIDDEN_SET, type HiddenPair } from './hidden-pairs.ts';
import type { Sweep, Trial } from './sweep.ts';
import { DeadPlanError, SETTLES_WITHIN_MS } from './trial.ts';

const WAYS = ['held', 'relisted', 'outage', 'dropped', 'restarted', 'unread'] as const;

/** What was tried once is repeated as it was, and `ingest` takes one message after the other: seen for a moment. */
const HIDING: ReadonlySet<Way> = new Set(['held', 'relisted', 'dropped', 'restarted']);

export type Way = (typeof WAYS)[number];

/** How long the first half stands: no collector of the cluster itself has come by then. */
const APART_MS = [20, 900, 9000] as const;

/** The sweep `hidden`: its trials are `hidden/<pair>/<way>/<milliseconds between>`. */
export const hiddenSweep: Sweep = {
  name: 'hidden',
  trials: (only) => {
    const trials = HIDDEN_PAIRS.filter(({ name }) => only === undefined || name === only).flatMap(
      (pair) => WAYS.flatMap((way) => APART_MS.map((apartMs) => trialOf(pair, way, apartMs))),
    );
    return Promise.resolve(trials);
  },
};

function trialOf(pair: HiddenPair, way: Way, apartMs: number): Trial {
  return {
    name: `hidden/${pair.name}/${way}/${apartMs}`,
    what: `${pair.name} for ${apartMs} ms, ${way}`,
    play: () => play(pair, way, apartMs),
  };
}

async function play(pair: HiddenPair, way: Way, apartMs: number): Promise<void> {
  const world = await World.start({ nodes: [], seed: 7 });
  for (const node of HIDDEN_NODES) world.addNode(node, { labels: { disk: 'ssd' } });
  world.addDaemonSet('agent', HIDDEN_SET);
  await world.settle();
  const before = { counts: countsOf(world), lines: endStateOf(world).lines };
  const reveal = hide(world, way);
  pair.change(world);
  for (const share of [0.1, 0.6]) world.clock.after(apartMs * share, () => world.hint('agent'));
  await world.advance(apartMs);
  pair.takeBack(world);
  await world.advance(5);
  await reveal();
  await world.settle(SETTLES_WITHIN_MS);
  const { counts, lines } = endStateOf(world);
  const made = counts.podsMade - before.counts.podsMade;
  const ended = counts.podsEnded - before.counts.podsEnded;
  if (HIDING.has(way)) {
    assert.deepEqual({ made, ended }, { made: pair.made, ended: pair.ended }, 'rows 4, 5: counts');
  }
  if (pair.made === 0) assert.deepEqual(lines.map(stable), before.lines.map(stable));
}

/** Generations and revision numbers tell of edits that were taken back. */
function stable(line: string): string {
  return line.replaceAll(/"(generation|observedGeneration|revision)":\d+/g, '"$1":0');
}

/** Hides what happens from now on; the answer reveals what is left of it. */
function hide(world: World, way: Way): () => Promise<void> {
  world.note(`fault hidden: ${way}`);
  const { faults, source } = theWatcher(world);
  switch (way) {
    case 'held':
      for (const kind of KINDS) faults.frozen.add(kind);
      return revealing(() => source.thaw());
    case 'relisted':
      for (const kind of KINDS) faults.frozen.add(kind);
      return revealing(() => {
        world.api.compact();
        source.breakStreams();
      });
    case 'unread':
      world.mapping('events.fifo').isPaused = true;
      return revealing(() => world.resume('events.fifo'));
    case 'restarted':
      world.stopWatcher(theWatcher(world));
      return revealing(() => world.startWatcher());
    case 'outage':
      return hideInOutage(world);
    case 'dropped':
      return hideByLoss(world);
  }
}

const KINDS = ['Node', 'Pod', 'DaemonSet', 'ControllerRevision'] as const;

function hideInOutage(world: World): () => Promise<void> {
  let refused = 0;
  world.queues.faults.sendEvent = () => {
    refused += 1;
    return { outcome: { kind: 'unsent', message: 'injected' }, applied: false };
  };
  return revealing(() => {
    if (refused === 0) throw new DeadPlanError('no send was refused (M1)');
    world.queues.faults.sendEvent = () => undefined;
  });
}

function hideByLoss(world: World): () => Promise<void> {
  let dropped = 0;
  world.fate = (queue) => {
    if (queue !== 'events.fifo') return 'deliver';
    dropped += 1;
    return 'drop';
  };
  return async () => {
    // The second half may be lost as well; then a heartbeat, or a later change, shows the gap.
    await world.advance(3000);
    if (dropped === 0) throw new DeadPlanError('no message was dropped (M1)');
    world.fate = () => 'deliver';
    world.addNode('n3', { labels: { disk: 'ssd', later: 'change' } });
    await world.advance(2000);
    world.addNode('n3', { labels: { disk: 'ssd' } });
  };
}

function revealing(act: () => unknown): () => Promise<void> {
  return () => {
    act();
    return Promise.resolve();
  };
}
