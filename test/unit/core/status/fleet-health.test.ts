/** Whether everything is well, judged of facts: what is told, in which order, and what counts as well. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeWell, judgeFleetHealth } from '../../../../src/core/status/health/fleet-health.ts';
import type {
  ClusterFacts,
  FleetFacts,
  FleetHealth,
  MissingReason,
  SetFacts,
} from '../../../../src/core/status/health/health-facts.ts';
import type { Gate } from '../../../../src/core/model/staged-progress.ts';
import type { NextStep } from '../../../../src/core/status/next-steps.ts';
import type { Outage } from '../../../../src/core/status/outages.ts';

function setOf(
  changes: Partial<SetFacts> & { available?: number; desired?: number } = {},
): SetFacts {
  const { available = 200, desired = 200, ...rest } = changes;
  const counts = { desired, updated: desired, available, generation: 1, observedGeneration: 1 };
  return { namespace: 'kube-system', name: 'cni', counts, ...rest };
}

function clusterOf(id: string, changes: Partial<ClusterFacts> = {}): ClusterFacts {
  const well = { mode: 'takeover', outages: [], heardAtMs: 1, isViewComplete: true } as const;
  return { id, ...well, daemonSets: [setOf()], ...changes };
}

function judge(facts: Partial<FleetFacts>): FleetHealth {
  const none = { outages: [], frozen: {}, clusters: [], unreadable: [], fleets: [] };
  return judgeFleetHealth({ ...none, ...facts });
}

const outageOf = (code: Outage['code']): Outage => ({
  code,
  message: `it is ${code}`,
  remedy: 'look: rollcall cluster doctor a',
});
const reason = (kind: MissingReason['kind'], nodes: number): MissingReason => ({
  ...{ code: kind, title: `it is ${kind}`, kind, nodes },
});
const gateOf = (gate: Gate, next: readonly NextStep[] = []): SetFacts =>
  setOf({ rollout: { phase: 'Waiting', summary: 'step 1', gate, next } });
const statesOf = ({ findings }: FleetHealth): readonly string[] =>
  findings.map(({ state, severity }) => `${state} ${severity}`);

describe('judgeFleetHealth', () => {
  it('says in one line what is well', () => {
    const clusters = Array.from({ length: 100 }, (_, index) => clusterOf(`c${String(index)}`));
    const health = judge({ clusters });
    assert.equal(health.standing, 'well');
    assert.equal(
      describeWell(health),
      '100 of 100 clusters, 100 of 100 DaemonSets, 20,000 of 20,000 pods are well',
    );
  });

  it('tells a DaemonSet that lacks pods once over all clusters, by reason', () => {
    const a = setOf({ available: 190, reasons: [reason('coming', 4), reason('failing', 6)] });
    const b = setOf({ available: 198, reasons: [reason('failing', 2)] });
    const clusters = [clusterOf('a', { daemonSets: [a] }), clusterOf('b', { daemonSets: [b] })];
    const health = judge({ clusters: [...clusters, clusterOf('c')] });
    const [finding] = health.findings;
    assert.equal(
      finding?.message,
      'lacks 12 of 400 pods in a, b: it is failing (8), it is coming (4)',
    );
    assert.equal(finding.remedy, 'rollcall why kube-system/cni');
    assert.match(describeWell(health), /^1 of 3 clusters, 1 of 3 DaemonSets, 588 of 600 pods/);
  });

  it('goes by the reasons: failing, held, coming; what was not asked may be failing', () => {
    const severityOf = (reasons?: readonly MissingReason[]): string | undefined => {
      const set = setOf({ available: 199, ...(reasons === undefined ? {} : { reasons }) });
      return judge({ clusters: [clusterOf('a', { daemonSets: [set] })] }).findings[0]?.severity;
    };
    assert.deepEqual(
      [undefined, [reason('failing', 1)], [reason('held', 1)], [reason('coming', 1)]].map(
        severityOf,
      ),
      ['failing', 'failing', 'waiting', 'coming'],
    );
  });

  it('puts what fails before what waits for a person, and that before what comes', () => {
    const halted = gateOf({ kind: 'breach' });
    const sets = [
      gateOf({ kind: 'approval', stepIndex: 1 }),
      { ...halted, name: 'log' },
      setOf({ name: 'csi', available: 199, reasons: [reason('coming', 1)] }),
    ];
    const clusters = [
      clusterOf('a', { daemonSets: sets }),
      clusterOf('b', { outages: [outageOf('watcher-silent')] }),
    ];
    assert.deepEqual(statesOf(judge({ clusters })), [
      'Silent failing',
      'Halted failing',
      'AwaitsApproval waiting',
      'Lacking coming',
    ]);
  });

  it('says of a rollout what its own status ends with, and else to look there', () => {
    const steps = [
      { command: 'rollcall rollout approve a kube-system/cni', about: 'lets it pass' },
    ];
    const findingOf = (set: SetFacts) =>
      judge({ clusters: [clusterOf('a', { daemonSets: [set] })] }).findings[0];
    const asked = findingOf(gateOf({ kind: 'approval', stepIndex: 1 }, steps));
    assert.deepEqual([asked?.remedy, asked?.next], [steps[0]?.command, steps]);
    const stuck = findingOf(gateOf({ kind: 'lost', lostNodes: 1 }));
    assert.equal(stuck?.remedy, 'rollcall rollout status a kube-system/cni');
    assert.ok(!('next' in stuck));
  });

  const GOING_ON: readonly Gate[] = [
    { kind: 'updating' },
    { kind: 'soaking', untilMs: 1 },
    { kind: 'window', opensAtMs: 1 },
    { kind: 'lost', lostNodes: 1, addsAtMs: 1 },
    { kind: 'fleet', fleet: 'a/b', message: 'held' },
    { kind: 'done' },
  ];
  it('says nothing of a rollout that goes on by itself', () => {
    for (const gate of GOING_ON) {
      const { standing } = judge({ clusters: [clusterOf('a', { daemonSets: [gateOf(gate)] })] });
      assert.equal(standing, 'well', gate.kind);
    }
  });

  it('tells a removal to be confirmed, a run that is refused again and again, another writer', () => {
    const removal = '90 of 100 pods go within ten minutes: an edit';
    const retry = { code: 'no-access', delayMs: 60_000, notBeforeMs: 0, holdsCreates: true };
    const paused = { manager: 'other', atMs: 0, untilMs: 0 };
    const set = setOf({ removal, retry, paused });
    const told = (mode: ClusterFacts['mode'], one: SetFacts): readonly string[] =>
      statesOf(judge({ clusters: [clusterOf('a', { mode, daemonSets: [one] })] }));
    assert.deepEqual(told('takeover', set), [
      'Stuck failing',
      'Stuck failing',
      'RemovalHeld waiting',
    ]);
    // Elsewhere it cannot be held; and what was refused once is tried again at once.
    assert.deepEqual(told('copilot', setOf({ removal, retry: { ...retry, delayMs: 2000 } })), []);
  });

  it('counts nothing as well of a cluster that nobody keeps up to date', () => {
    const codes = ['watcher-silent', 'watcher-stands-by', 'functions-behind'] as const;
    for (const code of [...codes, 'api-server-unreachable'] as const) {
      const health = judge({ clusters: [clusterOf('a', { outages: [outageOf(code)] })] });
      assert.equal(
        describeWell(health),
        '0 of 1 clusters, 0 of 1 DaemonSets, 0 of 200 pods are well; 1 DaemonSet with 200 pods cannot be told now',
        code,
      );
    }
    const built = clusterOf('a', {
      mode: 'copilot',
      outages: [outageOf('api-server-unreachable')],
    });
    assert.equal(judge({ clusters: [built] }).pods.well, 200, 'the built-in controller counts');
  });

  it('is stopped where nothing acts anywhere, and not where one cluster is silent', () => {
    const silent = clusterOf('a', { outages: [outageOf('watcher-silent')] });
    assert.equal(judge({ clusters: [silent] }).standing, 'stopped');
    assert.equal(judge({ clusters: [silent, clusterOf('b')] }).standing, 'not-well');
    const stopped = judge({ clusters: [clusterOf('a')], outages: [outageOf('stopped')] });
    assert.deepEqual([stopped.standing, stopped.findings.length], ['stopped', 0]);
  });

  it('is not well without a cluster, or with a registration that cannot be read', () => {
    assert.deepEqual(statesOf(judge({})), ['NoClusters failing']);
    const unreadable = [{ id: 'a', problem: 'mode' }];
    const health = judge({ unreadable, clusters: [clusterOf('b')] });
    assert.deepEqual(statesOf(health), ['Unreadable failing']);
    assert.deepEqual(health.clusters, { well: 1, total: 2 });
  });

  it('is not well while a first status was never written, or an object is not known', () => {
    const counts = { desired: 0, updated: 0, available: 0, generation: 1, observedGeneration: 0 };
    const sets = [setOf({ counts }), { namespace: 'ops', name: 'big', unknown: 'it is too large' }];
    const health = judge({ clusters: [clusterOf('a', { daemonSets: sets })] });
    assert.deepEqual(statesOf(health), ['Unknown failing', 'Unseen coming']);
    assert.equal(health.daemonSets.well, 0);
  });

  it('names who froze a DaemonSet, in the clusters that have it', () => {
    const note = { by: 'ann', why: 'CVE', atMs: 0 };
    const clusters = [clusterOf('a'), clusterOf('b', { daemonSets: [] })];
    const [finding] = judge({ clusters, frozen: { 'kube-system/cni': note } }).findings;
    assert.match(finding?.message ?? '', /^The DaemonSet is frozen by ann \(CVE\), since 1970/);
    assert.deepEqual(
      [finding?.clusters, finding?.remedy],
      [['a'], 'rollcall thaw --daemon-set kube-system/cni'],
    );
  });

  it('tells of fleets what waits, is halted, or whose record cannot be read', () => {
    const fleet = {
      namespace: 'ops',
      generation: 1,
      summary: 'stage 1',
      next: [],
    };
    const fleets = [
      { ...fleet, name: 'a', phase: 'Halted', gate: { kind: 'breach' } },
      { ...fleet, name: 'b', phase: 'Waiting', gate: { kind: 'approval', stepIndex: 1 } },
      { ...fleet, name: 'c', phase: 'Progressing', isUnreadable: true },
      { ...fleet, name: 'd', phase: 'Stopped' },
      { ...fleet, name: 'e', phase: 'Done', gate: { kind: 'done' } },
    ] as const;
    const health = judge({ clusters: [clusterOf('z')], fleets });
    assert.deepEqual(statesOf(health), [
      'Behind failing',
      'Halted failing',
      'Unknown failing',
      'AwaitsApproval waiting',
    ]);
    assert.match(describeWell(health), /1 of 5 fleets are well$/);
  });
});
