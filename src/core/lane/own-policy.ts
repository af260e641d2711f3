/**
 * The policy of one DaemonSet, as its annotation has it; one whose `after` names its own DaemonSet asks to wait for itself, and is
 * refused by the field (ADR 0058).
 *
 * The reader of policies knows no names, since one text may stand on many DaemonSets; whoever reads one for a DaemonSet asks here.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { PolicyReading } from '../policy/rollout-policy.ts';
import { policyTextOf } from '../takeover/opt-in.ts';
import { keysOf } from './judge-order.ts';

/** What reads the text of an annotation (ports/rollout-policy.ts). */
interface TextReader {
  read(text: string | undefined): PolicyReading;
}

/** The reading for a DaemonSet; null: nobody knows its object, so it has no policy. */
export function readOwnPolicy(
  daemonSet: DaemonSetObject | null,
  reader: TextReader,
): PolicyReading {
  if (daemonSet === null) return reader.read(undefined);
  const { namespace = '', name } = daemonSet.metadata;
  return refuseSelf(reader.read(policyTextOf(daemonSet)), { namespace, name });
}

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
