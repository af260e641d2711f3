/** S16 from outside: what the audit of stages holds against a create or a delete, and what it does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../src/core/model/rollout-record.ts';
import { SimulatedApiServer } from '../../support/simulation/api-server.ts';
import { rawDaemonSet, rawNode, rawPod } from '../../support/simulation/objects.ts';
import { StageAudit } from '../../support/simulation/stage-audit.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const MINUTE_MS = 60_000;
const NODES = ['n1', 'n2', 'n3', 'n4'] as const;
const POLICY = 'canary: {nodes: 1}\nsoak: 10m\nmaxUnavailable: 1';

class AuditWorld {
  readonly clock = new VirtualClock();
  readonly api = new SimulatedApiServer(clusterUid('a'), this.clock);
  readonly reports: string[] = [];
  readonly audit = new StageAudit(this.api, this.clock, (text) => this.reports.push(text));
  readonly uid: string;

  constructor(policy = POLICY) {
    const annotations = { 'rollcall.dev/rollout': policy };
    const set = this.api.createDaemonSet(rawDaemonSet('agent', { annotations }));
    this.uid = set.metadata.uid;
    for (const node of NODES) {
      this.api.put('nodes', rawNode(node));
      this.make(node, 1);
    }
  }

  /** A pod of ours is there, and ready. */
  make(node: string, tag: number): void {
    const owner = { kind: 'DaemonSet', uid: this.uid };
    const name = `p-${node}-${tag}`;
    const made = rawPod({ name, app: 'agent', node }, { owner });
    const spec = { nodeName: node, containers: [{ name: 'main', image: `agent:${tag}` }] };
    this.api.put('pods', { ...made, spec });
    this.ready(node, tag, true);
  }

  ready(node: string, tag: number, isReady: boolean): void {
    const lastTransitionTime = new Date(this.clock.nowMs()).toISOString();
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }];
    const key = { namespace: 'ns', name: `p-${node}-${tag}` };
    this.api.change('pods', key, (pod) => ({ ...pod, status: { phase: 'Running', conditions } }));
  }

  async release(tag: number): Promise<void> {
    this.api.editDaemonSet('agent', (spec) => {
      const template = spec['template'] as { readonly spec: object };
      const containers = [{ name: 'main', image: `agent:${tag}` }];
      return { ...spec, template: { ...template, spec: { ...template.spec, containers } } };
    });
    await this.clock.advance(3 * MINUTE_MS);
  }

  /** A status tells of the DaemonSet as it is. */
  observe(): void {
    this.api.change('daemonsets', { namespace: 'ns', name: 'agent' }, (set) => ({
      ...set,
      status: { observedGeneration: set.metadata.generation },
    }));
  }

  /** A delete of ours takes effect. */
  take(node: string, tag: number): void {
    const pod = this.api.find('pods', `p-${node}-${tag}`, 'ns');
    assert.ok(pod !== undefined);
    this.audit.judge(pod);
    this.api.remove('pods', pod.metadata.name, 'ns');
  }
}

async function withCanary(policy = POLICY): Promise<AuditWorld> {
  const world = new AuditWorld(policy);
  await world.release(2);
  world.take('n1', 1);
  world.make('n1', 2);
  return world;
}

describe('S16: a revision that goes beyond its canary', () => {
  it('is a break before the soak is over, and none after', async () => {
    const early = await withCanary();
    await early.clock.advance(9 * MINUTE_MS);
    early.take('n2', 1);
    assert.equal(early.reports.length, 1);
    assert.match(early.reports[0] ?? '', /^S16: p-n2-1 goes on n2, beyond the canary of 1/);
    const late = await withCanary();
    await late.clock.advance(10 * MINUTE_MS);
    late.take('n2', 1);
    assert.deepEqual(late.reports, []);
    assert.equal(late.audit.judged, 2);
  });

  it('is one if the canary was not ready in between, long enough ago to be seen', async () => {
    const world = await withCanary();
    await world.clock.advance(2 * MINUTE_MS);
    world.ready('n1', 2, false);
    world.ready('n1', 2, true);
    await world.clock.advance(8 * MINUTE_MS);
    world.take('n2', 1);
    assert.equal(world.reports.length, 1);
  });

  it('is none if its soak ended before a status told of another template', async () => {
    const world = await withCanary();
    await world.release(3);
    await world.clock.advance(7 * MINUTE_MS);
    world.api.put('nodes', rawNode('n5'));
    world.make('n5', 2);
    assert.deepEqual(world.reports, []);
    const told = await withCanary();
    await told.release(3);
    told.observe();
    await told.clock.advance(7 * MINUTE_MS);
    told.api.put('nodes', rawNode('n5'));
    told.make('n5', 2);
    assert.match(told.reports[0] ?? '', /p-n5-2 is made on n5/);
  });

  it('is one where a node that joins gets it', async () => {
    const world = await withCanary();
    world.api.put('nodes', rawNode('n5'));
    world.make('n5', 2);
    assert.match(world.reports[0] ?? '', /p-n5-2 is made on n5/);
    world.api.put('nodes', rawNode('n6'));
    world.make('n6', 1);
    assert.equal(world.reports.length, 1);
  });
});

describe('S16: a revision that was left for an older good one', () => {
  async function left(): Promise<AuditWorld> {
    const world = new AuditWorld();
    await world.clock.advance(60 * MINUTE_MS);
    await world.release(2);
    world.take('n1', 1);
    world.make('n1', 2);
    await world.clock.advance(15 * MINUTE_MS);
    for (const node of ['n2', 'n3', 'n4']) {
      world.take(node, 1);
      world.make(node, 2);
    }
    await world.clock.advance(60 * MINUTE_MS);
    world.observe();
    await world.release(1);
    world.observe();
    return world;
  }

  it('is given to no node, while the older one is the template', async () => {
    const world = await left();
    world.take('n1', 2);
    world.make('n1', 1);
    world.take('n2', 2);
    assert.deepEqual(world.reports, []);
    world.make('n2', 2);
    assert.match(world.reports[0] ?? '', /^S16: p-n2-2 is made of agent:2, which was left for/);
  });

  it('has its canary when it comes again', async () => {
    const world = await left();
    for (const node of NODES) {
      world.take(node, 2);
      world.make(node, 1);
    }
    await world.clock.advance(20 * MINUTE_MS);
    world.observe();
    await world.release(2);
    world.observe();
    world.take('n1', 1);
    world.make('n1', 2);
    assert.deepEqual(world.reports, []);
    world.take('n2', 1);
    assert.match(world.reports[0] ?? '', /^S16: p-n2-1 goes on n2, beyond the canary of 1/);
  });
});

describe('S16: a canary that went back after a halt', () => {
  const halt = (world: AuditWorld): void => {
    const rollout = { hash: 'two', breach: { cause: 'Restarts' } };
    world.audit.halts.noteWrite([{ uid: world.uid }, { rollout }]);
  };

  it('is none any more, and another node may be in its place; without a halt it may not', async () => {
    const world = await withCanary();
    halt(world);
    world.take('n1', 2);
    world.make('n1', 1);
    world.take('n2', 1);
    world.make('n2', 2);
    assert.deepEqual(world.reports, []);
    world.take('n3', 1);
    assert.match(world.reports[0] ?? '', /goes on n3, beyond the canary of 1: it is on n2, n3/);
    const other = await withCanary();
    other.take('n1', 2);
    other.make('n1', 1);
    other.take('n2', 1);
    assert.match(other.reports[0] ?? '', /goes on n2, beyond the canary of 1/);
  });
});

describe('S16: a node that another unproven revision was left on', () => {
  const next = async (isServing: boolean): Promise<AuditWorld> => {
    const world = await withCanary();
    if (!isServing) world.ready('n1', 2, false);
    await world.release(3);
    await world.clock.advance(MINUTE_MS);
    world.take('n1', 2);
    world.make('n1', 3);
    world.take('n2', 1);
    return world;
  };

  it('is of the canary, if its pod has served for as long as a view may be old', async () => {
    const { reports } = await next(true);
    assert.match(reports[0] ?? '', /goes on n2, beyond the canary of 1: it is on n1, n2/);
  });

  it('goes beside the canary, if its pod serves nobody', async () => {
    assert.deepEqual((await next(false)).reports, []);
  });
});

describe('S16: a halt', () => {
  /** The pod of a canary goes once its edit was undone to a revision that is halted. */
  const leaves = async (
    policy: string,
    before?: (world: AuditWorld) => Promise<void>,
  ): Promise<readonly string[]> => {
    const world = await withCanary(policy);
    await before?.(world);
    await world.release(3);
    const rollout = { hash: 'three', breach: { cause: 'KnownBad' } };
    world.audit.halts.noteWrite([{ uid: world.uid }, { rollout }]);
    world.audit.halts.recordOf = () => rollout as unknown as RolloutRecord; // as much as is looked at
    await world.clock.advance(3 * MINUTE_MS);
    world.take('n1', 2);
    return world.reports;
  };
  const ROLLBACK = `${POLICY}\nonHalt: rollback`;
  const soak = async ({ clock }: AuditWorld): Promise<void> => {
    await clock.advance(10 * MINUTE_MS);
  };

  it('lets no pod go, but what nothing proved, in a rollback', async () => {
    assert.match((await leaves(POLICY))[0] ?? '', /goes as number 1, \d+ ms after a breach/);
    assert.deepEqual(await leaves(ROLLBACK), []);
  });

  it('lets a canary go in a rollback of which no run may have seen that it soaked, and none once it went beyond', async () => {
    assert.deepEqual(await leaves(ROLLBACK, soak), []);
    const reports = await leaves(ROLLBACK, async (world) => {
      await soak(world);
      world.take('n2', 1);
      world.make('n2', 2);
    });
    assert.match(reports[0] ?? '', /goes as number 1, \d+ ms after a breach/);
  });
});

describe('S16: a pause', () => {
  it('stops all but one batch that was under way', async () => {
    const world = await withCanary();
    await world.clock.advance(10 * MINUTE_MS);
    world.audit.halts.notePause(world.uid);
    world.take('n2', 1);
    assert.deepEqual(world.reports, []);
    world.take('n3', 1);
    assert.match(world.reports[0] ?? '', /goes as number 2/);
    world.audit.halts.noteResume(world.uid);
    world.take('n4', 1);
    assert.equal(world.reports.length, 1);
  });
});
