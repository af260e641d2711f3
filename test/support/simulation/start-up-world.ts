/** A world whose nodes join with the start-up taint. */
import type { StartUp } from '../../../src/core/model/registration.ts';
import { START_UP_TAINT } from './start-up-audit.ts';
import type { RawDaemonSetOptions } from './objects.ts';
import type { World } from './world.ts';

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
