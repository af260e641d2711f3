// How one cluster fares: what is evidence, and what only looks like it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterEvidence } from '../../../../../src/core/fleet/rollout/judge-cluster.ts';
import type { FleetClusterRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { judgeCluster } from '../../../../../src/core/fleet/rollout/judge-cluster.ts';
import type { ClusterVerdict } from '../../../../../src/core/fleet/rollout/judge-cluster.ts';
import { startTrial } from '../../../../../src/core/health/trial.ts';
import { clusterId, clusterUid, nodeName } from '../../../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../../../src/core/model/rollout-record.ts';
import {
  BEGAN_MS,
  clusterRecordOf,
  heardOf,
  renderedManifest,
} from '../../../../support/fleet-records.ts';
import { breachOf, stepOf } from '../../../../support/rollout-records.ts';

const CLUSTER = clusterId('c');

function judge(
  evidence: ClusterEvidence,
  changes: Partial<FleetClusterRecord> = {},
): ClusterVerdict {
  return judgeCluster(clusterRecordOf('c', changes), renderedManifest(), evidence);
}

describe('judgeCluster: evidence of nothing', () => {
  it('is a cluster that is gone, not ours, silent, or cannot be read', () => {
    const kinds = [
      judge({ kind: 'gone', cluster: CLUSTER }),
      judge({ kind: 'untouched', cluster: CLUSTER, why: 'frozen' }),
      judge({ kind: 'offline', cluster: CLUSTER, silentForMs: 900_000 }),
      judge({ kind: 'unclear', cluster: CLUSTER, why: 'throttled' }),
    ].map(({ kind }) => kind);
    assert.deepEqual(kinds, ['gone', 'untouched', 'offline', 'unclear']);
  });

  it('is what another cluster of that id shows', () => {
    assert.equal(judge(heardOf('c'), { clusterUid: clusterUid('before') }).kind, 'rebuilt');
  });

  it('is a status from before the apply, however healthy (Argo CD #29410)', () => {
    assert.equal(judge(heardOf('c', { generation: 3 })).kind, 'awaited');
    assert.equal(judge(heardOf('c', { cluster: { heardAtMs: BEGAN_MS } })).kind, 'awaited');
  });

  it('is an apply that was not answered, or a DaemonSet that could not be read', () => {
    const { appliedGeneration: _none, ...unanswered } = clusterRecordOf('c');
    assert.equal(judgeCluster(unanswered, renderedManifest(), heardOf('c')).kind, 'awaited');
    const { daemonSet: _opaque, ...opaque } = heardOf('c');
    assert.equal(judge(opaque).kind, 'awaited');
  });

  it('is a rollout of another generation, or of another revision', () => {
    const heard = heardOf('c');
    const { state } = heardOf('c', { generation: 3 });
    assert.equal(judge({ ...heard, ...(state === undefined ? {} : { state }) }).kind, 'rolling');
    assert.equal(judge(heardOf('c', { rollout: { hash: 'r0' } })).kind, 'rolling');
    const { state: _none, ...fresh } = heard;
    assert.equal(judge(fresh).kind, 'rolling');
  });
});

describe('judgeCluster: well', () => {
  it('is a rollout that passed its steps, with a node that runs it', () => {
    assert.deepEqual(judge(heardOf('c')), { kind: 'well', nodes: { updated: 3, desired: 3 } });
  });

  it('is none while no node runs it', () => {
    const status = { updatedNumberScheduled: 0, desired: 3 };
    assert.equal(judge(heardOf('c', { status })).kind, 'rolling');
  });

  it('is none by a status of the generation before, which counts other pods', () => {
    const { status } = heardOf('c').daemonSet ?? {};
    const stale = { status: { ...status, observedGeneration: 3 } } as object;
    assert.equal(judge(heardOf('c', { live: stale })).kind, 'rolling');
  });

  it('is a canary that soaked, where only some nodes were asked for', () => {
    const proven = { hash: 'r1', provenAtMs: BEGAN_MS + 1, isBaseline: false };
    const rollout = { proven, step: stepOf({ kind: 'canary' }) };
    assert.equal(judge(heardOf('c', { rollout }), { isPartial: true }).kind, 'well');
    assert.equal(judge(heardOf('c', { rollout }), { isPartial: false }).kind, 'rolling');
    const before = { ...rollout, proven: { ...proven, provenAtMs: BEGAN_MS - 1 } };
    assert.equal(judge(heardOf('c', { rollout: before }), { isPartial: true }).kind, 'rolling');
  });

  it('is a canary that soaked and waits for approval, which proves nothing inside its cluster yet', () => {
    const waiting = (soakedAtMs: number | undefined): string => {
      const soaked = soakedAtMs === undefined ? {} : { soakedAtMs };
      const proven = { hash: 'r0', provenAtMs: 1, isBaseline: true };
      const rollout = { proven, step: { ...stepOf({ kind: 'canary' }), ...soaked } };
      return judge(heardOf('c', { rollout }), { isPartial: true }).kind;
    };
    assert.equal(waiting(BEGAN_MS + 1), 'well');
    assert.equal(waiting(undefined), 'rolling');
    assert.equal(waiting(BEGAN_MS - 1), 'rolling', 'that was before it was given it');
  });
});

describe('judgeCluster: a first release, which goes to all nodes at once', () => {
  const { triedAtMs: _never, ...untried } = heardOf('c').state?.rollout ?? assert.fail();
  const kindOf = (numberAvailable: number, changes: Partial<RolloutRecord> = {}): string => {
    const status = { updatedNumberScheduled: 3, desiredNumberScheduled: 3, numberAvailable };
    const live = { status: status as never };
    const heard = heardOf('c', { live });
    const { history } = heard.state ?? assert.fail();
    const state = {
      ...(history === undefined ? {} : { history }),
      rollout: { ...untried, ...changes },
    };
    return judge({ ...heard, state }).kind;
  };

  it('is not well by a moment in which pods ran that exit again and again: its cluster has no baseline yet', () => {
    const { proven: _none, ...rest } = untried;
    const heard = heardOf('c');
    const { history } = heard.state ?? assert.fail();
    const state = { ...(history === undefined ? {} : { history }), rollout: rest };
    assert.equal(judge({ ...heard, state }).kind, 'rolling');
  });

  it('waits for no node that was bad when it began', () => {
    const outside = [nodeName('n3')];
    const trial = { ...startTrial([], BEGAN_MS), outside };
    assert.deepEqual([kindOf(2, { trial }), kindOf(1, { trial })], ['well', 'rolling']);
    const all = { ...trial, outside: [1, 2, 3].map((index) => nodeName(`n${String(index)}`)) };
    assert.equal(kindOf(0, { trial: all }), 'rolling', 'nobody runs it');
  });

  it('is judged alike on a way back, where nothing soaks either, until its own record says that it is over', () => {
    const back = { isReturn: true };
    assert.deepEqual([kindOf(2, back), kindOf(3, back)], ['rolling', 'well']);
    assert.equal(kindOf(2, { ...back, returnedAtMs: BEGAN_MS + 1 }), 'well', 'some keep their pod');
  });
});

describe('judgeCluster: at zero', () => {
  const status = { updatedNumberScheduled: 0, desired: 0 };

  it('is empty, and never well', () => {
    assert.equal(judge(heardOf('c', { status })).kind, 'empty');
  });

  it('is empty where the cluster has no node at all, whatever it ran on before', () => {
    const scaled = heardOf('c', { status, cluster: { isWithoutNodes: true } });
    assert.equal(judge(scaled, { nodes: { updated: 0, desired: 40 } }).kind, 'empty');
  });

  it('is a failure where it ran on nodes before (Reddit 2023-03-14)', () => {
    const verdict = judge(heardOf('c', { status }), { nodes: { updated: 0, desired: 40 } });
    assert.equal(verdict.kind, 'failed');
    assert.equal(verdict.failure.cause, 'NoNodes');
    assert.match(verdict.failure.message, /40/);
  });
});

describe('judgeCluster: failed', () => {
  it('is a rollout that halted, by its cause and with its nodes', () => {
    const verdict = judge(heardOf('c', { rollout: { breach: breachOf() } }));
    assert.equal(verdict.kind, 'failed');
    assert.equal(verdict.failure.cause, 'Halted/OOMKilled');
    assert.deepEqual(verdict.failure.nodes, ['b']);
  });

  it('is one that somebody undid inside the cluster', () => {
    const orders = { undo: { by: 'ann', atMs: 1, to: 'old' } };
    const verdict = judge(heardOf('c', { rollout: { orders } }));
    assert.equal(verdict.kind === 'failed' && verdict.failure.cause, 'Halted/Undone');
  });

  it('is a copilot cluster that stages nothing: the built-in controller rolls it everywhere at once', () => {
    const verdict = judge(heardOf('c', { cluster: { mode: 'copilot' } }));
    assert.equal(verdict.kind === 'failed' && verdict.failure.cause, 'PolicyNotFollowed');
  });
});

describe('judgeCluster: reverted', () => {
  it('is a template that somebody else changed after the apply', () => {
    const { daemonSet } = heardOf('c', { generation: 5 });
    assert.ok(daemonSet);
    const { template } = daemonSet.spec;
    const containers = [{ name: 'agent', image: 'registry.example/agent:0' }];
    const changed = { ...template, spec: { ...template.spec, containers } };
    const spec = { ...daemonSet.spec, template: changed };
    const verdict = judge(heardOf('c', { generation: 5, live: { spec } }));
    assert.equal(verdict.kind, 'reverted');
    assert.match(verdict.fields.join(), /image/);
  });

  it('is a DaemonSet that was seen and is gone, and no sooner', () => {
    const gone = { ...heardOf('c'), daemonSet: null };
    assert.equal(judge(gone).kind, 'awaited');
    assert.equal(judge(gone, { nodes: { updated: 1, desired: 3 } }).kind, 'reverted');
  });
});
