/**
 * A write that the API server refused is sent again by its back-off, and by no hint before (A.9).
 *
 * A webhook that says no to a status says no to the next one as well; forty changes of nodes are no reason to ask it
 * forty times. An edited DaemonSet is another matter. Pods have back-offs of their own, node by node (retry.ts).
 *
 * Differs from upstream: it tries at every event.
 */
import type { Subject } from './context.ts';
import type { Problem } from './ledger.ts';
import type { RefusedWrite } from './result.ts';

/** The problem of a write that was refused, and is not to be sent yet; undefined: it may be sent. */
export function heldWrite(
  code: RefusedWrite,
  { state, daemonSet, nowMs }: Pick<Subject, 'state' | 'daemonSet' | 'nowMs'>,
): Problem | undefined {
  const { retry } = state;
  if (retry?.code !== code || retry.notBeforeMs <= nowMs) return undefined;
  if (retry.generation !== generationOf(daemonSet)) return undefined;
  const message = 'the API server refused this write; it is sent again after its back-off';
  return { code, message, pace: 'backoff' };
}

/** metadata.generation, for what is refused of it. */
export function generationOf({ metadata }: Subject['daemonSet']): number {
  return metadata.generation ?? 0;
}

/** True if a back-off with this code is of a refused write. */
export function isRefusedWrite(code: string): code is RefusedWrite {
  return code.endsWith('-refused');
}
