/**
 * Each reason that can be brought about on a local cluster, through the engine and its handlers: `rollcall why` tells the cause and
 * what to do (issue 43). What only a race or another controller brings about: test/unit/core/status/told-reasons.test.ts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ReasonCode } from '../../../src/core/status/reasons.ts';
import { WhyStage } from './why-stage.ts';
import type { SetOf } from './why-stage.ts';

/** Later than a start takes, sooner than a watcher counts as silent. */
const LATER_MS = 150_000;
const GATE = 'example.com/gate';
const ANYWHERE = { nodeSelector: {} };

const affinityTo = (key: string): object => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }],
    },
  },
});

interface Row {
  readonly code: ReasonCode;
  readonly set: SetOf;
  readonly node?: string;
  readonly cause: RegExp;
  readonly remedy: RegExp;
  readonly laterByMs?: number;
}

const ROWS: Readonly<Record<string, Row>> = {
  'no-room': {
    code: 'Unschedulable',
    set: { container: { resources: { requests: { cpu: '1000' } } } },
    cause: /the scheduler cannot bind: Insufficient cpu/,
    remedy: /make room on the node, lower the requests/,
  },
  gated: {
    code: 'SchedulingGated',
    set: { spec: { schedulingGates: [{ name: GATE }] } },
    cause: /a scheduling gate holds/,
    remedy: /kubectl -n default get pod gated-\w+ .*schedulingGates/,
  },
  'no-image': {
    code: 'ImagePullBackOff',
    set: { container: { image: 'example/main:1-simulate-pull-fails' } },
    cause: /container main has no image: ImagePullBackOff/,
    remedy: /kubectl -n default describe pod no-image-\w+/,
  },
  'no-config': {
    code: 'CreateContainerConfigError',
    set: {
      container: {
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'token', key: 'a' } } }],
      },
    },
    cause: /container main cannot be made: CreateContainerConfigError, Secret token is missing/,
    remedy: /create it, or repair the reference/,
  },
  'no-container': {
    code: 'CreateContainerError',
    set: { container: { image: 'example/main:1-simulate-create-fails' } },
    cause: /container main cannot be made: CreateContainerError/,
    remedy: /describe pod no-container-\w+/,
  },
  'out-of-memory': {
    code: 'CrashLoopBackOff',
    set: { container: { image: 'example/main:1-simulate-oom-1s' } },
    cause: /container main crashes: exit code 137 \(OOMKilled\), \d+ restarts?, last at 2/,
    remedy: /raise its memory limit; kubectl -n default logs out-of-memory-\w+ -c main --previous/,
  },
  'no-volume': {
    code: 'ContainerCreating',
    set: {
      spec: { volumes: [{ name: 'config', configMap: { name: 'missing' } }] },
    },
    cause: /its containers are not made since 2.*: an image that takes long, a volume/,
    remedy: /its Events name it: kubectl -n default describe pod no-volume-\w+/,
    laterByMs: LATER_MS,
  },
  'not-ready': {
    code: 'NotReady',
    set: {
      container: {
        image: 'example/main:1-simulate-ready-after-10h',
        readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
      },
    },
    cause: /runs and is not ready.*: its readiness probe fails/,
    remedy: /look at its readiness probe: kubectl/,
    laterByMs: LATER_MS,
  },
  starting: {
    code: 'Pending',
    set: { container: { image: 'example/main:1-simulate-pull-10h' } },
    cause: /has pod starting-\w+, which is starting/,
    remedy: /^$/,
  },
  tainted: {
    code: 'TaintNotTolerated',
    set: { spec: ANYWHERE },
    node: 'gpu-1',
    cause: /has taint .*:NoSchedule which the template does not tolerate/,
    remedy: /add the toleration \{key: .*, value: "present", effect: NoSchedule\} to the template/,
  },
  selected: {
    code: 'NodeSelectorMismatch',
    set: {},
    node: 'storage-1',
    cause:
      /lacks the label kubernetes.io\/hostname=worker-1 .*: it has kubernetes.io\/hostname=storage-1/,
    remedy: /kubectl label node NODE kubernetes.io\/hostname=worker-1/,
  },
  affine: {
    code: 'NodeAffinityMismatch',
    set: { spec: { ...ANYWHERE, affinity: affinityTo('disk') } as SetOf['spec'] & object },
    cause: /does not match .* \(disk In \[a\]\): it has no label disk/,
    remedy: /label the node, or change the affinity/,
  },
  named: {
    code: 'OtherNodeName',
    set: { spec: { nodeName: 'worker-1', ...ANYWHERE } },
    node: 'storage-1',
    cause: /is not node worker-1, which the template's nodeName demands/,
    remedy: /remove spec.nodeName from the template/,
  },
  well: {
    code: 'Running',
    set: { spec: ANYWHERE },
    cause: /has ready pod well-\w+/,
    remedy: /^$/,
  },
};

describe('rollcall why, of what goes on in a cluster', () => {
  let stage: WhyStage;
  before(async () => {
    stage = await WhyStage.open();
    for (const [name, { set }] of Object.entries(ROWS)) await stage.create(name, set);
    await stage.create('rolled', {
      spec: ANYWHERE,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    });
    await stage.create('by-hand', { strategy: { type: 'OnDelete' } });
    await stage.create('slow-to-go', {
      spec: { terminationGracePeriodSeconds: 600 },
      annotations: { 'simulate.rollcall.dev/main': 'ignore-sigterm' },
    });
  });
  after(() => stage.close());

  const ask = (name: string, node = 'worker-1'): readonly string[] => [
    ...['why', `default/${name}`, '--cluster', stage.id, '--node', node],
  ];
  /** The code in its line, and the remedy below it. */
  const expectReason = async (name: string, row: Omit<Row, 'set'>): Promise<void> => {
    const { code, cause, remedy, node, laterByMs } = row;
    const run = await stage.until(ask(name, node), new RegExp(`\\(${code}: `), laterByMs);
    const [line = '', next = ''] =
      run.stdout
        .split(new RegExp(`(?=.*\\(${code}: )`))
        .at(-1)
        ?.split('\n') ?? [];
    assert.match(line, cause);
    assert.match(next.startsWith('    do: ') ? next.slice(8) : '', remedy);
  };

  for (const [name, row] of Object.entries(ROWS)) {
    it(`${row.code}: ${name}`, () => expectReason(name, row));
  }

  it('WaitingForTermination: a pod that takes long to go', async () => {
    await stage.until(ask('slow-to-go'), /\(Running: /);
    const [pod = ''] = await stage.podsOf('slow-to-go');
    await stage.send('DELETE', `/api/v1/namespaces/default/pods/${pod}`, {});
    await expectReason('slow-to-go', {
      code: 'WaitingForTermination',
      cause: /pod slow-to-go-\w+ has to be gone first, then it is replaced/,
      remedy: /kubelet is alive/,
    });
  });

  it('Outdated: a pod of an older revision under OnDelete', async () => {
    await stage.until(ask('by-hand'), /\(Running: /);
    await stage.setImage('by-hand', 'example/main:2');
    const cause = /of an older revision, which stays until it is deleted \(OnDelete\)/;
    await expectReason('by-hand', { code: 'Outdated', cause, remedy: /delete the pod/ });
  });

  it('WaitingForRollout: pods whose turn a bad release keeps from coming, and the budget', async () => {
    const whole = ['why', 'default/rolled', '--cluster', stage.id, '--all'];
    await stage.until(whole, /\b3 Running\b/);
    await stage.setImage('rolled', 'example/main:2-simulate-pull-fails');
    const run = await stage.until(whole, /ImagePullBackOff: [^]*WaitingForRollout: /);
    assert.match(
      run.stdout,
      /2 serving: [-\w, ]+ \(WaitingForRollout: .* when maxUnavailable has room/,
    );
    assert.match(run.stdout, /do: see what the rollout waits for: rollcall rollout status/);
    assert.match(run.stdout, /budget: 1 of 1 unavailable, 0 free; 2 nodes wait for their turn/);
  });

  it('KeptDespiteTaint: a pod that was there before the taint', async () => {
    await stage.until(ask('well', 'storage-1'), /\(Running: /);
    const taints = [{ key: 'maintenance', effect: 'NoSchedule' }];
    await stage.send('PATCH', '/api/v1/nodes/storage-1', { spec: { taints } });
    await expectReason('well', {
      code: 'KeptDespiteTaint',
      node: 'storage-1',
      cause: /has taint maintenance:NoSchedule .* may stay, a lost one is not made again/,
      remedy: /add the toleration \{key: maintenance, operator: Exists, effect: NoSchedule\}/,
    });
  });

  it('tells of every DaemonSet of a node', async () => {
    const run = await stage.run(['why', '--cluster', stage.id, '--node', 'worker-1']);
    for (const name of Object.keys(ROWS))
      assert.match(run.stdout, new RegExp(`/default/${name}: `));
  });

  it('frozen: a DaemonSet whose pod waits for the thaw, and who froze it', async () => {
    await stage.run(['freeze', '--cluster', stage.id, '--why', 'INC-1', '--yes']);
    const [pod = ''] = await stage.podsOf('selected');
    await stage.send('DELETE', `/api/v1/namespaces/default/pods/${pod}?gracePeriodSeconds=0`, {});
    const argv = ['why', 'default/selected', '--cluster', stage.id];
    const run = await stage.until(argv, /\(frozen: /);
    assert.match(run.stdout, /^! .*frozen by ann .*\(INC-1\)/m);
    assert.match(run.stdout, /1 held: \S+ \(frozen: needs a change, which waits: .*INC-1/);
    assert.match(run.stdout, /do: rollcall thaw/);
  });
});
