/**
 * S17 from outside: once a freeze was acknowledged, nothing is sent for what it holds but what was begun before.
 *
 *   write of the freeze ─▶ acknowledged ──────────────────────────────▶ thaw is written
 *   a run that began before       └─▶ one batch of each kind at most     └─▶ whatever it likes
 *   a run that began after            └─▶ nothing but status and Events
 *
 * A run that was begun may send its first batch of creates, and beside it that of deletes; what it writes to the history belongs to
 * that batch. It knows who froze and thawed, and what is sent when; nothing of the code that it watches.
 */
import type { Effect } from '../../../src/core/model/effects.ts';
import type { NamespacedName } from '../../../src/ports/stores/view-store.ts';

/** What is frozen: everything, the cluster, or a DaemonSet by name. */
export type AuditedScope = 'stack' | 'cluster' | `set/${string}`;

/** One run, as the audit sees it. */
interface AuditedRun {
  /** Virtual time at which it began. */
  readonly beganAtMs: number;
}

/** Status and Events go on under a freeze. */
const FREE: ReadonlySet<Effect['kind']> = new Set<Effect['kind']>([
  'update-status',
  'create-event',
  'patch-event',
]);

/** Watches one world. */
export class FreezeAudit {
  /** Batches that were looked at while something held them. */
  judged = 0;
  readonly #report: (text: string) => void;
  /** When each freeze that stands was acknowledged. */
  readonly #frozen = new Map<AuditedScope, number>();
  /** Kinds that a run sent since it was frozen. */
  readonly #sent = new WeakMap<
    AuditedRun,
    { readonly sinceMs: number; readonly kinds: Set<string> }
  >();

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** The write of a freeze was answered. One that stands is not begun anew. */
  noteFrozen(scope: AuditedScope, nowMs: number): void {
    if (!this.#frozen.has(scope)) this.#frozen.set(scope, nowMs);
  }

  /** A thaw is about to be written. */
  noteThaw(scope: AuditedScope): void {
    this.#frozen.delete(scope);
  }

  /** A batch is handed over. */
  check(
    { run, key }: { readonly run: AuditedRun; readonly key: NamespacedName },
    effects: readonly Effect[],
    nowMs: number,
  ): void {
    const held = effects.filter(({ kind }) => !FREE.has(kind));
    const sinceMs = this.#frozenSince(key);
    if (held.length === 0 || sinceMs === undefined) return;
    this.judged += 1;
    const what = `${key.name} ${held.map(({ kind }) => kind).join(', ')}`;
    if (run.beganAtMs > sinceMs) {
      this.#report(
        `S17: ${what} at ${nowMs}, by a run that began at ${run.beganAtMs}, frozen at ${sinceMs}`,
      );
      return;
    }
    const before = this.#sent.get(run);
    const kinds = before?.sinceMs === sinceMs ? before.kinds : new Set<string>();
    this.#sent.set(run, { sinceMs, kinds });
    for (const group of new Set(held.map(groupOf))) {
      if (group === 'history') continue;
      if (kinds.has(group))
        this.#report(`S17: ${what} at ${nowMs} is a second batch, frozen at ${sinceMs}`);
      kinds.add(group);
    }
  }

  /** The earliest of what stands. */
  #frozenSince({ namespace, name }: NamespacedName): number | undefined {
    const scopes: readonly AuditedScope[] = ['stack', 'cluster', `set/${namespace}/${name}`];
    const times = scopes.flatMap((scope) => this.#frozen.get(scope) ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

/** Requests that go as one batch, one after the other, belong to one group. */
function groupOf(effect: Effect): string {
  if (effect.kind === 'create-revision') return 'history';
  if (effect.kind === 'patch' && effect.resource === 'controllerrevisions') return 'history';
  return effect.kind;
}
