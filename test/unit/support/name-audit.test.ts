/** S13 from outside: which pods a sender must know of, and when the view has told of one (protocol 20). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid, nodeName, uid } from '../../../src/core/model/identifiers.ts';
import type { CreatePodEffect } from '../../../src/core/model/effects.ts';
import { emptyState } from '../../../src/core/model/state.ts';
import { projectLivePod } from '../../../src/core/projections/project.ts';
import type { SliceRef } from '../../../src/ports/stores/view-store.ts';
import { SimulatedApiServer } from '../../support/simulation/api-server.ts';
import { NameAudit } from '../../support/simulation/name-audit.ts';
import { rawPod } from '../../support/simulation/objects.ts';
import { metaOf, stampAt } from '../../support/store-suite.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const MINUTE_MS = 60_000;
const CLUSTER = 'a';
const REF: SliceRef = { clusterUid: clusterUid(CLUSTER), set: `pods/${uid('u')}`, index: 0 };
const EFFECT: CreatePodEffect = {
  kind: 'create-pod',
  namespace: 'ns',
  name: 'agent-1',
  node: nodeName('n1'),
  body: {},
};

/** A pod came, and is gone again at the first second. */
class AuditWorld {
  readonly clock = new VirtualClock();
  readonly reports: string[] = [];
  readonly #api = new SimulatedApiServer(clusterUid(CLUSTER), this.clock);
  readonly #audit = new NameAudit((text) => this.reports.push(text));
  readonly #pod;

  constructor() {
    this.#api.subscribe((commit) => {
      if (commit?.kind === 'pods') this.#audit.noteCommit(commit, this.clock.monotonicMs());
    });
    const made = rawPod({ name: 'agent-1', app: 'agent', node: 'n1' });
    this.#pod = projectLivePod(this.#api.put('pods', made));
  }

  async begin(): Promise<this> {
    await this.clock.advance(1000);
    this.#api.remove('pods', 'agent-1', 'ns');
    return this;
  }

  /** `ingest` stores the slice of message `seq`. */
  storeSlice(seq: number): void {
    const objects = [{ object: this.#pod, hash: 1 }];
    this.#audit.noteSlice(REF, { stamp: stampAt(seq), objects });
  }

  /** `ingest` stores META of message `seq`. */
  storeMeta(seq: number, cluster = CLUSTER): void {
    this.#audit.noteMeta({ ...metaOf(cluster), seq }, this.clock.monotonicMs());
  }

  /** A run stores what was answered. */
  storeAnswer(): void {
    const { name, uid: podUid, resourceVersion, targetNode } = this.#pod;
    assert.ok(targetNode !== undefined);
    const answer = { uid: podUid, resourceVersion };
    const times = { recordedAtMs: 0, startsByMs: 0 };
    const intents = [{ kind: 'create', node: targetNode, name, ...times, answer } as const];
    this.#audit.noteState({ ...emptyState(0), intents }, this.clock.monotonicMs());
  }

  /** The name is asked for by who reads META now, and sends that much later; `before`: what happens in between. */
  async ask(laterMs = 1, before?: () => void): Promise<readonly string[]> {
    await this.clock.advance(1);
    const readAtMs = this.clock.monotonicMs();
    before?.();
    await this.clock.advance(laterMs);
    this.#audit.check(EFFECT, { api: this.#api, readAtMs, nowMs: this.clock.monotonicMs() });
    return this.reports.splice(0);
  }
}

describe('S13: a name is asked for again', () => {
  it('is a break once META covers the slice that told of its pod, for ten minutes', async () => {
    const world = await new AuditWorld().begin();
    world.storeSlice(7);
    world.storeMeta(7);
    assert.match((await world.ask()).join(), /^S13: agent-1 again, 2 ms after uid-\d+ went$/);
    assert.deepEqual(await world.ask(10 * MINUTE_MS), []);
  });

  it('is none while that slice is ahead of META: its message is not applied yet', async () => {
    const world = await new AuditWorld().begin();
    world.storeMeta(6);
    world.storeSlice(7);
    assert.deepEqual(await world.ask(), []);
    world.storeMeta(6);
    world.storeMeta(9, 'another');
    assert.deepEqual(await world.ask(), []);
    world.storeMeta(8);
    assert.equal((await world.ask()).length, 1);
  });

  it('is none of who read before META told, and sends after it', async () => {
    const world = await new AuditWorld().begin();
    world.storeSlice(7);
    const asked = await world.ask(10, () => {
      world.storeMeta(7);
    });
    assert.deepEqual(asked, []);
    assert.equal((await world.ask()).length, 1);
  });

  it('is a break as soon as the state has the pod as answered, whatever META covers', async () => {
    const world = await new AuditWorld().begin();
    world.storeSlice(7);
    world.storeAnswer();
    assert.equal((await world.ask()).length, 1);
  });
});
