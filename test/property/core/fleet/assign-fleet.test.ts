// Dealing a fleet out, at any moment of a rollout: every placed cluster is in one place, and nobody who has the release loses it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import { OFFLINE_AFTER_MS } from '../../../../src/core/fleet/cluster-facts.ts';
import { whyUntouched } from '../../../../src/core/fleet/plan-cluster.ts';
import { assignFleet } from '../../../../src/core/fleet/rollout/assign-fleet.ts';
import type {
  Assignment,
  AssignedCluster,
} from '../../../../src/core/fleet/rollout/assign-fleet.ts';
import { clusterRecordOf } from '../../../support/fleet-records.ts';
import { fleetOf, NOW_MS } from '../../../support/fleet-samples.ts';

const FLEET = fleetOf({
  placement: { all: true, exclude: { clusterSelector: { matchLabels: { ring: 'none' } } } },
  strategy: {
    stages: [
      { name: 'zero', clusterSelector: { matchLabels: { ring: '0' } }, clusters: 2 },
      { name: 'one', clusterSelector: { matchLabels: { ring: '1' } } },
      { name: 'tenth', clusters: '10%' },
    ],
  },
});

const record = fc.option(
  fc.record({
    place: fc.constantFrom<number | 'ring'>(0, 1, 2, 3, 'ring'),
    contentHash: fc.constantFrom('new', 'old'),
    isRebuilt: fc.boolean(),
  }),
  { nil: undefined },
);
const cluster = fc.record({
  ring: fc.constantFrom('0', '1', '2', 'none'),
  mode: fc.constantFrom('takeover' as const, 'copilot' as const, 'observe' as const),
  isFrozen: fc.boolean(),
  isHeard: fc.boolean(),
  record,
});
const clusters = fc.array(cluster, { maxLength: 40 }).map((all) =>
  all.map((one, index): AssignedCluster => {
    const id = `c${String(index)}`;
    const { place, contentHash = 'new', isRebuilt = false } = one.record ?? {};
    return {
      id: clusterId(id),
      clusterUid: clusterUid(isRebuilt ? `anew-${id}` : `uid-of-${id}`),
      labels: { ring: one.ring },
      mode: one.mode,
      isFrozen: one.isFrozen,
      heardAtMs: one.isHeard ? NOW_MS : NOW_MS - OFFLINE_AFTER_MS - 1,
      ...(place === undefined ? {} : { record: clusterRecordOf(id, { place, contentHash }) }),
    };
  }),
);
const stage = fc.integer({ min: -1, max: 4 });

function placesOf({ stages, ring }: Assignment): ReadonlyMap<string, readonly (number | 'ring')[]> {
  const places = new Map<string, readonly (number | 'ring')[]>();
  const note = (id: string, place: number | 'ring'): void => {
    places.set(id, [...(places.get(id) ?? []), place]);
  };
  for (const [index, dealt] of stages.entries()) for (const id of dealt.clusters) note(id, index);
  for (const id of ring) note(id, 'ring');
  return places;
}

const isPlaced = ({ labels }: AssignedCluster): boolean => labels['ring'] !== 'none';

describe('assignFleet', () => {
  it('puts every placed cluster in one list, and those that are not ours in none', () => {
    fc.assert(
      fc.property(clusters, stage, fc.boolean(), (all, open, wasOpen) => {
        const openMembers = new Set(wasOpen ? all.map(({ id }) => id) : []);
        const at = { contentHash: 'new', stage: open, openMembers, nowMs: NOW_MS };
        const assignment = assignFleet(FLEET, all, at);
        const places = placesOf(assignment);
        let untouched = 0;
        for (const one of all) {
          const isOurs = whyUntouched(one) === undefined;
          if (isPlaced(one) && !isOurs) untouched += 1;
          const expected = isPlaced(one) && isOurs ? 1 : 0;
          assert.equal(places.get(one.id)?.length ?? 0, expected, JSON.stringify(one));
        }
        assert.equal(assignment.untouchedClusters, untouched);
      }),
    );
  });

  it('keeps each that was given the release where that was, and none else in a stage that passed', () => {
    fc.assert(
      fc.property(clusters, stage, (all, open) => {
        const at = { contentHash: 'new', stage: open, nowMs: NOW_MS };
        const places = placesOf(assignFleet(FLEET, all, at));
        for (const one of all) {
          const [place] = places.get(one.id) ?? [];
          const known = one.record;
          const wasGiven = known?.contentHash === 'new' && known.clusterUid === one.clusterUid;
          const givenAt =
            wasGiven && (known.place === 'ring' || known.place <= open) ? known.place : undefined;
          if (place === undefined) continue;
          if (givenAt !== undefined) assert.equal(place, givenAt);
          else assert.ok(place === 'ring' || place > open, `${String(place)} at ${String(open)}`);
        }
      }),
    );
  });

  it('deals the same whatever order registrations are read in, and again', () => {
    fc.assert(
      fc.property(clusters, stage, (all, open) => {
        const at = { contentHash: 'new', stage: open, nowMs: NOW_MS };
        const sorted = (assignment: Assignment): unknown =>
          [...placesOf(assignment)].sort(([left], [right]) => (left < right ? -1 : 1));
        assert.deepEqual(
          sorted(assignFleet(FLEET, [...all].reverse(), at)),
          sorted(assignFleet(FLEET, all, at)),
        );
      }),
    );
  });

  it('moves nobody who waits in the open stage when a stranger changes', () => {
    fc.assert(
      fc.property(clusters, stage, (known, open) => {
        const all = known.map(({ record: _none, ...fresh }): AssignedCluster => fresh);
        const before = assignFleet(FLEET, all, {
          contentHash: 'new',
          stage: open - 1,
          nowMs: NOW_MS,
        });
        const openMembers = new Set(before.stages[open]?.clusters ?? []);
        const at = { contentHash: 'new', stage: open, openMembers, nowMs: NOW_MS };
        assert.deepEqual(
          [...(assignFleet(FLEET, all, at).stages[open]?.clusters ?? [])].sort(),
          [...openMembers].sort(),
        );
      }),
    );
  });
});
