/** S5 from outside: what the audit of nodes holds against a create, and what it does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid, nodeName } from '../../../src/core/model/identifiers.ts';
import type { CreatePodEffect } from '../../../src/core/model/effects.ts';
import { SimulatedApiServer } from '../../support/simulation/api-server.ts';
import { NodeAudit } from '../../support/simulation/node-audit.ts';
import { rawNode } from '../../support/simulation/objects.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const MINUTE_MS = 60_000;

class AuditWorld {
  readonly clock = new VirtualClock();
  readonly api = new SimulatedApiServer(clusterUid('a'), this.clock);
  readonly reports: string[] = [];
  readonly #audit = new NodeAudit((text) => this.reports.push(text));

  constructor() {
    this.api.subscribe((commit) => {
      const nowMs = this.clock.monotonicMs();
      if (commit === undefined) this.#audit.noteRestore(this.api, nowMs);
      else if (commit.kind === 'nodes') this.#audit.noteCommit(commit, nowMs);
    });
    this.api.put('nodes', rawNode('n1'));
  }

  /** A request of ours for a pod on a node. */
  create(node = 'n1'): void {
    const effect: CreatePodEffect = {
      kind: 'create-pod',
      namespace: 'ns',
      name: 'agent-1',
      node: nodeName(node),
      body: {},
    };
    this.#audit.check(effect, this.clock.monotonicMs());
  }
}

describe('S5: a pod is asked for on a node that is gone', () => {
  it('is no break while a view may still show the node (protocol 1)', async () => {
    const world = new AuditWorld();
    world.create();
    world.api.remove('nodes', 'n1');
    await world.clock.advance(16 * MINUTE_MS);
    world.create();
    assert.deepEqual(world.reports, []);
  });

  it('is one once no view may, and for a node that never was', async () => {
    const world = new AuditWorld();
    world.api.remove('nodes', 'n1');
    await world.clock.advance(18 * MINUTE_MS);
    world.create();
    world.create('elsewhere');
    assert.match(world.reports.join(), /agent-1 asked for on n1, .*agent-1 asked for on elsewhere/);
  });

  it('is none when the node came back, by its user or with a restored etcd', async () => {
    const world = new AuditWorld();
    const backup = world.api.backup();
    world.api.remove('nodes', 'n1');
    await world.clock.advance(60 * MINUTE_MS);
    world.api.restore(backup);
    world.create();
    world.api.remove('nodes', 'n1');
    world.api.put('nodes', rawNode('n1'));
    world.create();
    assert.deepEqual(world.reports, []);
  });

  it('counts from the restore that took the node away', async () => {
    const world = new AuditWorld();
    const backup = world.api.backup();
    world.api.put('nodes', rawNode('n2'));
    await world.clock.advance(60 * MINUTE_MS);
    world.api.restore(backup);
    world.create('n2');
    assert.deepEqual(world.reports, []);
    await world.clock.advance(18 * MINUTE_MS);
    world.create('n2');
    assert.match(world.reports.join(), /on n2, which has been gone for 1080000 ms/);
  });
});
