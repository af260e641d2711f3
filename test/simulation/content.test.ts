/**
 * Content that is part of a revision (ADR 0061), by the real watcher, ingest and runs: a change goes by stages, and whatever
 * happens to watchers, rights and the key, nothing else restarts a pod.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { POLICY_ANNOTATION } from '../../src/core/policy/rollout-policy.ts';
import { CONFIG_HASH_LABEL } from '../../src/core/pod/revision.ts';
import { CONTENT_KEY, SETTINGS, ScriptedConfigSource } from '../support/scripted-config-source.ts';
import { Dice } from '../support/simulation/dice.ts';
import { World } from '../support/simulation/world.ts';

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'];
const MINUTE_MS = 60_000;
const POLICY = 'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 5m\nconfig: {configMaps: [settings]}';
const SEEDS = 6;

interface Played {
  readonly world: World;
  readonly config: ScriptedConfigSource;
  /** Pods that went by a delete of ours. */
  readonly deleted: string[];
}

/** A DaemonSet at rest, whose content is known. */
async function resting(seed: number): Promise<Played> {
  const config = new ScriptedConfigSource();
  config.putKey(1);
  config.put(SETTINGS, { level: 'one' });
  const world = await World.start({ seed, nodes: NODES, config });
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
  const annotations = { [POLICY_ANNOTATION]: POLICY };
  world.addDaemonSet('agent', { annotations, spec: { updateStrategy, minReadySeconds: 0 } });
  await world.settle();
  await world.advance(2 * MINUTE_MS);
  const deleted: string[] = [];
  const { onPodDelete } = world.api.hooks;
  world.api.hooks.onPodDelete = (pod) => {
    deleted.push(pod.metadata.name);
    onPodDelete?.(pod);
  };
  return { world, config, deleted };
}

function labels(world: World): readonly (string | undefined)[] {
  return world.api.list('pods').map(({ metadata }) => metadata.labels?.[CONFIG_HASH_LABEL]);
}

/** What may happen without any content changing. */
const QUIET: Readonly<Record<string, (played: Played) => void>> = {
  'a watcher begins anew': ({ world }) => {
    const [running] = world.watchers;
    if (running !== undefined) world.stopWatcher(running);
    world.startWatcher();
  },
  'a right is gone': ({ config }) => config.failures.set(SETTINGS, 'unauthorized'),
  'nothing answers': ({ config }) => config.failures.set(SETTINGS, 'unavailable'),
  'all is well again': ({ config }) => {
    config.failures.clear();
  },
  'another key': ({ config }) => {
    config.putKey(config.asked.length % 2);
  },
  'no key': ({ config }) => {
    config.remove(CONTENT_KEY);
  },
  'labels of the object': ({ config }) => {
    config.put(SETTINGS, { level: 'one' }, { touched: String(config.asked.length) });
  },
  'the object is gone': ({ config }) => {
    config.remove(SETTINGS);
  },
  'a node joins': ({ world }) => {
    world.addNode(`n${String(world.api.list('nodes').length + 1)}`);
  },
};

describe('content that is part of a revision', () => {
  test('goes to one node, soaks there, and then to all', async () => {
    const { world, config, deleted } = await resting(1);
    config.put(SETTINGS, { level: 'two' });
    await world.advance(4 * MINUTE_MS);
    assert.equal(deleted.length, 1);
    assert.equal(labels(world).filter((label) => label !== undefined).length, 1);
    await world.advance(30 * MINUTE_MS);
    await world.converge();
    assert.equal(deleted.length, NODES.length);
    assert.equal(new Set(labels(world)).size, 1);
    assert.notEqual(labels(world)[0], undefined);
    world.assertSafe();
  });

  for (let seed = 1; seed <= SEEDS; seed += 1) {
    test(`restarts nobody out of ignorance, and everybody for a change (seed ${String(seed)})`, async () => {
      const played = await resting(seed);
      const { world, config, deleted } = played;
      const dice = new Dice(seed);
      const told: string[] = [];
      for (let step = 0; step < 12; step += 1) {
        const what = dice.pick(Object.keys(QUIET));
        told.push(what);
        QUIET[what]?.(played);
        await world.advance(dice.pick([10_000, MINUTE_MS, 15 * MINUTE_MS]));
      }
      assert.deepEqual(deleted, [], told.join(', '));
      config.failures.clear();
      config.putKey(1);
      config.put(SETTINGS, { level: 'one' });
      await world.advance(20 * MINUTE_MS);
      assert.deepEqual(deleted, [], `then all is well: ${told.join(', ')}`);
      config.put(SETTINGS, { level: 'two' });
      await world.advance(60 * MINUTE_MS);
      await world.converge();
      const nodes = world.api.list('nodes').length;
      assert.equal(deleted.length, nodes, told.join(', '));
      assert.equal(new Set(labels(world)).size, 1, told.join(', '));
      world.assertSafe();
    });
  }
});
