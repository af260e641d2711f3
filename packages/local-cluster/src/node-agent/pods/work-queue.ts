/**
 * When which pod must be looked at again although nothing happened: one timer for all pods of the node.
 *
 * A pod has at most one due time, the one that was said last. Pods that are due together are told together, and are
 * forgotten before they are told, so that the listener may enqueue them again. Times are monotonic; jitter is the
 * caller's. The queue knows nothing of workers: a pod that is gone is told too, unless it was removed.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';

/** The queue of one agent. */
export interface WorkQueue {
  /** Replaces an earlier due time. */
  readonly enqueue: (podUid: string, delayMs: number) => void;
  readonly remove: (podUid: string) => void;
}

/** `onDue` gets the pods whose time has come; the queue forgets them first. */
export function createWorkQueue(
  clock: Clock,
  onDue: (podUids: readonly string[]) => void,
): WorkQueue {
  const dueAtMs = new Map<string, number>();
  let armed: { readonly atMs: number; readonly cancel: Cancel } | undefined;

  const arm = (): void => {
    if (dueAtMs.size === 0) return;
    const nextMs = Math.min(...dueAtMs.values());
    if (armed !== undefined && armed.atMs <= nextMs) return;
    armed?.cancel();
    const cancel = clock.after(Math.max(0, nextMs - clock.monotonicMs()), fire);
    armed = { atMs: nextMs, cancel };
  };
  const fire = (): void => {
    armed = undefined;
    const nowMs = clock.monotonicMs();
    const due = [...dueAtMs].filter(([, atMs]) => atMs <= nowMs).map(([uid]) => uid);
    for (const uid of due) dueAtMs.delete(uid);
    if (due.length > 0) onDue(due);
    arm();
  };

  return {
    enqueue: (uid, delayMs) => {
      dueAtMs.set(uid, clock.monotonicMs() + delayMs);
      arm();
    },
    remove: (uid) => {
      dueAtMs.delete(uid);
    },
  };
}
