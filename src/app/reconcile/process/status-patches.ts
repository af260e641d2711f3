/**
 * Clusters in which a status cannot be patched: a webhook refuses it, or a proxy that knows no JSON Patch.
 *
 * There a status takes a read and a PUT, as it did. A warm process asks again after a while, since roles are updated. Never
 * needed for correctness: a cold process is refused once, and writes the status by the other way.
 */
import { remember } from './remember.ts';

const REFUSED_MS = 10 * 60_000;

/** What a warm process knows of that. Times are monotonic. */
export class StatusPatches {
  readonly #refusedUntilMs = new Map<string, number>();

  /** False while the cluster refused one lately. */
  mayPatch(clusterUid: string, monotonicMs: number): boolean {
    return (this.#refusedUntilMs.get(clusterUid) ?? 0) <= monotonicMs;
  }

  /** A patch was refused, by whatever reads who writes: roles, webhooks, proxies. A PUT may be refused as well. */
  noteRefused(clusterUid: string, monotonicMs: number): void {
    remember(this.#refusedUntilMs, clusterUid, monotonicMs + REFUSED_MS);
  }
}
