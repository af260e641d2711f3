/** A world with one DaemonSet under a policy, for whole runs of staged rollouts and of copies of proven templates (issue 17, ADR 0063). */
import type { DaemonSetState } from '../../src/core/model/state.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { ReconcileWorld } from './reconcile-world.ts';

/** One canary, ten minutes, and back. */
export const POLICY = 'canary: {nodes: 1}\nsoak: 10m\nmaxUnavailable: 2\nonHalt: rollback';
/** The DaemonSet. */
export const NAME = { namespace: 'system', name: 'agents' };
/** An hour. */
export const HOURS_MS = 3_600_000;

/** Six Ready nodes, and a DaemonSet under a policy. */
export function stagedSetWorld({
  mode = 'takeover',
  policy = POLICY,
}: { readonly mode?: 'takeover' | 'copilot'; readonly policy?: string } = {}): ReconcileWorld {
  const made = new ReconcileWorld({
    mode,
    nodes: 6,
    daemonSet: (object: DaemonSetObject): DaemonSetObject => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/rollout': policy } },
      spec: {
        ...object.spec,
        updateStrategy: { type: mode === 'copilot' ? 'OnDelete' : 'RollingUpdate' },
      },
    }),
  });
  for (const { metadata } of made.cluster.list('nodes')) ready(made, metadata.name);
  return made;
}

/** A node is Ready. */
export function ready(made: ReconcileWorld, name: string): void {
  const conditions = [{ type: 'Ready', status: 'True' }];
  made.cluster.change('nodes', { namespace: '', name }, (node) => ({
    ...node,
    status: { conditions },
  }));
}

/** What the state knows of copies. */
export async function copiesOf(made: ReconcileWorld): Promise<DaemonSetState['copies']> {
  return (await made.view.readState(made.ref))?.copies;
}

/** After the memo of a settled DaemonSet expired. */
export async function later(made: ReconcileWorld): Promise<void> {
  await made.clock.advance(7 * HOURS_MS);
  await made.settle();
}

/** What a pod, or a template, runs. */
export const imageIn = (spec: unknown): string =>
  (spec as { containers: readonly { image: string }[] }).containers[0]?.image ?? '';
/** What all pods run. */
export const images = (made: ReconcileWorld): readonly string[] =>
  made.pods.map((pod) => imageIn(pod['spec'])).sort();
/** What each copy is of. */
export const copied = (made: ReconcileWorld): Readonly<Record<string, string>> =>
  Object.fromEntries(
    made.cluster
      .list('podtemplates')
      .map((each) => [
        each.metadata.name,
        imageIn((each['template'] as { readonly spec: unknown }).spec),
      ]),
  );
/** Requests that write a copy. */
export const writes = (made: ReconcileWorld): readonly string[] =>
  made.cluster.requests.filter((request) => /^(create|replace)-copy/.test(request));

/** Every pod of that image runs out of memory. */
export function fail(made: ReconcileWorld, image: string): void {
  for (const pod of made.pods.filter((each) => imageIn(each['spec']) === image)) {
    made.cluster.change('pods', { namespace: 'system', name: pod.metadata.name }, (object) => ({
      ...object,
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: 'True' }],
        containerStatuses: [
          {
            name: 'agent',
            restartCount: 1,
            lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
          },
        ],
      },
    }));
  }
}
