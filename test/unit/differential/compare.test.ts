/**
 * The comparison of two clusters sees what differs, and only lets go of what the original's random order explains.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparePortraits } from '../../differential/compare.ts';
import type { PodPortrait, Portrait, SetPortrait } from '../../differential/portrait.ts';

const EVERYTHING = {
  isKeptCompared: true,
  isAgeCompared: true,
  spoiltHistories: new Set<string>(),
};

function pod(changes: Partial<PodPortrait> = {}): PodPortrait {
  return {
    revision: 1,
    phase: 'Running',
    isReady: true,
    isDeleting: false,
    isKept: true,
    labels: { app: 'd1', 'pod-template-generation': '1' },
    annotations: {},
    finalizers: [],
    owners: [],
    spec: {},
    ...changes,
  };
}

function portrait(changes: Partial<SetPortrait> = {}): Portrait {
  const revision = { data: {}, labels: {}, annotations: {}, owners: [] };
  const set: SetPortrait = {
    isDeleting: false,
    isOnDelete: false,
    hasAvailability: true,
    generation: 1,
    annotations: {},
    status: { numberReady: 2 },
    revisions: [{ ...revision, number: 1 }],
    podsByNode: { n1: [pod()], n2: [pod()] },
    ...changes,
  };
  return { sets: { d1: set }, ownerless: [], podUids: new Set() };
}

function differencesOf(original: Portrait, rollcall: Portrait): readonly string[] {
  const { differences } = comparePortraits({ original, rollcall }, EVERYTHING);
  return differences.map(({ comparison, subject }) => `${comparison}: ${subject}`);
}

const TWO_REVISIONS = [1, 2].map((number) => ({
  number,
  data: {},
  labels: {},
  annotations: {},
  owners: [],
}));

describe('the comparison of two clusters', () => {
  it('finds nothing where all is equal', () => {
    assert.deepEqual(differencesOf(portrait(), portrait()), []);
  });

  const changes: Readonly<Record<string, Partial<SetPortrait>>> = {
    'placement: d1 on n2': { podsByNode: { n1: [pod()] } },
    'pod-state: d1 on n2': { podsByNode: { n1: [pod()], n2: [pod({ isReady: false })] } },
    'pod-metadata: d1 on n2': { podsByNode: { n1: [pod()], n2: [pod({ owners: ['x'] })] } },
    'pod-spec: d1 on n2': {
      podsByNode: { n1: [pod()], n2: [pod({ spec: { hostNetwork: true } })] },
    },
    'pod-kept: d1 on n2': { podsByNode: { n1: [pod()], n2: [pod({ isKept: false })] } },
    'status: d1': { status: { numberReady: 1 } },
    'generation: d1': { generation: 2 },
    'set-metadata: d1': { annotations: { some: 'thing' } },
  };
  for (const [expected, change] of Object.entries(changes)) {
    it(`finds ${expected}`, () => {
      assert.deepEqual(differencesOf(portrait(), portrait(change)), [expected]);
    });
  }

  it('compares by count while a rollout is under way, and names the nodes that chance picked', () => {
    const revisions = TWO_REVISIONS;
    const original = portrait({
      revisions,
      podsByNode: { n1: [pod({ revision: 2 })], n2: [pod()] },
    });
    const rollcall = portrait({
      revisions,
      podsByNode: { n1: [pod()], n2: [pod({ revision: 2 })] },
    });
    const found = comparePortraits({ original, rollcall }, EVERYTHING);
    assert.deepEqual(found.differences, []);
    assert.deepEqual([...found.unalignedNodes], ['n1', 'n2']);
  });

  it('finds an old pod that is not ready and was passed over, though the counts are equal', () => {
    const revisions = TWO_REVISIONS;
    const unready = { revision: 2, isReady: false };
    const original = portrait({
      revisions,
      podsByNode: { n1: [pod(unready)], n2: [pod()], n3: [pod({ isReady: false })] },
    });
    const rollcall = portrait({
      revisions,
      podsByNode: { n1: [pod({ isReady: false })], n2: [pod()], n3: [pod(unready)] },
    });
    assert.deepEqual(differencesOf(original, rollcall), [
      'pod-order: d1 on n1',
      'pod-order: d1 on n3',
    ]);
  });

  it('leaves nothing to chance where minReadySeconds let no pod become available', () => {
    const revisions = TWO_REVISIONS;
    const one = { hasAvailability: false, revisions };
    const original = portrait({ ...one, podsByNode: { n1: [pod({ revision: 2 })], n2: [pod()] } });
    const rollcall = portrait({ ...one, podsByNode: { n1: [pod()], n2: [pod({ revision: 2 })] } });
    assert.deepEqual(differencesOf(original, rollcall), [
      'pod-order: d1 on n1',
      'pod-order: d1 on n2',
    ]);
  });

  it('leaves nodes with several pods to counts', () => {
    const revisions = TWO_REVISIONS;
    const two = [pod({ isReady: false }), pod({ revision: 2, isReady: false })];
    const original = portrait({ revisions, podsByNode: { n1: two, n2: [pod()] } });
    const rollcall = portrait({ revisions, podsByNode: { n1: [pod()], n2: two } });
    assert.deepEqual(differencesOf(original, rollcall), []);
  });

  it('finds a pod that was made again while a rollout is under way, where both sides are alike', () => {
    const revisions = TWO_REVISIONS;
    const podsByNode = { n1: [pod({ revision: 2 })], n2: [pod()], n3: [pod()] };
    const other = { n1: [pod()], n2: [pod({ revision: 2 })], n3: [pod({ isKept: false })] };
    const found = differencesOf(
      portrait({ revisions, podsByNode }),
      portrait({ revisions, podsByNode: other }),
    );
    assert.deepEqual(found, ['pod-kept: d1 on n3']);
    const alike = { ...podsByNode, n1: [pod({ revision: 2, isKept: false })] };
    assert.deepEqual(
      differencesOf(
        portrait({ revisions, podsByNode }),
        portrait({ revisions, podsByNode: alike }),
      ),
      ['pod-kept: d1 on n1'],
    );
  });

  it('finds one replaced pod too many while a rollout is under way', () => {
    const revisions = TWO_REVISIONS;
    const more = { n1: [pod({ revision: 2 })], n2: [pod({ revision: 2 })] };
    const original = portrait({
      revisions,
      podsByNode: { n1: [pod({ revision: 2 })], n2: [pod()] },
    });
    assert.deepEqual(differencesOf(original, portrait({ revisions, podsByNode: more })), [
      'pod-count: d1',
    ]);
  });

  it('compares by node with OnDelete, where nobody picks', () => {
    const revisions = TWO_REVISIONS;
    const one = {
      isOnDelete: true,
      revisions,
      podsByNode: { n1: [pod({ revision: 2 })], n2: [pod()] },
    };
    const other = { ...one, podsByNode: { n1: [pod()], n2: [pod({ revision: 2 })] } };
    assert.deepEqual(differencesOf(portrait(one), portrait(other)), [
      'pod-revision: d1 on n1',
      'pod-revision: d1 on n2',
    ]);
  });

  it('lets go of the history of a set with an edit that may have been seen, and of nothing else', () => {
    const kept = portrait({ revisions: TWO_REVISIONS.slice(0, 1) });
    const seen = portrait({
      revisions: TWO_REVISIONS,
      podsByNode: { n1: [pod({ revision: 2 })], n2: [pod({ revision: 2 })] },
    });
    const behind = portrait({
      revisions: TWO_REVISIONS,
      podsByNode: { n1: [pod({ revision: 2 })], n2: [pod({ revision: 1 })] },
    });
    const [first, ...newer] = TWO_REVISIONS.map((it) => ({
      ...it,
      annotations: { made: 'later' },
    }));
    const again = portrait({ revisions: first === undefined ? newer : [first] });
    const spoilt = { ...EVERYTHING, spoiltHistories: new Set(['d1']) };
    const compare = (rollcall: Portrait): readonly string[] =>
      comparePortraits({ original: kept, rollcall }, spoilt).differences.map(
        ({ comparison }) => comparison,
      );
    assert.deepEqual(compare(seen), []);
    assert.deepEqual(compare(again), []);
    assert.deepEqual(compare(behind), ['pod-count']);
    assert.notDeepEqual(differencesOf(kept, seen), []);
  });

  it('lets go of marks that only older pods have once a rollout was cut short', () => {
    const marks = { 'others.rollcall.test/mark': '7', 'example.com/own': 'yes' };
    const marked = portrait({ podsByNode: { n1: [pod({ annotations: marks })], n2: [pod()] } });
    const other = portrait({
      podsByNode: { n1: [pod()], n2: [pod({ annotations: { 'example.com/own': 'yes' } })] },
    });
    const ageless = { ...EVERYTHING, isAgeCompared: false };
    const { differences } = comparePortraits({ original: marked, rollcall: other }, ageless);
    assert.deepEqual(
      differences.map(({ subject }) => subject),
      ['d1 on n1', 'd1 on n2'],
      'content is compared',
    );
    const unmarked = portrait({
      podsByNode: { n1: [pod({ annotations: { 'example.com/own': 'yes' } })], n2: [pod()] },
    });
    const again = comparePortraits({ original: marked, rollcall: unmarked }, ageless);
    assert.deepEqual(again.differences, []);
  });
});
