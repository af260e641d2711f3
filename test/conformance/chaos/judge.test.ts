/**
 * The judge of the chaos suite can say no: each promise broken once, in a history made by hand.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  DaemonSetRecord,
  ObservedRecord,
  PodRecord,
} from '../control-plane/observed-records.ts';
import type { ObservedEvent } from '../control-plane/observer.ts';
import { PLACES } from './cast.ts';
import { judgeHistory, type OwnDeletion, type Violation } from './judge.ts';

const LONG_MS = 1_000_000;
const LATENESS = { effectMs: 20_000, viewMs: 60_000 };

class Story {
  readonly events: ObservedEvent[] = [];
  readonly own: OwnDeletion[] = [];
  #atMs = 0;

  constructor(nodes: readonly string[], sets: readonly string[]) {
    for (const name of nodes) this.#note(node(name));
    for (const name of sets) this.#note(daemonSet(name));
    this.wait(LONG_MS);
  }

  wait(durationMs: number): this {
    this.#atMs += durationMs;
    return this;
  }

  pod(pod: PodRecord, type: ObservedEvent['type'] = 'MODIFIED'): this {
    return this.#note(pod, type);
  }

  set(record: ObservedRecord, type: ObservedEvent['type'] = 'MODIFIED'): this {
    return this.#note(record, type);
  }

  deletedByUs(pod: PodRecord, of: Partial<OwnDeletion> = {}): this {
    const { name, uid, resourceVersion } = pod;
    this.own.push({ name, uid, resourceVersion, atMs: this.#atMs, ...of });
    return this.#note({ ...pod, isDeleting: true });
  }

  judge(): readonly Violation[] {
    const { events, own } = this;
    const toMs = this.#atMs;
    return judgeHistory({
      history: { fromMs: 0, toMs, events, doublePlacements: [], relistCount: 0 },
      ownDeletions: own,
      isFirst: true,
      lateness: LATENESS,
    });
  }

  promises(): readonly string[] {
    return this.judge().map(({ promise }) => promise);
  }

  #note(record: ObservedRecord, type: ObservedEvent['type'] = 'ADDED'): this {
    this.#atMs += 10;
    this.events.push({ atMs: this.#atMs, type, isRelist: false, record });
    return this;
  }
}

function node(name: string): ObservedRecord {
  return {
    kind: 'Node',
    uid: name,
    name,
    resourceVersion: '1',
    isReady: true,
    isCordoned: false,
    taintKeys: [],
    labels: { [PLACES.storageLabel]: 'true' },
  };
}

function daemonSet(
  name: string,
  of: Partial<Pick<DaemonSetRecord, 'observedGeneration' | 'templateLabels'>> = {},
): DaemonSetRecord {
  return {
    kind: 'DaemonSet',
    uid: `${name}-uid`,
    namespace: 'default',
    name,
    resourceVersion: '1',
    generation: 1,
    observedGeneration: 1,
    isDeleting: false,
    templateLabels: { version: 'v2' },
    status: {},
    ...of,
  };
}

function podOf(name: string, on: string, of: Partial<PodRecord> = {}): PodRecord {
  return {
    kind: 'Pod',
    uid: `${name}-${on}-uid`,
    namespace: 'default',
    name: `${name}-${on}`,
    resourceVersion: '7',
    node: on,
    isBound: true,
    phase: 'Running',
    isTerminal: false,
    isReady: true,
    readySinceMs: 0,
    isDeleting: false,
    daemonSetUid: `${name}-uid`,
    revisionHash: 'one',
    labels: { version: 'v1' },
    ...of,
  };
}

describe('judgeHistory', () => {
  const nodes = ['a', 'b', 'c'];

  it('lets a rollout within its budget pass (S3)', () => {
    const story = new Story(nodes, ['storage']);
    for (const name of nodes) story.pod(podOf('storage', name), 'ADDED');
    story.deletedByUs(podOf('storage', 'a'));
    story.pod(podOf('storage', 'a', { uid: 'next', labels: { version: 'v2' } }), 'ADDED');
    story.deletedByUs(podOf('storage', 'b'));
    assert.deepEqual(story.judge(), []);
  });

  it('finds an available pod that is deleted beyond the budget (S3)', () => {
    const story = new Story(nodes, ['storage']);
    for (const name of nodes) story.pod(podOf('storage', name), 'ADDED');
    story.deletedByUs(podOf('storage', 'a')).deletedByUs(podOf('storage', 'b'));
    assert.deepEqual(story.promises(), ['S3']);
  });

  it('counts what users took away so long ago that every view must know it (S3)', () => {
    const story = new Story(nodes, ['storage']);
    for (const name of nodes) story.pod(podOf('storage', name), 'ADDED');
    story.pod(podOf('storage', 'a', { isDeleting: true })).wait(2 * LATENESS.viewMs);
    assert.deepEqual(story.deletedByUs(podOf('storage', 'b')).promises(), ['S3']);
  });

  it('does not count what users take away (S3)', () => {
    const story = new Story(nodes, ['storage']);
    for (const name of nodes) story.pod(podOf('storage', name), 'ADDED');
    story.pod(podOf('storage', 'a', { isDeleting: true }));
    story.deletedByUs(podOf('storage', 'b'));
    assert.deepEqual(story.judge(), []);
  });

  it('finds a pod of the present version that is deleted without need (S3)', () => {
    const story = new Story(nodes, ['agent']);
    const pod = podOf('agent', 'a', { labels: { version: 'v2' } });
    assert.deepEqual(story.pod(pod, 'ADDED').deletedByUs(pod).promises(), ['S3']);
  });

  it('excuses no deletion of the present version by an edit that every live read has seen (S3)', () => {
    const edited = (name: string): Story =>
      new Story(nodes, ['agent']).set(daemonSet(name, { templateLabels: { version: 'v3' } }));
    const pod = podOf('agent', 'a', { labels: { version: 'v3' } });
    const { effectMs } = LATENESS;
    const late = edited('agent').wait(effectMs).pod(pod, 'ADDED').deletedByUs(pod);
    assert.deepEqual(late.promises(), ['S3']);
    const inTime = edited('agent')
      .wait(effectMs / 2)
      .pod(pod, 'ADDED')
      .deletedByUs(pod);
    assert.deepEqual(inTime.judge(), []);
  });

  it('finds a pod made for a DaemonSet that every live read has missed (S5)', () => {
    const story = new Story(nodes, ['agent']).set(daemonSet('agent'), 'DELETED');
    story.wait(LATENESS.effectMs);
    assert.deepEqual(story.pod(podOf('agent', 'a'), 'ADDED').promises(), ['S5']);
  });

  describe('of a surged pod that is deleted (S3)', () => {
    const old = podOf('mesh', 'a');
    const next = podOf('mesh', 'a', {
      uid: 'next',
      revisionHash: 'two',
      labels: { version: 'v2' },
    });
    const beside = (other: PodRecord): Story =>
      new Story(nodes, ['mesh']).pod(old, 'ADDED').pod(other, 'ADDED');

    it('lets it go for an available pod of the present version', () => {
      assert.deepEqual(beside(next).deletedByUs(old).judge(), []);
    });

    it('finds that no other is beside it', () => {
      assert.deepEqual(new Story(nodes, ['mesh']).pod(old, 'ADDED').deletedByUs(old).promises(), [
        'S3',
      ]);
    });

    it('finds that the other is not ready, not yet available, terminal or going', () => {
      const useless: readonly Partial<PodRecord>[] = [
        { isReady: false, readySinceMs: undefined },
        { readySinceMs: LONG_MS },
        { isTerminal: true, phase: 'Failed' },
        { isDeleting: true },
      ];
      for (const of of useless) {
        const story = beside({ ...next, ...of }).deletedByUs(old);
        assert.deepEqual(story.promises(), ['S3'], JSON.stringify(of));
      }
    });

    it('finds that the other is on another node', () => {
      assert.deepEqual(
        beside({ ...next, node: 'b' })
          .deletedByUs(old)
          .promises(),
        ['S3'],
      );
    });

    it('finds that the other is of a former version while it is of the present one', () => {
      assert.deepEqual(beside(next).deletedByUs(next).promises(), ['S3']);
    });

    it('lets one of two former versions go', () => {
      const former = { ...next, labels: { version: 'v0' } };
      assert.deepEqual(beside(former).deletedByUs(former).judge(), []);
    });

    it('lets one go that an edit of a moment ago made a former one', () => {
      const edited = daemonSet('mesh', { templateLabels: { version: 'v3' } });
      assert.deepEqual(beside(next).set(edited).deletedByUs(next).judge(), []);
    });

    it('counts on a successor that others took away only as long as word of it may take', () => {
      const lost = beside(next).pod({ ...next, isReady: false, readySinceMs: undefined });
      assert.deepEqual(lost.deletedByUs(old).judge(), []);
      const longLost = beside(next).pod({ ...next, isReady: false, readySinceMs: undefined });
      longLost.wait(LATENESS.viewMs);
      assert.deepEqual(longLost.deletedByUs(old).promises(), ['S3']);
    });

    it('counts on no successor that we took away ourselves', () => {
      const unready = { ...next, isReady: false, readySinceMs: undefined };
      const story = beside(next).pod(unready).deletedByUs(unready);
      assert.deepEqual(story.deletedByUs(old).promises(), ['S3']);
    });
  });

  it('finds two live pods of a revision, and three revisions, on a node (S2)', () => {
    const twice = new Story(nodes, ['mesh']);
    twice.pod(podOf('mesh', 'a'), 'ADDED').pod(podOf('mesh', 'a', { uid: 'second' }), 'ADDED');
    assert.deepEqual(twice.promises(), ['S2']);
    const thrice = new Story(nodes, ['mesh']);
    for (const revisionHash of ['one', 'two', 'three']) {
      thrice.pod(podOf('mesh', 'a', { uid: revisionHash, revisionHash }), 'ADDED');
    }
    assert.deepEqual(thrice.promises(), ['S2']);
  });

  it('finds deletions without preconditions, and of pods of others (S4)', () => {
    const pod = podOf('agent', 'a', { isReady: false });
    const careless = new Story(nodes, ['agent']).pod(pod, 'ADDED');
    assert.deepEqual(careless.deletedByUs(pod, { resourceVersion: undefined }).promises(), ['S4']);
    const foreign = new Story(nodes, ['agent']);
    assert.deepEqual(
      foreign.deletedByUs(podOf('agent', 'a', { daemonSetUid: undefined })).promises(),
      ['S4'],
    );
  });

  it('finds a pod made for a DaemonSet that is long gone (S5)', () => {
    const story = new Story(nodes, ['agent']).set(daemonSet('agent'), 'DELETED').wait(LONG_MS);
    assert.deepEqual(story.pod(podOf('agent', 'a'), 'ADDED').promises(), ['S5']);
  });

  it('finds an observedGeneration that leads or falls (S7)', () => {
    const leads = new Story(nodes, []).set(daemonSet('agent', { observedGeneration: 2 }));
    assert.deepEqual(leads.promises(), ['S7']);
    const falls = new Story(nodes, ['agent']).set(daemonSet('agent', { observedGeneration: 0 }));
    assert.deepEqual(falls.promises(), ['S7']);
  });

  it('hears of pods before their DaemonSet without harm', () => {
    const story = new Story(nodes, []);
    story.pod(podOf('agent', 'a'), 'ADDED').set(daemonSet('agent'), 'ADDED');
    assert.deepEqual(story.judge(), []);
  });
});
