/** Steps of whoever keeps the credentials of clusters. */
import type { StepContext } from './step-context.ts';
import { registrationOf } from './registration.ts';

const LOST_MS = [10 * 60_000, 90 * 60_000] as const;

/** The functions have no credential for a while: nothing can be asked of the cluster, and nothing done to it. */
export async function takeCredential({ world, dice, later }: StepContext): Promise<boolean> {
  const stored = await world.registration();
  if (stored === undefined || stored.authentication.kind === 'none') return false;
  await world.reconfigure({ authentication: { kind: 'none' } });
  later(dice.between(...LOST_MS), () => {
    const { authentication } = registrationOf(world.api.clusterUid);
    void world.reconfigure({ authentication });
  });
  return true;
}
