/**
 * Every pair of a change and its opposite, hidden in every way in which that can happen (faults row 4).
 *
 * held: the watch carries both late, in one go. relisted: the watch loses both and lists anew. outage: the
 * queue refuses the first, and the watcher repeats the first alone. dropped: the message of the first is lost for
 * good. restarted: the watcher is down for both. unread: `ingest` takes both, one right after the other. While the first
 * stands, runs of the key are forced: they see nothing of it.
 */
import assert from 'node:assert/strict';
import { theWatcher, podOn, setImage } from '../simulation/look.ts';
import { World } from '../simulation/world.ts';
import { countsOf, endStateOf } from './end-state.ts';
import type { Sweep, Trial } from './sweep.ts';
import { DeadPlanError, SETTLES_WITHIN_MS } from './trial.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import { rawDaemonSet, rawNode } from '../simulation/objects.ts';

interface HiddenPair {
  readonly name: string;
  readonly change: (world: World) => void;
  readonly takeBack: (world: World) => void;
  /** Pods that are made and that end because of it, by whomever. */
  readonly made: number;
  readonly ended: number;
}

const ROLLING: JsonObject = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
};

/** The DaemonSet of all pairs; its nodes are labelled disk=ssd. */
const HIDDEN_SET = { nodeSelector: { disk: 'ssd' }, spec: ROLLING };
const LABELS = { disk: 'ssd' };

const plainNode = (world: World, name: string): void => {
  world.addNode(name, { labels: LABELS });
};

const tainted = (
  effect: Taint['effect'],
): Pick<HiddenPair, 'change' | 'takeBack' | 'made' | 'ended'> => ({
  change: (world) => {
    world.api.put('nodes', rawNode('n2', { labels: LABELS, taints: [{ key: 'gone', effect }] }));
  },
  takeBack: (world) => {
    plainNode(world, 'n2');
  },
  made: 0,
  ended: 0,
});

/** The same pod under the same name, made by somebody else: another UID. */
function remakePod(world: World, pod: KubernetesObject): void {
  const { name, namespace, labels, ownerReferences } = pod.metadata;
  const metadata = { name, namespace, labels, ownerReferences };
  world.api.put('pods', { ...pod, metadata });
}

const pairs: Readonly<Record<string, Omit<HiddenPair, 'name'>>> = {
  'taint-NoExecute': tainted('NoExecute'),
  'taint-NoSchedule': tainted('NoSchedule'),
  label: {
    change: (world) => {
      world.addNode('n2');
    },
    takeBack: (world) => {
      plainNode(world, 'n2');
    },
    made: 0,
    ended: 0,
  },
  'node-removed': {
    change: (world) => {
      world.controllers.removeNode('n2');
    },
    takeBack: (world) => {
      plainNode(world, 'n2');
    },
    made: 0,
    ended: 0,
  },
  'node-added': {
    change: (world) => {
      plainNode(world, 'n9');
    },
    takeBack: (world) => {
      world.controllers.removeNode('n9');
    },
    made: 0,
    ended: 0,
  },
  'pod-failed': {
    change: (world) => {
      world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Failed');
    },
    takeBack: (world) => {
      world.controllers.setPhase(podOn(world, 'agent', 'n2'), 'Running');
    },
    made: 0,
    ended: 0,
  },
  'pod-made-again': {
    change: (world) => {
      const pod = podOn(world, 'agent', 'n2');
      world.api.remove('pods', pod.metadata.name, 'ns');
      remakePod(world, pod);
    },
    takeBack: () => undefined,
    made: 1,
    ended: 1,
  },
  image: {
    change: (world) => {
      setImage(world, 'agent', 2);
    },
    takeBack: (world) => {
      setImage(world, 'agent', 1);
    },
    made: 0,
    ended: 0,
  },
  'set-made-again': {
    change: (world) => {
      world.controllers.deleteDaemonSet('agent', 'background');
    },
    takeBack: (world) => {
      world.addDaemonSet('agent', HIDDEN_SET);
    },
    made: 3,
    ended: 3,
  },
  'set-orphaning': {
    change: (world) => {
      world.controllers.deleteDaemonSet('agent', 'orphan');
    },
    takeBack: (world) => {
      world.addDaemonSet('agent', HIDDEN_SET);
    },
    made: 0,
    ended: 0,
  },
  'set-added': {
    change: (world) => {
      world.api.createDaemonSet(rawDaemonSet('proxy', HIDDEN_SET));
    },
    takeBack: (world) => {
      world.controllers.deleteDaemonSet('proxy', 'background');
    },
    made: 0,
    ended: 0,
  },
};

/** Every pair. */
const HIDDEN_PAIRS: readonly HiddenPair[] = Object.entries(pairs).map(([name, pair]) => ({
  name,
  ...pair,
}));

/** Nodes of every pair's cluster. */
const HIDDEN_NODES = ['n1', 'n2', 'n3'];

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
