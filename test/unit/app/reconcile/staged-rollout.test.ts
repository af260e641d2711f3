/**
 * A staged rollout through whole runs, beside the built-in controller and in its place (issue 17): what is sent, what is
 * recorded, what is told.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '../../../../src/core/model/effects.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';
import { fail, imageIn, stagedSetWorld } from '../../../support/staged-set-world.ts';

const POLICY = 'canary: {nodes: 1}\nsoak: 10m\nmaxUnavailable: 2';

async function world(mode: 'copilot' | 'takeover', policy = POLICY): Promise<ReconcileWorld> {
  const made = stagedSetWorld({ mode, policy });
  await made.settle();
  return made;
}

async function recordOf(made: ReconcileWorld): Promise<RolloutRecord | undefined> {
  return (await made.view.readState(made.ref))?.rollout;
}

const REFUSED: Outcome = { kind: 'refused', code: 'quota', status: 403, message: 'exceeded quota' };

const nodesWith = (made: ReconcileWorld, image: string): readonly string[] =>
  made.pods.filter((pod) => imageIn(pod['spec']) === image).map((pod) => nodeOf(pod) ?? '?');

describe('a policy that cannot be read', () => {
  for (const mode of ['copilot', 'takeover'] as const) {
    it(`is told by an Event, a log line and a metric, and not again while nothing is new (${mode})`, async () => {
      const made = await world(mode, 'canary: {nodez: 1}');
      const lines = made.log.lines.filter(({ fields }) => fields?.['code'] === 'policy-invalid');
      assert.ok(lines.length > 0);
      assert.equal(lines[0]?.level, 'warn');
      assert.match(String(lines[0].fields?.['detail']), /canary\.nodez/);
      assert.equal(made.metrics.sum('ReconcileStages', 'invalid'), lines.length);
      await made.run();
      assert.equal(made.metrics.sum('ReconcileStages', 'invalid'), lines.length);
    });
  }
});

describe('a canary node that dies after its update', () => {
  for (const mode of ['copilot', 'takeover'] as const) {
    it(`is told by Events, log lines and a metric, and another one goes in its place (${mode})`, async () => {
      const made = await world(mode);
      made.setImage('example/agent:2');
      await made.settle({ withinMs: 60_000 });
      const [name = ''] = nodesWith(made, 'example/agent:2');
      made.cluster.change('nodes', { namespace: '', name }, (node) => ({
        ...node,
        spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
        status: { conditions: [{ type: 'Ready', status: 'False' }] },
      }));
      await made.settle({ withinMs: 120_000 });
      assert.equal(nodesWith(made, 'example/agent:2').length, 2);
      assert.equal((await recordOf(made))?.step.kind, 'canary');
      const told = made.cluster
        .list('events')
        .filter((each) => each['reason'] === 'RolloutCanaryLost');
      assert.equal(told.length, 2);
      assert.equal(made.metrics.sum('ReconcileStages', 'lost'), 2);
      const lines = made.log.lines.filter(({ fields }) => fields?.['code'] === 'lost');
      assert.deepEqual(
        lines.map(({ level }) => level),
        ['warn', 'warn'],
      );
      await made.settle({ withinMs: 1_800_000 });
      const record = await recordOf(made);
      assert.equal(record?.step.kind, 'done');
      assert.equal(nodesWith(made, 'example/agent:2').length, 6);
    });
  }
});

describe('a rollback in takeover', () => {
  it('takes pods of a third revision back as well, whose rollout was edited away on its canary', async () => {
    const made = await world('takeover', `${POLICY}\nonHalt: rollback`);
    const proven = made.pods.map((pod) => imageIn(pod['spec']))[0] ?? '';
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    fail(made, 'example/agent:2');
    await made.settle({ withinMs: 1_800_000 });
    assert.equal(nodesWith(made, proven).length, 6);
    made.setImage('example/agent:3');
    await made.settle({ withinMs: 60_000 });
    assert.equal(nodesWith(made, 'example/agent:3').length, 1);
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 1_800_000 });
    assert.equal((await recordOf(made))?.breach?.cause, 'KnownBad');
    assert.equal(nodesWith(made, proven).length, 6);
  });
});

describe('a rollback in copilot', () => {
  const ROLLBACK = `${POLICY}\nonHalt: rollback`;

  it('gives the DaemonSet its good template back, and all pods with it', async () => {
    const made = await world('copilot', ROLLBACK);
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    fail(made, 'example/agent:2');
    await made.settle({ withinMs: 1_800_000 });
    assert.deepEqual(nodesWith(made, 'example/agent:2'), []);
    assert.equal(made.pods.length, 6);
    const restored = made.cluster.requests.filter((each) => each.startsWith('restore-template'));
    assert.equal(restored.length, 1);
    const record = await recordOf(made);
    assert.equal(record?.isReturn, true);
    assert.equal(record.refused[0]?.cause, 'OOMKilled');
    assert.equal(made.metrics.sum('ReconcileStages', 'halted'), 1);
    const [line, ...more] = made.log.lines.filter(({ level }) => level === 'warn');
    assert.deepEqual(more, [], 'said once');
    assert.equal(line?.fields?.['code'], 'OOMKilled');
    assert.match(String(line.fields['nodes']), /^node-\d+$/);
    assert.match(String(line.fields['detail']), /halted \(OOMKilled\)/);
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 1_800_000 });
    assert.equal((await recordOf(made))?.breach?.cause, 'KnownBad');
    const all = made.cluster.requests.filter((each) => each.startsWith('restore-template'));
    assert.equal(all.length, 1, 'nobody is fought');
  });

  for (const ending of ['answered', 'lost'] as const) {
    it(`does not fight who applies the halted template again before any look (${ending})`, async () => {
      const made = await world('copilot', ROLLBACK);
      made.setImage('example/agent:2');
      await made.settle({ withinMs: 60_000 });
      made.cluster.hooks = {
        beforeEffect: ({ kind }) =>
          kind === 'restore-template' && ending === 'lost' ? { kind: 'lose-answer' } : undefined,
        afterEffect: ({ kind }) => {
          if (kind === 'restore-template') made.setImage('example/agent:2');
        },
      };
      fail(made, 'example/agent:2');
      await made.settle({ withinMs: 1_800_000 });
      const sent = made.cluster.requests.filter((each) => each.startsWith('restore-template'));
      assert.equal(sent.length, 1);
      const record = await recordOf(made);
      assert.equal(record?.breach?.cause, 'KnownBad');
      assert.match(record.breach.message, /was halted before \(OOMKilled\)/);
    });
  }

  it('asks again for a template that was not restored: nothing came of the first request', async () => {
    const made = await world('copilot', ROLLBACK);
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    let asked = 0;
    made.cluster.hooks.beforeEffect = ({ kind }) => {
      if (kind !== 'restore-template') return undefined;
      asked += 1;
      const outcome = { kind: 'ambiguous', message: 'connection lost' } as const;
      return asked === 1 ? { kind: 'answer', outcome } : undefined;
    };
    fail(made, 'example/agent:2');
    await made.settle({ withinMs: 1_800_000 });
    assert.equal(asked, 2);
    assert.deepEqual(nodesWith(made, 'example/agent:2'), []);
  });

  it('stays halted without the right, and says once how a person goes back', async () => {
    const made = await world('copilot', ROLLBACK);
    let asked = 0;
    made.cluster.hooks.beforeEffect = ({ kind }) => {
      if (kind !== 'restore-template') return Promise.resolve(undefined);
      asked += 1;
      return Promise.resolve({ kind: 'answer', outcome: { ...REFUSED, code: 'forbidden' } });
    };
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    fail(made, 'example/agent:2');
    await made.settle({ withinMs: 600_000 });
    assert.equal((await recordOf(made))?.breach?.cause, 'OOMKilled');
    const told = made.cluster.list('events').filter((each) => each['reason'] === 'RollbackRefused');
    assert.equal(told.length, 1);
    assert.match(String(told[0]?.['message']), /rollout undo daemonset\/agents --to-revision=1$/);
    assert.equal(asked, 1, 'nobody grants a right within seconds');
  });
});

describe('a canary that never starts', () => {
  type Answer = ReturnType<NonNullable<ReconcileWorld['cluster']['hooks']['onRead']>>;

  /** Its new pod hangs; what its Events tell, if they can be read. */
  async function hang(onEvents?: () => Answer): Promise<ReconcileWorld> {
    const made = await world('copilot');
    made.setImage('example/agent:2');
    const { canary = [] } = (await recordOf(made)) ?? {};
    for (const name of canary) made.idleNodes.add(name);
    for (const { metadata } of made.cluster.list('nodes')) made.idleNodes.add(metadata.name);
    await made.settle({ withinMs: 60_000 });
    const [pod] = made.pods.filter((each) => imageIn(each['spec']) === 'example/agent:2');
    if (onEvents === undefined) {
      made.cluster.put('events', {
        metadata: { name: 'agents.1', namespace: 'system' },
        involvedObject: { uid: pod?.metadata.uid },
        type: 'Warning',
        reason: 'FailedMount',
        message: 'MountVolume.SetUp failed for volume "ca" : configmap "ca" not found (hunter2)',
      });
    }
    made.cluster.hooks.onRead = (what) => (what === 'LIST events' ? onEvents?.() : undefined);
    await made.settle({ withinMs: 3_600_000 });
    return made;
  }

  const lists = (made: ReconcileWorld): number => made.sent('LIST events');

  it('halts with the cause that its Events name, asked once', async () => {
    const made = await hang();
    const { breach } = (await recordOf(made)) ?? {};
    assert.equal(breach?.cause, 'StartFailure');
    assert.match(breach.message, /FailedMount: a volume .*\(volume ca, configmap ca is missing\)/);
    assert.doesNotMatch(breach.message, /hunter2/);
    const halted = made.cluster.list('events').filter((each) => each['reason'] === 'RolloutHalted');
    assert.equal(halted.length, 1);
    assert.match(String(halted[0]?.['message']), /configmap ca is missing/);
    assert.equal(lists(made), 1);
  });

  it('halts all the same where they cannot be read, and says so', async () => {
    const made = await hang(() =>
      Promise.resolve({ kind: 'unavailable', message: 'forbidden', isRefused: true }),
    );
    const { breach } = (await recordOf(made)) ?? {};
    assert.match(breach?.message ?? '', /no cause is known: its Events cannot be read/);
    assert.equal(lists(made), 1);
  });
});

describe('an API server that becomes slow during a rollout', () => {
  /** So late in each of the last forty quarters of a minute. */
  function answerIn(made: ReconcileWorld, tookMs: () => number): void {
    made.cluster.answers = () =>
      Array.from({ length: 40 }, (_, index) => ({
        kind: 'get pods',
        atMs: made.clock.nowMs() - (39 - index) * 15_000,
        tookMs: tookMs(),
      }));
  }

  /** A rollout whose canary soaks for ten minutes, in which answers take so long. */
  async function play(beforeMs: number, sinceMs: number): Promise<ReconcileWorld> {
    const made = await world('takeover');
    let tookMs = beforeMs;
    answerIn(made, () => tookMs);
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    tookMs = sinceMs;
    await made.settle({ withinMs: 1_800_000 });
    return made;
  }

  it('halts it, with the numbers', async () => {
    const made = await play(20, 4000);
    const breach = (await recordOf(made))?.breach;
    assert.equal(breach?.cause, 'ApiServerSlow');
    assert.match(breach.message, /get pods takes 4000 ms, and took 20 ms before/);
    assert.ok(nodesWith(made, 'example/agent:2').length <= 3, 'the canary, and one batch');
  });

  it('and was as slow before, halts nothing', async () => {
    const record = await recordOf(await play(4000, 4000));
    assert.equal(record?.breach, undefined);
    assert.equal(record?.step.kind, 'done');
  });

  it('costs no write of its own', async () => {
    const made = await world('takeover');
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    const before = await recordOf(made);
    answerIn(made, () => 4000);
    await made.run();
    assert.deepEqual(await recordOf(made), before, 'nothing else was to be written');
  });
});

for (const mode of ['copilot', 'takeover'] as const) {
  describe(`a staged rollout in ${mode}`, () => {
    it('replaces the canary, waits for its soak, then the others', async () => {
      const made = await world(mode);
      made.setImage('example/agent:2');
      await made.settle({ withinMs: 60_000 });
      const canary = nodesWith(made, 'example/agent:2');
      assert.deepEqual(canary, (await recordOf(made))?.canary);
      await made.settle({ withinMs: 1_800_000 });
      assert.equal(nodesWith(made, 'example/agent:2').length, 6);
      const record = await recordOf(made);
      assert.equal(record?.step.kind, 'done');
      assert.equal(record.proven?.hash, record.hash);
      const deletes = made.cluster.requests.filter((request) => request.startsWith('delete-pod '));
      assert.equal(deletes.length, 6);
    });

    it('is held by a policy that cannot be read, and says so once', async () => {
      const made = await world(mode, 'canary: {nodes: many}');
      made.setImage('example/agent:2');
      await made.settle({ withinMs: 1_800_000 });
      assert.deepEqual(nodesWith(made, 'example/agent:2'), []);
      const told = made.cluster
        .list('events')
        .filter((event) => event['reason'] === 'InvalidRolloutPolicy');
      assert.equal(told.length, 1);
      assert.match(String(told[0]?.['message']), /canary\.nodes/);
      assert.equal(await recordOf(made), undefined);
    });

    it('touches one node of a revision whose pods are never made', async () => {
      const made = await world(mode);
      made.cluster.hooks.admitPod = () => ({ code: 'quota' });
      made.setImage('example/agent:2');
      await made.settle({ withinMs: 1_800_000 });
      assert.equal(made.pods.length, 5);
      const cause = (await recordOf(made))?.breach?.cause;
      assert.equal(cause, mode === 'copilot' ? 'NotRecreated' : 'CreateRefused');
    });
  });
}
