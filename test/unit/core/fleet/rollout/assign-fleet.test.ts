// Who is in which stage, and who is in the ring: at the start, and when registrations change in the middle.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import { assignFleet } from '../../../../../src/core/fleet/rollout/assign-fleet.ts';
import type {
  Assignment,
  AssignedAt,
  AssignedCluster,
} from '../../../../../src/core/fleet/rollout/assign-fleet.ts';
import { fleetOf, NOW_MS } from '../../../../support/fleet-samples.ts';
import { clusterRecordOf } from '../../../../support/fleet-records.ts';

const BY_RING = ['0', '1', '2'].map((ring) => ({
  name: `ring-${ring}`,
  clusterSelector: { matchLabels: { ring } },
}));
const OFFLINE_MS = NOW_MS - 900_000;

function clusterOf(
  id: string,
  ring: string,
  changes: Partial<AssignedCluster> = {},
): AssignedCluster {
  return {
    id: clusterId(id),
    clusterUid: clusterUid(`uid-of-${id}`),
    labels: { ring },
    mode: 'takeover',
    isFrozen: false,
    heardAtMs: NOW_MS,
    ...changes,
  };
}

function assignment(
  clusters: readonly AssignedCluster[],
  at: Partial<AssignedAt> = {},
  spec: JsonObject = { strategy: { stages: BY_RING } },
): Assignment {
  return assignFleet(fleetOf(spec), clusters, {
    contentHash: 'new',
    stage: -1,
    nowMs: NOW_MS,
    ...at,
  });
}

/** As `ring-0: a b | ring-1: c`. */
function shown({ stages, ring }: Assignment): string {
  const lists = [...stages, { name: 'ring', clusters: ring }];
  return lists
    .filter(({ clusters }) => clusters.length > 0)
    .map(({ name, clusters }) => `${name}: ${[...clusters].sort().join(' ')}`)
    .join(' | ');
}

describe('assignFleet', () => {
  it('deals by labels, offline ones to the ring, and those that are not ours to nobody', () => {
    const clusters = [
      clusterOf('a', '0'),
      clusterOf('b', '1'),
      clusterOf('c', '1', { heardAtMs: OFFLINE_MS }),
      clusterOf('d', '2', { mode: 'observe' }),
      clusterOf('e', '2', { isFrozen: true }),
      clusterOf('f', '2', { rival: { seenAtMs: 1, evidence: 'status' } }),
      clusterOf('g', 'other'),
    ];
    const dealt = assignment(clusters);
    assert.equal(shown(dealt), 'ring-0: a | ring-1: b | rest: g | ring: c');
    assert.equal(dealt.untouchedClusters, 3);
  });

  it('takes one that was never heard as offline', () => {
    const { heardAtMs: _never, ...silent } = clusterOf('a', '0');
    assert.equal(shown(assignment([silent])), 'ring: a');
  });

  it('leaves out where it is not placed', () => {
    const spec = { placement: { clusterNames: ['a'] }, strategy: { stages: BY_RING } };
    assert.equal(
      shown(assignment([clusterOf('a', '0'), clusterOf('b', '0')], {}, spec)),
      'ring-0: a',
    );
  });

  it('keeps a cluster where it was given the release, whatever its labels say by now', () => {
    const record = clusterRecordOf('a', { place: 0 });
    assert.equal(shown(assignment([clusterOf('a', '2', { record })], { stage: 1 })), 'ring-0: a');
  });

  it('keeps one that was given it and is offline in its stage', () => {
    const record = clusterRecordOf('a', { place: 0 });
    const cluster = clusterOf('a', '0', { record, heardAtMs: OFFLINE_MS });
    assert.equal(shown(assignment([cluster], { stage: 0 })), 'ring-0: a');
  });

  it('deals one anew that was rebuilt under its id, or has another release', () => {
    const rebuilt = clusterRecordOf('a', { clusterUid: clusterUid('before') });
    const older = clusterRecordOf('b', { contentHash: 'old' });
    const clusters = [
      clusterOf('a', '0', { record: rebuilt }),
      clusterOf('b', '2', { record: older }),
    ];
    assert.equal(shown(assignment(clusters, { stage: 1 })), 'ring-2: b | ring: a');
  });

  it('sends to the ring who belongs to a stage that is open or passed, and was not of it', () => {
    const clusters = [clusterOf('a', '0'), clusterOf('b', '1'), clusterOf('c', '2')];
    assert.equal(shown(assignment(clusters, { stage: 1 })), 'ring-2: c | ring: a b');
  });

  it('lets those wait on that waited in the open stage already', () => {
    const clusters = [clusterOf('a', '1'), clusterOf('b', '1'), clusterOf('c', '2')];
    const openMembers = new Set([clusterId('a'), clusterId('c')]);
    assert.equal(
      shown(assignment(clusters, { stage: 1, openMembers })),
      'ring-1: a | ring-2: c | ring: b',
    );
  });

  it('keeps the list of the ring for who was given the release there', () => {
    const record = clusterRecordOf('a', { place: 'ring' });
    assert.equal(shown(assignment([clusterOf('a', '2', { record })], { stage: 3 })), 'ring: a');
  });

  it('finishes a first stage of some nodes at the head of the second', () => {
    const spec = {
      strategy: {
        stages: [{ name: 'canary', clusterNames: ['z'], nodes: 1 }, { name: 'rest' }],
      },
    };
    const [canary, rest] = assignment([clusterOf('a', '0'), clusterOf('z', '0')], {}, spec).stages;
    assert.deepEqual([canary?.clusters, rest?.clusters], [['z'], ['z', 'a']]);
  });

  it('tells a stage that names nobody at all from one whose clusters are offline', () => {
    const named = assignment([clusterOf('a', '0', { heardAtMs: OFFLINE_MS }), clusterOf('c', '2')]);
    assert.deepEqual(
      named.stages.map(({ namesNobody }) => namesNobody),
      [false, true, false, false],
    );
  });
});
