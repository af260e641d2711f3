/** S16 from outside, of copies: what the audit of copies holds against a pod, a write and a rollback, and what it does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import {
  clusterUid,
  nodeName,
  resourceVersion as opaqueVersion,
  uid as toUid,
} from '../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../src/core/model/rollout-record.ts';
import { SimulatedApiServer } from '../../support/simulation/api-server.ts';
import { CopyAudit } from '../../support/simulation/copy-audit.ts';
import { rawDaemonSet, rawNode, rawPod } from '../../support/simulation/objects.ts';

const MINUTE_MS = 60_000;
const POLICY = 'canary: {nodes: 1}\nonHalt: rollback';
const specOf = (tag: number) => ({ containers: [{ name: 'main', image: `agent:${tag}` }] });

class AuditWorld {
  readonly clock = new VirtualClock();
  readonly api = new SimulatedApiServer(clusterUid('a'), this.clock);
  readonly reports: string[] = [];
  readonly audit = new CopyAudit(this.api, this.clock, (text) => this.reports.push(text));
  readonly uid: string;

  constructor() {
    const annotations = { 'rollcall.dev/rollout': POLICY };
    const set = this.api.createDaemonSet(rawDaemonSet('agent', { annotations }));
    this.uid = set.metadata.uid;
    for (const node of ['n1', 'n2']) this.api.put('nodes', rawNode(node));
    this.audit.isGuarded = true;
  }

  async release(tag: number, waitMs = 3 * MINUTE_MS): Promise<void> {
    this.api.editDaemonSet('agent', (spec) => ({
      ...spec,
      template: { metadata: {}, spec: specOf(tag) },
    }));
    await this.clock.advance(waitMs);
  }

  /** A status tells of the DaemonSet as it is, and some minutes pass. */
  async observe(): Promise<void> {
    this.api.change('daemonsets', { namespace: 'ns', name: 'agent' }, (set) => ({
      ...set,
      status: { observedGeneration: set.metadata.generation },
    }));
    await this.clock.advance(3 * MINUTE_MS);
  }

  copy(slot: string, tag: number): void {
    const metadata = {
      name: `agent-rollcall-proven-${slot}`,
      namespace: 'ns',
      labels: { 'rollcall.dev/revision': `proven-${slot}` },
      annotations: { 'rollcall.dev/revision-hash': `h${tag}` },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: this.uid }],
    };
    this.api.put('podtemplates', { metadata, template: { spec: specOf(tag) } });
  }

  #pod(node: string, tag: number, marker?: string) {
    const owner = { kind: 'DaemonSet', uid: this.uid };
    const made = rawPod({ name: `p-${node}-${tag}`, app: 'agent', node }, { owner });
    const labels = {
      app: 'agent',
      ...(marker === undefined ? {} : { 'rollcall.dev/revision': marker }),
    };
    return {
      ...made,
      metadata: { ...made.metadata, labels },
      spec: { nodeName: node, ...specOf(tag) },
    };
  }

  /** A create of ours arrives. */
  create(tag: number, marker?: string): void {
    const body = this.#pod('n1', tag, marker) as unknown as JsonObject; // raw JSON
    this.audit.judge({
      kind: 'create-pod',
      node: nodeName('n1'),
      namespace: 'ns',
      name: 'p',
      body,
    });
  }

  stands(node: string, tag: number): void {
    this.api.put('pods', this.#pod(node, tag));
  }

  /** A pod is deleted. */
  take(node: string, tag: number, by: 'us' | 'others'): void {
    const name = `p-${node}-${tag}`;
    const { uid, resourceVersion } = this.api.find('pods', name, 'ns')?.metadata ?? {};
    assert.ok(uid !== undefined && resourceVersion !== undefined);
    const precondition = { uid: toUid(uid), resourceVersion: opaqueVersion(resourceVersion) };
    if (by === 'us')
      this.audit.judge({ kind: 'delete-pod', namespace: 'ns', name, ...precondition });
    this.api.remove('pods', name, 'ns');
  }

  record(record: Partial<RolloutRecord>): void {
    this.audit.recordOf = () => record as RolloutRecord; // as much of it as is looked at
  }
}

const former = { hash: 'h1', provenAtMs: 0, isBaseline: false };

async function inCanary(): Promise<AuditWorld> {
  const world = new AuditWorld();
  world.copy('a', 1);
  await world.release(2);
  world.record({ hash: 'h2', former });
  return world;
}

describe('S16: a pod of a former revision', () => {
  it('is a break where it does not say which copy it is of, and none where it does', async () => {
    const world = await inCanary();
    world.create(1);
    assert.deepEqual(world.reports, [], 'no run may have heard of the edit');
    await world.observe();
    world.create(1, 'proven-a');
    world.create(2);
    assert.deepEqual(world.reports, []);
    world.create(1);
    assert.match(world.reports[0] ?? '', /^S16: p is of agent:1, and says nothing of its copy/);
  });

  it('is none of the template that was until a moment ago', async () => {
    const world = new AuditWorld();
    world.copy('a', 1);
    await world.release(2, MINUTE_MS);
    world.create(1);
    assert.deepEqual(world.reports, []);
  });
});

describe('S16: a copy', () => {
  it('is a break of what is not the template', async () => {
    const world = await inCanary();
    world.copy('b', 1);
    assert.match(world.reports[0] ?? '', /proven-b is a copy of agent:1, not of the template/);
  });

  it('may be of what was the template a moment ago where no admission is', async () => {
    const world = new AuditWorld();
    world.audit.isGuarded = false;
    await world.release(2, MINUTE_MS);
    world.copy('a', 1);
    assert.deepEqual(world.reports, []);
    await world.clock.advance(2 * MINUTE_MS);
    world.copy('b', 1);
    assert.equal(world.reports.length, 1);
  });

  it('is a break over the only one of the former revision', async () => {
    const world = await inCanary();
    world.copy('b', 2);
    assert.deepEqual(world.reports, []);
    world.copy('a', 2);
    assert.match(
      world.reports[0] ?? '',
      /proven-a of h1, to which a breach leads, is written over/,
    );
  });
});

describe('S16: a rollback under admission', () => {
  const breach = { cause: 'CrashLoop' } as unknown as NonNullable<RolloutRecord['breach']>;

  it('is a break where a node keeps the halted revision, or nothing, for twenty minutes', async () => {
    const world = await inCanary();
    world.record({ hash: 'h2', former, breach });
    world.stands('n1', 1);
    world.audit.check();
    await world.clock.advance(19 * MINUTE_MS);
    world.audit.check();
    assert.deepEqual(world.reports, []);
    await world.clock.advance(MINUTE_MS);
    world.audit.check();
    assert.match(world.reports[0] ?? '', /rollback to h1 does not end on n2/);
  });

  it('is none once all are back, and begins anew when a node changes', async () => {
    const world = await inCanary();
    world.record({ hash: 'h2', former, breach });
    world.audit.check();
    await world.clock.advance(19 * MINUTE_MS);
    world.api.put('nodes', rawNode('n2'));
    await world.clock.advance(19 * MINUTE_MS);
    world.audit.check();
    world.stands('n1', 1);
    world.stands('n2', 1);
    await world.clock.advance(MINUTE_MS);
    world.audit.check();
    assert.deepEqual(world.reports, []);
    assert.equal(world.audit.judged.rollbacks, 1);
  });

  it('begins anew when another one takes a pod, not when we do, and while nobody is heard', async () => {
    const world = await inCanary();
    world.record({ hash: 'h2', former, breach });
    world.stands('n1', 1);
    world.stands('n2', 1);
    world.audit.check();
    await world.clock.advance(19 * MINUTE_MS);
    world.take('n1', 1, 'others');
    await world.clock.advance(19 * MINUTE_MS);
    world.audit.check();
    world.audit.isHeard = () => false;
    world.stands('n3', 1);
    world.audit.isHeard = () => true;
    await world.clock.advance(19 * MINUTE_MS);
    world.take('n2', 1, 'us');
    world.audit.check();
    assert.deepEqual(world.reports, []);
    await world.clock.advance(MINUTE_MS);
    world.audit.check();
    assert.match(world.reports[0] ?? '', /rollback to h1 does not end on n1, n2/);
  });
});
