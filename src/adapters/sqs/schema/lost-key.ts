/**
 * The key that a lost hint or timer was about, read from the body that was kept of it.
 *
 * Undefined for everything else, also for a body that was cut: half a body names nothing. Never throws.
 */
import type { DaemonSetKey } from '../../../core/model/identifiers.ts';
import { parseHint, parseTimer } from './hint-codec.ts';

/** Reads the key and the cluster UID of a lost hint or timer. */
export function readLostKey(letter: {
  readonly queue: string;
  readonly body: string;
  readonly isBodyCut: boolean;
}): { readonly key: DaemonSetKey; readonly clusterUid: string } | undefined {
  const { queue, body, isBodyCut } = letter;
  if (isBodyCut) return undefined;
  if (queue === 'reconcile') {
    const parsed = parseHint(body);
    return parsed.kind === 'hint' ? parsed.hint : undefined;
  }
  if (queue !== 'delay') return undefined;
  const parsed = parseTimer(body);
  return parsed.kind === 'timer' ? parsed.timer.hint : undefined;
}
