/**
 * After the last fault (L1): how long it takes until every pod and every status is right, and whether
 * Rollcall then stays quiet.
 *
 * Asked by plain lists, straight from the API server, and judged by wrong.ts. The clock runs from the last fault on,
 * and stands still only while all that is wrong waits for the garbage collectors of kube-controller-manager, which
 * take a minute for the pods of a node that is gone. Quiet means: not one write under the functions' identity in the
 * audit log.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient } from '../control-plane/api.ts';
import { readAuditRecords, type AuditRecord } from '../control-plane/audit.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { listAll } from '../control-plane/watch.ts';
import { findUncollected, findWrong, OWNERLESS, type World, type Wrong } from './wrong.ts';

const LOOK_MS = 500;
/** What is written after the status is right (outcomes, trimmed history) has been, when nothing came for so long. */
const CALM_MS = 8_000;
const READING = new Set(['get', 'list', 'watch']);

async function readWorld(admin: ApiClient): Promise<World> {
  const [nodes, daemonSets, pods] = await Promise.all([
    listAll(admin, '/api/v1/nodes'),
    listAll(admin, '/apis/apps/v1/namespaces/default/daemonsets'),
    listAll(admin, '/api/v1/namespaces/default/pods'),
  ]);
  return { nodes: nodes.items, daemonSets: daemonSets.items, pods: pods.items };
}

/**
 * Waits until no pod is left whose node or DaemonSet is gone; resolves to what is left at the deadline, or when the
 * pods of DaemonSets that are gone have not become fewer for so long.
 */
export async function waitUntilCollected(
  admin: ApiClient,
  { deadlineMs, ownerlessMsMax }: { readonly deadlineMs: number; readonly ownerlessMsMax: number },
): Promise<{ readonly tookMs: number; readonly left: readonly string[] }> {
  const fromMs = performance.now();
  let ownerless = Number.POSITIVE_INFINITY;
  let fewerAtMs = fromMs;
  for (;;) {
    const left = await readWorld(admin).then(findUncollected).catch(askedInVain);
    const nowMs = performance.now();
    const count = left.filter((one) => one.endsWith(OWNERLESS)).length;
    if (count < ownerless || count === 0) fewerAtMs = nowMs;
    ownerless = count;
    const isOver = nowMs - fromMs > deadlineMs || nowMs - fewerAtMs > ownerlessMsMax;
    if (left.length === 0 || isOver) return { tookMs: nowMs - fromMs, left };
    await delay(LOOK_MS);
  }
}

/** A question may fail, on a connection that a killed server left behind: then nothing is known to be right. */
function askedInVain(error: unknown): readonly string[] {
  return [`asked in vain: ${String(error)}`];
}

export interface Settled {
  /** In which something was wrong that waited for no collector. */
  readonly tookMs: number;
  /** Empty when all is right. */
  readonly wrong: readonly string[];
}

/** Waits until all is settled, or until it has taken longer than that, or is told to end. */
export async function waitUntilSettled(
  admin: ApiClient,
  { deadlineMs, signal }: { readonly deadlineMs: number; readonly signal?: AbortSignal },
): Promise<Settled> {
  const clock = createSettleClock(performance.now());
  for (;;) {
    const wrong = await readWorld(admin)
      .then(findWrong)
      .catch((error: unknown) =>
        askedInVain(error).map((what): Wrong => ({ what, isWaiting: false })),
      );
    clock.note(wrong, performance.now());
    const isOver = clock.tookMs() > deadlineMs || signal?.aborted === true;
    if (wrong.length === 0 || isOver) {
      return { tookMs: clock.tookMs(), wrong: wrong.map(({ what }) => what) };
    }
    await delay(LOOK_MS);
  }
}

/** Adds up the time between looks, but for that before a look at which all that is wrong waits for a collector. */
function createSettleClock(fromMs: number): {
  readonly note: (wrong: readonly Wrong[], nowMs: number) => void;
  readonly tookMs: () => number;
} {
  let lastMs = fromMs;
  let tookMs = 0;
  return {
    note: (wrong, nowMs) => {
      const isExcused = wrong.length > 0 && wrong.every(({ isWaiting }) => isWaiting);
      if (!isExcused) tookMs += nowMs - lastMs;
      lastMs = nowMs;
    },
    tookMs: () => tookMs,
  };
}

/**
 * Watches for writes of Rollcall for so long; there should be none. Tells since when (rest.ts counts what else was done). The last ones may come a moment after all is
 * right, as long as they come within what is left of the time in which everything must settle.
 */
export async function watchQuiet(
  auditLogPath: string,
  { quietMs, leftMs }: { readonly quietMs: number; readonly leftMs: number },
): Promise<{ readonly sinceMs: number; readonly writes: readonly AuditRecord[] }> {
  const writesSince = (sinceMs: number): Promise<readonly AuditRecord[]> =>
    readAuditRecords(auditLogPath, {
      user: userNameOf('functions'),
      sinceMs,
      where: ({ verb }) => !READING.has(verb),
    });
  const endsAtMs = Date.now() + leftMs;
  do await delay(CALM_MS);
  while (Date.now() < endsAtMs && (await writesSince(Date.now() - CALM_MS)).length > 0);
  const sinceMs = Date.now();
  await delay(quietMs);
  return { sinceMs, writes: await writesSince(sinceMs) };
}
