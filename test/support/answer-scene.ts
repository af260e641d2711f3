/**
 * A cluster in the worst hour, in the stores of a command: each state by what it takes to come there (issue 39, B.3).
 *
 * One DaemonSet `system/agents` of cluster `a` on three nodes; whatever is stored real runs wrote, and its clock is theirs.
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FleetRecord } from '../../src/core/fleet/rollout/fleet-record.ts';
import type { Stamp } from '../../src/core/model/position.ts';
import type { DaemonSetRef } from '../../src/ports/stores/view-store.ts';
import { wholeClusterRecord } from './fleet-rollout-store-suite.ts';
import { breachOf } from './rollout-records.ts';
import { CommandWorld, type CommandStores } from './command-world.ts';
import { fleetDocument } from './fleet-samples.ts';
import { fleetRecord } from './fleet-records.ts';
import { ReconcileWorld, type WorldOptions } from './reconcile-world.ts';

export const MINUTE_MS = 60_000;
const NOTE = { by: 'ann', why: 'INC-1', atMs: 0 };

/** What stands in the stores when somebody asks. */
export class Scene {
  readonly runs: ReconcileWorld;
  readonly commands = new CommandWorld();

  constructor(begin: Partial<WorldOptions> = {}) {
    this.runs = new ReconcileWorld({ nodes: 3, ...begin });
  }

  get stores(): CommandStores {
    return this.commands.stores();
  }

  get nowMs(): number {
    return this.runs.clock.nowMs();
  }

  static async make(state: State): Promise<Scene> {
    const scene = new Scene(BEGINS[state]);
    if (state === 'first release') scene.runs.idleNodes.add('node-0003');
    const authentication = { kind: 'bearer', token: 't' } as const;
    scene.runs.register({ authentication, takeoverProbedAtMs: 0 });
    await scene.runs.settle();
    scene.commands.adopt(scene.runs);
    await scene.walk();
    await storeFleet(scene.stores, scene.nowMs);
    await STATES[state](scene);
    await scene.commands.clock.advance(scene.nowMs - scene.commands.clock.nowMs());
    return scene;
  }

  /** The DaemonSet's items. */
  async ref(): Promise<DaemonSetRef> {
    const { clusterUid } = this.runs.registration;
    const name = { namespace: 'system', name: 'agents' };
    const found = await this.stores.view.readName(clusterUid, name);
    return { clusterUid, uid: found?.uid ?? assert.fail() };
  }

  /** `resync` begins a walk. */
  async walk(): Promise<void> {
    const { view } = this.stores;
    const version = (await view.readWalk())?.version ?? 0;
    const walk = { fromMs: 0, untilMs: this.nowMs, isOver: true, owed: [], failed: [] };
    await view.writeWalk({ version, ...walk });
  }

  /** Every pod is deleted; the watcher tells, and no run comes. */
  async losePods(): Promise<void> {
    const { cluster, mirror } = this.runs;
    for (const { metadata } of this.runs.pods) {
      cluster.remove('pods', metadata.name, metadata.namespace);
    }
    await mirror.sync();
  }

  /** Time passes in which `resync` walks, and nothing else happens. */
  async wait(minutes: number): Promise<void> {
    await this.runs.clock.advance(minutes * MINUTE_MS);
    await this.walk();
  }
}

/** A fleet that is rolled out unless told otherwise, and whose next step is due in an hour. */
async function storeFleet(
  { fleets, rollouts }: CommandStores,
  nowMs: number,
  changes: Partial<FleetRecord> = {},
): Promise<void> {
  const { namespace = 'monitoring', name = 'agent' } = changes;
  const key = { namespace, name, uid: 'uid-1', generation: 2 };
  const head = { ...key, appliedAtMs: nowMs, appliedBy: 'ann', contentHash: 'c', history: [] };
  await fleets.writeFleet({ ...head, document: fleetDocument() }, undefined);
  const { documentId = '' } = (await fleets.readFleet(key))?.head ?? {};
  const none = { id: '', count: 0 };
  const stages = fleetRecord().stages.map((stage) => ({ ...stage, members: none }));
  const release = { ...fleetRecord().release, documentId };
  const done = { stages, release, stage: 3, gate: { kind: 'done' } as const };
  await rollouts.writeRecord(
    fleetRecord({ ...done, dueAtMs: nowMs + 60 * MINUTE_MS, ...changes, version: 0 }),
  );
}

/** The states, each by what it takes to come there. */
const STATES = {
  well: () => Promise.resolve(),
  stopped: async (scene) => {
    const functions = ['reconcile', 'fleet'];
    await scene.stores.freezes.writeStop({ ...NOTE, atMs: scene.nowMs, functions });
    await scene.losePods();
    await scene.wait(1);
  },
  frozen: async (scene) => {
    const freeze = { all: { ...NOTE, atMs: scene.nowMs }, daemonSets: {} };
    for (const { freezes } of [scene.stores, scene.runs]) freezes.seed(freeze);
    await scene.losePods();
    await scene.runs.run();
    await scene.runs.mirror.sync();
    await scene.wait(1);
  },
  'watcher gone': async (scene) => {
    await scene.wait(20);
  },
  'watcher stood by': async (scene) => {
    await scene.losePods();
    const watcherStandsBy = { holder: 'laptop', sinceMs: scene.nowMs };
    const incompleteReason = 'watcher-stands-by';
    await scene.runs.mirror.syncMeta({ watcherStandsBy, isComplete: false, incompleteReason });
    await scene.wait(1);
  },
  'reconcile behind': async (scene) => {
    await scene.losePods();
    await scene.wait(3);
  },
  'all functions behind': async (scene) => {
    await scene.losePods();
    await scene.runs.clock.advance(6 * MINUTE_MS);
  },
  'API server gone': async (scene) => {
    const { clusterUid } = scene.runs.registration;
    const open = { untilMs: scene.nowMs + 30_000, delayMs: 30_000 };
    const version = (await scene.stores.view.readBreaker(clusterUid))?.version ?? 0;
    const breaker = { version, failures: 0, openings: 5, open };
    await scene.losePods();
    assert.equal(await scene.stores.view.writeBreaker(clusterUid, breaker), 'written');
    assert.equal((await scene.runs.run()).kind, 'deferred');
    await scene.wait(1);
  },
  'first release': () => Promise.resolve(),
  'nothing eligible': async (scene) => {
    const { cluster } = scene.runs;
    cluster.change('daemonsets', { namespace: 'system', name: 'agents' }, (set) => ({
      ...set,
      metadata: { ...set.metadata, generation: 2 },
      spec: withSelector(set['spec'] as JsonObject, { disk: 'ssd' }),
    }));
    await scene.runs.settle();
  },
  halted: async (scene) => {
    const ref = await scene.ref();
    const state = await scene.stores.view.readState(ref);
    assert.ok(state?.rollout !== undefined);
    const rollout = { ...state.rollout, breach: breachOf({ atMs: scene.nowMs }) };
    assert.equal(await scene.stores.view.writeState(ref, { ...state, rollout }), 'written');
  },
  'object too large': async (scene) => {
    const ref = await scene.ref();
    const { stamp, object } = (await scene.stores.view.readDaemonSet(ref)) ?? assert.fail();
    assert.ok(object !== null);
    const outline = { bytes: 170_000, bytesMax: 153_600, object };
    const next = `${stamp}z` as Stamp;
    const item = { stamp: next, object: null, opaqueReason: 'too-large', outline };
    assert.equal(await scene.stores.view.writeDaemonSet(ref, item), 'written');
  },
  'held by a fleet': async (scene) => {
    const key = { namespace: 'system', name: 'agents' };
    const gate = { kind: 'approval', stepIndex: 1 } as const;
    await storeFleet(scene.stores, scene.nowMs, { ...key, stage: 0, gate });
    const record = { ...wholeClusterRecord('a'), place: 0 };
    await scene.stores.rollouts.writeClusterRecord({ ...key, uid: 'uid-1' }, record);
  },
} as const satisfies Readonly<Record<string, (scene: Scene) => Promise<void>>>;

function withSelector(spec: JsonObject, nodeSelector: JsonObject): JsonObject {
  const template = spec['template'] as JsonObject;
  const pod = { ...(template['spec'] as JsonObject), nodeSelector };
  return { ...spec, template: { ...template, spec: pod } };
}

/** What the world begins with, where that is another than three nodes and a plain DaemonSet. */
const BEGINS: Readonly<Partial<Record<string, Partial<WorldOptions>>>> = {
  halted: {
    daemonSet: (set) => ({
      ...set,
      metadata: { ...set.metadata, annotations: { 'rollcall.dev/rollout': 'soak: 10m' } },
    }),
  },
};

export type State = keyof typeof STATES;
