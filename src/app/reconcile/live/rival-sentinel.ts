/**
 * A hint for the sentinel: the only thing that a run ever does with it is to look whether somebody
 * synced it (core/takeover-sentinel.ts). No status, no state, no verdicts, no request to the cluster.
 */
import {
  findSentinelEvidence,
  hasSentinelName,
  isSentinel,
} from '../../../core/takeover/takeover-sentinel.ts';
import type { Basis } from '../read/read-basis.ts';
import type { RunContext } from '../run/context.ts';
import type { Exit } from '../run/exit.ts';
import { noteRival } from './rival.ts';
import { NO_COUNTS } from '../run/result.ts';

/** True if the run is about a sentinel; one that travelled opaque is known by its name alone. */
export function isAboutSentinel({ daemonSet }: Basis, { hint }: RunContext): boolean {
  if (!hasSentinelName(hint.key)) return false;
  return daemonSet.object === null || isSentinel(daemonSet.object);
}

/** Looks at the sentinel, and stops the cluster if another controller gave itself away. */
export async function lookAtSentinel(basis: Basis, context: RunContext): Promise<Exit> {
  const { registration, daemonSet } = basis;
  const evidence =
    registration.mode === 'takeover' && daemonSet.object !== null
      ? findSentinelEvidence(daemonSet.object, registration.sentinel)
      : undefined;
  if (evidence !== undefined) {
    await noteRival({ evidence, by: 'sentinel', seenUnder: registration }, context);
  }
  const result = { kind: 'observed', code: 'sentinel', counts: NO_COUNTS } as const;
  return { kind: 'over', result };
}
