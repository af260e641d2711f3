/** Hands a cluster back while an engine runs on, observing it. */
import { createHandBackAccess } from '../../../src/adapters/kubernetes/operator/hand-back-access.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { handBack, type HandBackResult } from '../../../src/app/takeover/hand-back.ts';
import { FUNCTION_MAX_MS } from '../../../src/core/pod/request-life.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { EngineCluster } from '../../../src/engine/engine-options.ts';
import { openTransport } from '../../../src/engine/reach-cluster.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';

/** As `rollcall cluster set --mode observe` does it, over the engine's own stores. */
export async function handBackFrom(
  { registry, view }: Engine,
  cluster: EngineCluster,
  onProgress: (text: string) => void = () => undefined,
): Promise<HandBackResult> {
  const transport = openTransport(cluster, cluster.probe);
  try {
    return await handBack(cluster.id, {
      registry,
      view,
      access: createHandBackAccess({ transport }),
      clock: createSystemClock(),
      requestTimeoutMs: defaultReconcileOptions.requestTimeoutMs,
      functionMaxMs: FUNCTION_MAX_MS,
      onProgress,
    });
  } finally {
    transport.retire();
  }
}
