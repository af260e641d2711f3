/** S3 from outside: what the audit of the simulation holds against a delete, and what it does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import { SimulatedApiServer } from '../../support/simulation/api-server.ts';
import { AvailabilityAudit } from '../../support/simulation/availability-audit.ts';
import { rawNode } from '../../support/simulation/objects.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const SURGE = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
const NO_SURGE = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } };

class AuditWorld {
  readonly clock = new VirtualClock();
  readonly api = new SimulatedApiServer(clusterUid('a'), this.clock);
  readonly reports: string[] = [];
  readonly audit = new AvailabilityAudit(this.api, this.clock, (text) => this.reports.push(text));
  readonly #owner: string;

  constructor(updateStrategy: object = SURGE, nodes: readonly string[] = ['n1']) {
    for (const node of nodes) this.api.put('nodes', rawNode(node, { labels: {} }));
    const spec = { updateStrategy, template: { spec: { containers: [] } } };
    this.#owner = this.api.createDaemonSet({ metadata: { name: 'agent' }, spec }).metadata.uid;
  }

  /** A pod of the DaemonSet, on its only node unless told. */
  pod(name: string, isReady = true, node = 'n1'): void {
    const ownerReferences = [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'agent',
        uid: this.#owner,
        controller: true,
      },
    ];
    const status = isReady ? 'True' : 'False';
    const metadata: { readonly name: string } & Record<string, unknown> = {
      namespace: 'ns',
      name,
      ownerReferences,
    };
    this.api.put('pods', {
      metadata,
      spec: { nodeName: node },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status }] },
    });
  }

  /** Somebody else's delete. */
  end(name: string): void {
    this.api.remove('pods', name, 'ns');
  }

  /** A delete of ours. */
  delete(name: string): void {
    const victim = this.api.find('pods', name, 'ns');
    assert.ok(victim !== undefined);
    this.audit.judge(victim);
    this.end(name);
  }
}

describe('S3: an available pod that goes because another one replaces it', () => {
  it('is no break if somebody else ended that one after it could be read live (protocol 7)', () => {
    const world = new AuditWorld();
    world.pod('old');
    world.pod('new');
    world.end('new');
    world.delete('old');
    assert.deepEqual(world.reports, []);
    assert.equal(world.audit.judged, 1);
  });

  it('is one if we ended that one as well, or it was gone for longer than a delete is under way', async () => {
    const world = new AuditWorld();
    world.pod('old');
    world.pod('new');
    world.delete('new');
    world.delete('old');
    assert.match(world.reports.join(), /old on n1 deleted as number 1 of 0/);
    const late = new AuditWorld();
    late.pod('old');
    late.pod('new');
    late.end('new');
    await late.clock.advance(3 * 60_000);
    late.delete('old');
    assert.match(late.reports.join(), /old on n1 deleted as number 1 of 0/);
  });

  it('is one if that one never was available, and a view may only know surge', () => {
    const world = new AuditWorld();
    world.pod('old');
    world.pod('new', false);
    world.delete('old');
    assert.match(world.reports.join(), /old deleted though new never was available/);
  });

  it('is none if surge was just taken away: the younger of two is a duplicate, the older is not', async () => {
    for (const [first, second, reports] of [
      ['stays', 'goes', 0],
      ['goes', 'stays', 1],
    ] as const) {
      const world = new AuditWorld();
      world.pod(first, first === 'goes');
      await world.clock.advance(2000);
      world.pod(second, second === 'goes');
      world.api.editDaemonSet('agent', (spec) => ({ ...spec, updateStrategy: NO_SURGE }));
      world.delete('goes');
      assert.equal(world.reports.length, reports, `${first} is older`);
    }
  });
});

describe('S3: what was otherwise excuses a delete only while a view may show it, or a live read did', () => {
  const MINUTE_MS = 60_000;
  const ON_DELETE = { type: 'OnDelete' };

  it('an hour after its node was not wanted, a pod is judged like any other', async () => {
    const world = new AuditWorld();
    world.pod('old');
    await world.clock.advance(1000);
    world.api.put('nodes', rawNode('n1', { taints: [{ key: 'full', effect: 'NoSchedule' }] }));
    world.api.put('nodes', rawNode('n1'));
    await world.clock.advance(60 * MINUTE_MS);
    world.delete('old');
    assert.match(world.reports.join(), /old on n1 deleted as number 1 of 0/);
    assert.equal(world.audit.judged, 1);
  });

  it('a minute after it is not: the node may have been read before', async () => {
    const world = new AuditWorld();
    world.pod('old');
    await world.clock.advance(1000);
    world.api.put('nodes', rawNode('n1', { taints: [{ key: 'full', effect: 'NoSchedule' }] }));
    world.api.put('nodes', rawNode('n1'));
    await world.clock.advance(MINUTE_MS);
    world.delete('old');
    assert.deepEqual([world.reports, world.audit.judged], [[], 0]);
  });

  it('an hour after its own delete, a node without a pod still counts', async () => {
    const world = new AuditWorld(NO_SURGE, ['n1', 'n2']);
    world.pod('one');
    world.pod('two', true, 'n2');
    world.delete('one');
    await world.clock.advance(60 * MINUTE_MS);
    world.delete('two');
    assert.match(world.reports.join(), /two on n2 deleted as number 2 of 1/);
  });

  for (const [minutes, reports] of [
    [3, 0],
    [4, 1],
  ] as const) {
    it(`a node that lost its pod by itself counts after ninety seconds and a run (${minutes} minutes: ${reports})`, async () => {
      const world = new AuditWorld(NO_SURGE, ['n1', 'n2']);
      world.pod('one');
      world.pod('two', true, 'n2');
      world.end('one');
      await world.clock.advance(minutes * MINUTE_MS);
      world.delete('two');
      assert.equal(world.reports.length, reports);
    });

    it(`where machines disagree about the hour it counts later (${minutes} minutes: 0)`, async () => {
      const world = new AuditWorld(NO_SURGE, ['n1', 'n2']);
      world.audit.areClocksTrue = () => false;
      world.pod('one');
      world.pod('two', true, 'n2');
      world.end('one');
      await world.clock.advance(minutes * MINUTE_MS);
      world.delete('two');
      assert.deepEqual(world.reports, []);
    });
  }

  it('a node that never had a pod counts once nodes must have been heard of', async () => {
    for (const [minutes, reports] of [
      [16, 0],
      [18, 1],
    ] as const) {
      const world = new AuditWorld(NO_SURGE, ['n1', 'n2']);
      world.pod('one');
      await world.clock.advance(minutes * MINUTE_MS);
      world.delete('one');
      assert.equal(world.reports.length, reports, `${minutes} minutes`);
    }
  });

  for (const [minutes, reports] of [
    [1, 0],
    [5, 1],
  ] as const) {
    it(`a larger budget, or a pod beside it that was ready, of ${minutes} minutes ago: ${reports}`, async () => {
      const world = new AuditWorld(NO_SURGE);
      world.pod('one');
      world.api.editDaemonSet('agent', (spec) => ({ ...spec, updateStrategy: ON_DELETE }));
      await world.clock.advance(minutes * MINUTE_MS);
      world.delete('one');
      assert.equal(world.reports.length, reports, 'budget');
      const surging = new AuditWorld();
      surging.pod('old');
      surging.pod('new');
      surging.pod('new', false);
      await surging.clock.advance(minutes * MINUTE_MS);
      surging.delete('old');
      assert.equal(surging.reports.length, reports, 'successor');
    });
  }
});
