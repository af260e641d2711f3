/** S14 from outside: what the audit of shrinks holds against a delete, and what it does not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import { SimulatedApiServer } from '../../support/simulation/api-server.ts';
import { ShrinkAudit } from '../../support/simulation/removal-audit.ts';
import { rawDaemonSet, rawNode, rawPod } from '../../support/simulation/objects.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const MINUTE_MS = 60_000;
const LABELS = { disk: 'ssd' };

class AuditWorld {
  readonly clock = new VirtualClock();
  readonly api = new SimulatedApiServer(clusterUid('a'), this.clock);
  readonly reports: string[] = [];
  readonly audit = new ShrinkAudit(this.api, this.clock, (text) => this.reports.push(text));

  constructor(nodes: number) {
    const set = this.api.createDaemonSet(rawDaemonSet('agent', { nodeSelector: LABELS }));
    const owner = { kind: 'DaemonSet', uid: set.metadata.uid };
    for (let index = 0; index < nodes; index += 1) {
      const node = `n${index}`;
      this.api.put('nodes', rawNode(node, { labels: LABELS }));
      this.api.put('pods', rawPod({ name: `p${index}`, app: 'agent', node }, { owner }));
    }
  }

  /** A delete of ours takes effect on a node that has lost its label. */
  take(index: number): void {
    this.api.put('nodes', rawNode(`n${index}`));
    const pod = this.api.find('pods', `p${index}`, 'ns');
    assert.ok(pod !== undefined);
    this.audit.judge(pod);
    this.api.remove('pods', `p${index}`, 'ns');
  }

  edit(change: (labels: Record<string, string>) => Record<string, string>): void {
    const key = { namespace: 'ns', name: 'agent' };
    this.api.change('daemonsets', key, (set) => {
      const { annotations = {} } = set.metadata;
      return { ...set, metadata: { ...set.metadata, annotations: change({ ...annotations }) } };
    });
  }
}

async function rested(nodes = 10): Promise<AuditWorld> {
  const world = new AuditWorld(nodes);
  await world.clock.advance(18 * MINUTE_MS);
  return world;
}

describe('S14: more than the share goes within ten minutes', () => {
  it('is one break, at the first that is too many', async () => {
    const world = await rested();
    world.take(0);
    world.take(1);
    assert.deepEqual(world.reports, []);
    world.take(2);
    assert.deepEqual(world.reports, ['S14: p2 goes as number 3 of 10 within ten minutes']);
    assert.equal(world.audit.judged, 3);
  });

  it('is none where ten minutes lie between, or a node has its label back', async () => {
    const slow = await rested(30);
    for (const index of [0, 1, 2, 3, 4, 5]) slow.take(index);
    await slow.clock.advance(11 * MINUTE_MS);
    slow.take(6);
    assert.deepEqual(slow.reports, []);
    const back = await rested();
    back.take(0);
    back.take(1);
    back.api.put('nodes', rawNode('n0', { labels: LABELS }));
    back.take(2);
    assert.deepEqual(back.reports, []);
  });

  it('is none of few pods, of what an old view may show, or once it was confirmed', async () => {
    const few = await rested(9);
    for (const index of [0, 1, 2, 3]) few.take(index);
    const young = new AuditWorld(10);
    for (const index of [0, 1, 2, 3]) young.take(index);
    const confirmed = await rested();
    confirmed.edit((annotations) => ({ ...annotations, 'rollcall.dev/confirm-removal': 'x' }));
    for (const index of [0, 1, 2, 3]) confirmed.take(index);
    assert.deepEqual([...few.reports, ...young.reports, ...confirmed.reports], []);
    assert.equal(few.audit.judged + young.audit.judged + confirmed.audit.judged, 0);
  });
});
