/**
 * The comparison of two clusters sees what differs, and only lets go of what the original's random order explains.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comparePortraits } from '../../differential/compare.ts';
import type { PodPortrait, Portrait, SetPortrait } from '../../differential/portrait.ts';

const EVERYTHING = { isKeptCompared: true, isAgeCompared: true };

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
});
