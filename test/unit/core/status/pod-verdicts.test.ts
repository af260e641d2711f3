/** What the matter is with a pod that is not ready: cause and remedy for each trouble that its status tells. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodProjection, PodTrouble } from '../../../../src/core/model/projections.ts';
import type { NodeCode, Verdict } from '../../../../src/core/model/verdict.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { groupReasons } from '../../../../src/core/status/reason-groups.ts';
import { NOW_MS, context, namedPod, node, view } from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

const PENDING = { phase: 'Pending', isReady: false } as const;
const UNREADY = { isReady: false } as const;
const MINUTES_AGO_MS = NOW_MS - 180_000;

function verdictsOf(options: ViewOptions): readonly Verdict[] {
  return planReconcile(view({ nodes: [node('n1')], ...options }), context()).verdicts();
}

const troubled = (trouble: PodTrouble, more: object = PENDING): ViewOptions => ({
  pods: [{ ...namedPod('n1', 'p', more), trouble }],
});
const unbound = (trouble: PodTrouble): ViewOptions =>
  troubled(trouble, { ...PENDING, boundNode: null });

const OOM = { reason: 'OOMKilled', exitCode: 137, finishedAtMs: NOW_MS - 5000 };

describe('the matter with a pod that is not ready', () => {
  const rows: readonly (readonly [string, ViewOptions, NodeCode, RegExp, RegExp])[] = [
    [
      'no room on its node',
      unbound({ unscheduled: 'Unschedulable', cause: 'Insufficient memory' }),
      'Unschedulable',
      /which the scheduler cannot bind: Insufficient memory/,
      /make room on the node/,
    ],
    [
      'a cordoned node',
      unbound({ unscheduled: 'Unschedulable', cause: 'the node is cordoned' }),
      'Unschedulable',
      /the node is cordoned/,
      /^kubectl uncordon n1$/,
    ],
    [
      'a scheduler that does not say why',
      unbound({ unscheduled: 'Unschedulable' }),
      'Unschedulable',
      /cannot bind: Unschedulable/,
      /describe pod p/,
    ],
    [
      'a scheduling gate',
      unbound({ unscheduled: 'SchedulingGated' }),
      'SchedulingGated',
      /which a scheduling gate holds/,
      /schedulingGates/,
    ],
    [
      'an image that cannot be pulled',
      troubled({ waiting: 'ImagePullBackOff', container: 'agent' }),
      'ImagePullBackOff',
      /whose container agent has no image: ImagePullBackOff/,
      /describe pod p/,
    ],
    [
      'a Secret that is missing',
      troubled({
        waiting: 'CreateContainerConfigError',
        container: 'agent',
        cause: 'Secret token is missing',
      }),
      'CreateContainerConfigError',
      /whose container agent cannot be made: CreateContainerConfigError, Secret token is missing/,
      /^create it, or repair the reference \(Secret token is missing\)$/,
    ],
    [
      'a runtime that refuses',
      troubled({ waiting: 'RunContainerError' }),
      'CreateContainerError',
      /whose container cannot be made: RunContainerError/,
      /describe pod p/,
    ],
    [
      'a crash loop, with exit code, reason, restarts and since when',
      troubled(
        { waiting: 'CrashLoopBackOff', container: 'agent', lastExit: OOM, restarts: 12 },
        UNREADY,
      ),
      'CrashLoopBackOff',
      /container agent crashes: exit code 137 \(OOMKilled\), 12 restarts, last at 2026-11-21T11:59:55Z/,
      /^raise its memory limit; kubectl -n \S+ logs p -c agent --previous$/,
    ],
    [
      'a crash loop between two crashes',
      troubled({ lastExit: { reason: 'Error', exitCode: 1 }, restarts: 2 }, UNREADY),
      'CrashLoopBackOff',
      /container crashes: exit code 1, 2 restarts/,
      /logs p --previous$/,
    ],
    [
      'a pod that is bound for long and has no container',
      { pods: [namedPod('n1', 'p', { ...PENDING, createdAtMs: MINUTES_AGO_MS })] },
      'ContainerCreating',
      /its containers are not made since 2026-11-21T11:57:00Z: an image that takes long, a volume, or the network/,
      /Events name it/,
    ],
    [
      'a readiness probe that fails',
      { pods: [namedPod('n1', 'p', { ...UNREADY, readyChangedAtMs: MINUTES_AGO_MS })] },
      'NotReady',
      /runs and is not ready since 2026-11-21T11:57:00Z: its readiness probe fails/,
      /look at its readiness probe/,
    ],
    [
      'a readiness gate',
      troubled({ isReadyWithheld: true }, UNREADY),
      'ReadinessGatesNotReady',
      /a readiness gate withholds/,
      /readinessGates/,
    ],
    [
      'a node that is not ready, whatever its pod said before',
      {
        nodes: [node('n1', { isReady: false })],
        ...troubled({ waiting: 'CrashLoopBackOff', lastExit: OOM }, UNREADY),
      },
      'NodeNotReady',
      /the node is not ready/,
      /^kubectl describe node n1$/,
    ],
  ];
  for (const [title, options, code, message, remedy] of rows) {
    it(title, () => {
      const [verdict] = verdictsOf(options);
      assert.equal(verdict?.code, code);
      assert.match(verdict.message, message);
      assert.match(groupReasons([verdict])[0]?.remedy ?? '', remedy);
    });
  }

  it('is none of one that has just begun', () => {
    const createdAtMs = NOW_MS - 5000;
    for (const phase of ['Pending', 'Running'] as const) {
      const pods = [namedPod('n1', 'p', { phase, isReady: false, createdAtMs })];
      assert.equal(verdictsOf({ pods })[0]?.code, 'Pending');
    }
  });

  it('is the same of nodes that differ in pods, restarts and times alone', () => {
    const crashing = (on: string, restarts: number): PodProjection => ({
      ...namedPod(on, `agent-${on}`, UNREADY),
      trouble: { restarts, container: 'agent', lastExit: { ...OOM, finishedAtMs: restarts } },
    });
    const nodes = [node('n1'), node('n2')];
    const groups = groupReasons(
      verdictsOf({ nodes, pods: [crashing('n1', 3), crashing('n2', 90)] }),
    );
    assert.deepEqual(
      groups.map(({ nodes: names, message }) => [names, message]),
      [[['n1', 'n2'], 'has a pod whose container agent crashes: exit code 137 (OOMKilled)']],
    );
  });
});

describe('where no pod belongs', () => {
  const gpu = { key: 'nvidia.com/gpu', value: 'true', effect: 'NoSchedule' } as const;

  it('says which toleration is missing', () => {
    const groups = groupReasons(verdictsOf({ nodes: [node('gpu-1', { taints: [gpu] })] }));
    assert.equal(
      groups[0]?.remedy,
      'add the toleration {key: nvidia.com/gpu, value: "true", effect: NoSchedule} to the template, or remove the taint: kubectl taint node NODE nvidia.com/gpu:NoSchedule-',
    );
  });
});
