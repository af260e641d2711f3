/**
 * A policy whose `after` names its own DaemonSet asks to wait for itself: it is refused, by the field (ADR 0058).
 *
 * The reader of policies knows no names, since one text may stand on many DaemonSets; whoever reads one for a DaemonSet asks here.
 */
import type { PolicyReading } from '../policy/rollout-policy.ts';
import { keysOf } from './judge-order.ts';

/** The reading for the DaemonSet of that key. */
export function refuseSelf(
  reading: PolicyReading,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): PolicyReading {
  if (reading.kind !== 'policy') return reading;
  const index = keysOf(reading.policy.after, namespace).findIndex(
    (key) => key.namespace === namespace && key.name === name,
  );
  if (index === -1) return reading;
  const message = 'must name another DaemonSet: this one would wait for itself';
  return { kind: 'invalid', problems: [{ field: `after[${String(index)}]`, message }] };
}
