/**
 * S17 from outside: once a freeze was acknowledged, nothing is sent for what it holds but what was begun before.
 *
 *   write of the freeze ─▶ acknowledged ──────────────────────────────▶ thaw is written
 *   a run that began before       └─▶ one batch of each kind at most     └─▶ whatever it likes
 *   a run that began after            └─▶ nothing but status and Events
 *
 * A run that was begun may send its first batch of creates, and beside it that of deletes; what it writes to the history belongs to
 * that batch. One that was on its way when the freeze was acknowledged, and was answered after it, is the one. It knows who froze and thawed, and what is sent when; nothing of the code that it watches.
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
    const kinds = this.#sentBy(run, sinceMs);
    for (const group of groupsOf(held)) {
      const others = [...kinds].filter((kind) => !isBeside(kind, group));
      if (others.length > 0)
        this.#report(`S17: ${what} at ${nowMs} is a second batch, frozen at ${sinceMs}`);
      kinds.add(group);
    }
  }

  /** A batch was answered: if a freeze was acknowledged meanwhile, it was the one that the run was at. */
  noteAnswered(
    { run, key }: { readonly run: AuditedRun; readonly key: NamespacedName },
    effects: readonly Effect[],
  ): void {
    const sinceMs = this.#frozenSince(key);
    if (sinceMs === undefined || run.beganAtMs > sinceMs) return;
    const kinds = this.#sentBy(run, sinceMs);
    for (const group of groupsOf(effects.filter(({ kind }) => !FREE.has(kind)))) kinds.add(group);
  }

  #sentBy(run: AuditedRun, sinceMs: number): Set<string> {
    const before = this.#sent.get(run);
    const kinds = before?.sinceMs === sinceMs ? before.kinds : new Set<string>();
    this.#sent.set(run, { sinceMs, kinds });
    return kinds;
  }

  /** The earliest of what stands. */
  #frozenSince({ namespace, name }: NamespacedName): number | undefined {
    const scopes: readonly AuditedScope[] = ['stack', 'cluster', `set/${namespace}/${name}`];
    const times = scopes.flatMap((scope) => this.#frozen.get(scope) ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

const SIDE_BY_SIDE: readonly string[] = ['create-pod', 'delete-pod'];

/** True of creates and deletes: two sequences of batches, neither of which waits for the other. */
function isBeside(one: string, other: string): boolean {
  return one !== other && SIDE_BY_SIDE.includes(one) && SIDE_BY_SIDE.includes(other);
}

function groupsOf(effects: readonly Effect[]): readonly string[] {
  return [...new Set(effects.map(groupOf))].filter((group) => group !== 'history');
}

/** Requests that go as one batch, one after the other, belong to one group. */
function groupOf(effect: Effect): string {
  if (effect.kind === 'create-revision') return 'history';
  if (effect.kind !== 'patch') return effect.kind;
  const isHistory = effect.resource === 'controllerrevisions' || effect.purpose === 'relabel';
  return isHistory ? 'history' : effect.kind;
}
