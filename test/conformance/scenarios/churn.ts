/**
 * Seeded churn of a stage: pods deleted or failed, nodes relabelled and tainted, and at the end
 * everything as the examples expect it again.
 */
import { ApiError } from '../control-plane/api.ts';
import { podPath } from './daemon-set.ts';
import { NODES, type BareStage } from './stage.ts';
import type { Seeded } from './seeded.ts';

const REPAIR_TAINT = { key: 'repair.example.com', effect: 'NoExecute' } as const;

type Step = (stage: Pick<BareStage, 'admin' | 'observer'>, seeded: Seeded) => Promise<string>;

const STEPS: readonly Step[] = [
  async ({ admin, observer }, seeded) => {
    const pods = [...observer.pods.values()].filter((pod) => pod.daemonSetUid !== undefined);
    if (pods.length === 0) return 'no pod to delete';
    const pod = seeded.pick(pods);
    await tolerateMissing(admin.delete(podPath(pod)));
    return `delete pod ${pod.name}`;
  },
  async ({ admin, observer }, seeded) => {
    const pods = [...observer.pods.values()].filter((pod) => pod.isReady && !pod.isDeleting);
    if (pods.length === 0) return 'no pod to fail';
    const pod = seeded.pick(pods);
    await tolerateMissing(admin.patch(`${podPath(pod)}/status`, { status: { phase: 'Failed' } }));
    return `fail pod ${pod.name}`;
  },
  async ({ admin }, seeded) => {
    const node = seeded.pick(NODES.plain);
    const value = seeded.next() < 0.5 ? 'true' : null;
    await admin.patch(`/api/v1/nodes/${node}`, {
      metadata: { labels: { 'storage.example.com/local-disks': value } },
    });
    return `label ${node} storage=${String(value)}`;
  },
  async ({ admin }, seeded) => {
    const node = seeded.pick(NODES.plain);
    const taints = seeded.next() < 0.5 ? [REPAIR_TAINT] : [];
    await admin.patch(`/api/v1/nodes/${node}`, { spec: { taints } });
    return `taint ${node} ${String(taints.length)}`;
  },
];

/** Does one seeded thing; returns what, for the log of a failure. */
export function churn(
  stage: Pick<BareStage, 'admin' | 'observer'>,
  seeded: Seeded,
): Promise<string> {
  return seeded.pick(STEPS)(stage, seeded);
}

export async function endChurn(stage: Pick<BareStage, 'admin'>): Promise<void> {
  for (const node of NODES.plain) {
    await stage.admin.patch(`/api/v1/nodes/${node}`, {
      metadata: { labels: { 'storage.example.com/local-disks': null } },
      spec: { taints: [] },
    });
  }
}

/** What was chosen may be gone by now; everything else is an error. */
async function tolerateMissing(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}
