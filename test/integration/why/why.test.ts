/**
 * Each reason of pods and nodes, brought about on a local cluster through the engine and its handlers: `rollcall why` tells the cause
 * and what to do (issue 43). What holds runs or the whole cluster: held.test.ts. test/unit/docs/reasons.test.ts compares the list.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Verdict } from '../../../src/core/model/verdict.ts';
import { WhyStage } from './why-stage.ts';
import type { Expected, SetOf } from './why-stage.ts';

/** Later than a start takes, sooner than a watcher counts as silent. */
const LATER_MS = 150_000;
const GATE = 'example.com/gate';
const ANYWHERE = { nodeSelector: {} };

const affinityTo = (key: string, operator = 'In'): JsonObject => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values: ['a'] }] }],
    },
  },
});

interface Row extends Expected {
  readonly set: SetOf;
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
    set: { spec: { ...ANYWHERE, affinity: affinityTo('disk') } },
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
  'no-number': {
    code: 'NodeAffinityInvalid',
    set: { spec: { ...ANYWHERE, affinity: affinityTo('disk', 'Gt') } },
    cause: /is invalid \(operator Gt of disk needs an integer, not "a"\)/,
    remedy: /repair the term that is named/,
  },
  withheld: {
    code: 'ReadinessGatesNotReady',
    set: { spec: { readinessGates: [{ conditionType: GATE }] } },
    cause: /whose containers are ready, and which a readiness gate withholds/,
    remedy: /kubectl -n default get pod withheld-\w+ .*readinessGates/,
  },
  dull: {
    code: 'NodeNotReady',
    set: {
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': 'not-ready-1' },
        tolerations: [{ operator: 'Exists' }],
      },
      container: { image: 'example/main:1-simulate-pull-10h' },
    },
    node: 'not-ready-1',
    cause: /has pod dull-\w+, which is not ready: the node is not ready/,
    remedy: /kubectl describe node not-ready-1/,
  },
  'no-labels': {
    code: 'Blocked',
    set: { isUnlabelled: true },
    cause: /the template has no labels, so no pod can be made of it/,
    remedy: /repair what the message names/,
  },
  refused: {
    code: 'Refused',
    set: {},
    cause: /its pod was refused \(admission: .*\); it is tried again later, at 2/,
    remedy: /docs\/reference\/codes.md says what each refusal means/,
  },
  'out-of-cpu': {
    code: 'FailedBackoff',
    set: {
      spec: { ...ANYWHERE, nodeName: 'worker-1' },
      container: { resources: { requests: { cpu: '1000' } } },
    },
    cause: /waits: pod out-of-cpu-\w+ failed .*, at 2/,
    remedy: /make room on the node, lower the requests/,
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
    const [only] = await WhyStage.open({ clusters: 1, nodes: 6 });
    assert.ok(only !== undefined);
    stage = only;
    const annotations = { 'simulate.rollcall.dev/refuse-pods': 'app=refused' };
    await stage.editNode('worker-1', { annotations });
    for (const [name, { set }] of Object.entries(ROWS)) await stage.create(name, set);
    await stage.create('rolled', {
      spec: ANYWHERE,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
    });
    await stage.create('surged', {
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    await stage.create('by-hand', { strategy: { type: 'OnDelete' } });
    const policy = '{canary: {nodes: 1}, soak: 1h}';
    await stage.create('staged', { spec: ANYWHERE, policy });
    await stage.create('guarded', { policy });
    await stage.create('slow-to-go', {
      spec: { terminationGracePeriodSeconds: 600 },
      annotations: { 'simulate.rollcall.dev/main': 'ignore-sigterm' },
    });
  });
  after(() => stage.close());

  for (const [name, row] of Object.entries(ROWS)) {
    it(`${row.code}: ${name}`, () => stage.expect(name, row));
  }

  it('WaitingForTermination: a pod that takes long to go', async () => {
    await stage.until(stage.ask('slow-to-go'), /\(Running: /);
    const [pod = ''] = await stage.podsOf('slow-to-go');
    await stage.send('DELETE', `/api/v1/namespaces/default/pods/${pod}`, {});
    await stage.expect('slow-to-go', {
      code: 'WaitingForTermination',
      cause: /pod slow-to-go-\w+ has to be gone first, then it is replaced/,
      remedy: /kubelet is alive/,
    });
  });

  it('Outdated: a pod of an older revision under OnDelete', async () => {
    await stage.until(stage.ask('by-hand'), /\(Running: /);
    await stage.setImage('by-hand', 'example/main:2');
    const cause = /of an older revision, which stays until it is deleted \(OnDelete\)/;
    await stage.expect('by-hand', { code: 'Outdated', cause, remedy: /delete the pod/ });
  });

  it('Updating: a pod whose successor starts beside it', async () => {
    await stage.until(stage.ask('surged'), /\(Running: /);
    await stage.setImage('surged', 'example/main:2-simulate-pull-10h');
    await stage.expect('surged', {
      code: 'Updating',
      cause:
        /has pod surged-\w+ of the current revision; pod surged-\w+ goes when that is available/,
      remedy: /^$/,
    });
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

  it('WaitingForRevision: a pod of a good release whose revision is gone', async () => {
    const whole = ['why', 'default/staged', '--cluster', stage.id, '--all'];
    await stage.until(whole, /\b3 Running\b/);
    const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
    const [good = ''] = await stage.namesOf(revisions, 'staged');
    await stage.setImage('staged', 'example/main:2');
    await stage.until(['rollout', 'status', stage.id, 'default/staged'], /soaks until/);
    await stage.send('DELETE', `${revisions}/${good}`, {});
    await stage.dropPods('staged');
    // The pods end one after the other.
    const run = await stage.until(whole, /\b2 held: .*WaitingForRevision: /);
    assert.match(run.stdout, /2 held: .* its pod is to be of the last good revision .*\n.*resume/);
  });

  it('KeptDespiteTaint: a pod that was there before the taint', async () => {
    await stage.until(stage.ask('well', 'storage-1'), /\(Running: /);
    const taints = [{ key: 'maintenance', effect: 'NoSchedule' }];
    await stage.send('PATCH', '/api/v1/nodes/storage-1', { spec: { taints } });
    await stage.expect('well', {
      code: 'KeptDespiteTaint',
      node: 'storage-1',
      cause: /has taint maintenance:NoSchedule .* may stay, a lost one is not made again/,
      remedy: /add the toleration \{key: maintenance, operator: Exists, effect: NoSchedule\}/,
    });
  });

  it('HeldByRemovalGuard: an edit that would take the last pod away', async () => {
    await stage.until(stage.ask('guarded'), /\(Running: /);
    await stage.editPods('guarded', { nodeSelector: { nowhere: 'yes' } });
    await stage.expect('guarded', {
      code: 'HeldByRemovalGuard',
      cause: /waits: /,
      remedy: /take the change back, or confirm it as the Event RemovalHeld says/,
    });
  });

  it('tells of every DaemonSet of a node', async () => {
    const run = await stage.run(['why', '--cluster', stage.id, '--node', 'worker-1']);
    for (const name of Object.keys(ROWS))
      assert.match(run.stdout, new RegExp(`/default/${name}: `));
  });

  it('Eligible and NotWanted, in the document beside the reason that is told', async () => {
    const run = await stage.run([
      'why',
      'default/tainted',
      '--cluster',
      stage.id,
      '--all',
      '--json',
    ]);
    const { answers } = JSON.parse(run.stdout) as {
      readonly answers: readonly { readonly nodes: readonly Verdict[] }[];
    };
    const nodes = answers.flatMap((answer) => answer.nodes);
    const codesOf = (name: string): readonly string[] =>
      nodes.flatMap(({ node, code, reason }) => (node === name ? [code, reason.code] : []));
    assert.deepEqual(codesOf('worker-1'), ['Running', 'Eligible']);
    assert.deepEqual(codesOf('gpu-1'), ['NotWanted', 'TaintNotTolerated']);
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
