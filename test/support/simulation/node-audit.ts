/**
 * S5 from outside: no pod is asked for on a node that has been gone for longer than a view may be old (protocol 1).
 *
 * A view may show a node that is gone: for as long as nothing has to be heard, and a run that read it may last. After that
 * whoever makes a pod has to have read the node live. Judged when the request is sent, by the commits of the API server
 * alone; knows nothing of views, marks and silence. Not to be asked while clocks disagree: the age of a view is told by two
 * of them. A node that nobody ever committed is gone since the world began.
 */
import type { CreatePodEffect } from '../../../src/core/model/effects.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';

/** How old a view may be (docs/reference/codes.md), and the life of a run that read it, frozen for a while or not. */
const BOUND_MS = 15 * 60_000 + 2 * 60_000;

/** Watches the nodes of one API server. */
export class NodeAudit {
  readonly #report: (text: string) => void;
  /** Since when each node that once was there is gone. */
  readonly #goneAtMs = new Map<string, number>();
  readonly #present = new Set<string>();

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** A node was made, changed or removed. */
  noteCommit({ type, object }: Commit, nowMs: number): void {
    const { name } = object.metadata;
    if (type === 'deleted') this.#noteGone(name, nowMs);
    else this.#notePresent(name);
  }

  /** An etcd was restored: some nodes are gone at once, others are back. */
  noteRestore(api: Pick<SimulatedApiServer, 'list'>, nowMs: number): void {
    const there = new Set(api.list('nodes').map(({ metadata }) => metadata.name));
    for (const name of this.#present) if (!there.has(name)) this.#noteGone(name, nowMs);
    for (const name of there) this.#notePresent(name);
  }

  /** A pod is about to be asked for. */
  check({ name, node }: CreatePodEffect, nowMs: number): void {
    if (this.#present.has(node)) return;
    const goneMs = nowMs - (this.#goneAtMs.get(node) ?? 0);
    if (goneMs <= BOUND_MS) return;
    this.#report(`S5: ${name} asked for on ${node}, which has been gone for ${goneMs} ms`);
  }

  #noteGone(name: string, nowMs: number): void {
    this.#present.delete(name);
    this.#goneAtMs.set(name, nowMs);
  }

  #notePresent(name: string): void {
    this.#present.add(name);
    this.#goneAtMs.delete(name);
  }
}
