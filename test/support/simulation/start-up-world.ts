/** A world whose nodes join with the start-up taint. */
import type { StartUp } from '../../../src/core/model/registration.ts';
import { START_UP_TAINT } from './start-up-audit.ts';
import type { RawDaemonSetOptions } from './objects.ts';
import type { World } from './world.ts';

/** For which the Node Readiness Controller takes the taint away. */
export const START_UP_CONDITION = 'example.com/AgentsReady';

/** Its stand-in: it takes the taint from each node that has the condition, a while after that was written. */
export function startReadinessController(world: World, afterMs = 50): void {
  const { api } = world;
  api.subscribe((commit) => {
    if (commit?.kind !== 'nodes' || commit.type === 'deleted') return;
    const { conditions = [] } = (commit.object['status'] ?? {}) as {
      readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    };
    const { taints = [] } = (commit.object['spec'] ?? {}) as {
      readonly taints?: readonly object[];
    };
    const isTold = conditions.some(
      ({ type, status }) => type === START_UP_CONDITION && status === 'True',
    );
    if (!isTold || taints.length === 0) return;
    const { name } = commit.object.metadata;
    world.clock.after(afterMs, () => {
      if (api.find('nodes', name) === undefined) return;
      api.change('nodes', { namespace: '', name }, (node) => ({
        ...node,
        spec: { ...(node['spec'] as object), taints: [] },
      }));
    });
  });
}

/** Sets it up; the answer is what DaemonSets have that are waited for. */
export async function enterStartUp(
  world: World,
  counts: StartUp['counts'],
): Promise<Pick<RawDaemonSetOptions, 'labels' | 'tolerations'>> {
  world.site.taintJoining(counts);
  const startUp = { taint: START_UP_TAINT, counts, waitBoundMs: 600_000 };
  await world.reconfigure({ startUp });
  return {
    labels: { 'rollcall.dev/start-up': 'true' },
    tolerations: [{ key: START_UP_TAINT.key, operator: 'Exists' }],
  };
}
