/**
 * S18 from outside: what is sent about pods, and each template that is restored, has an entry of the log in the state that its run
 * stored before; and in the end the entry is still there and true.
 *
 * `done` is true only of what the API server applied, `refused` and `unsent` only of what it did not, `unknown` only where no answer
 * arrived or its run stored nothing after it. It knows what a run stored and sent, what the API server made of it, and what the table
 * holds; nothing of the code that it watches but how an entry looks.
 */
import type { Effect, Outcome } from '../../../src/core/model/effects.ts';
import type { LoggedEffect, LoggedOutcome } from '../../../src/core/model/log-entry.ts';
import { storedEntries, type StoredEntry } from './stored-entries.ts';
import type { NotedView } from './noted-view.ts';

/** One request, and what came of it. */
interface Sent {
  readonly effect: Effect;
  /** The node, or a pod that has none; of patches and templates nothing, they are counted. */
  readonly name: string;
  readonly run: Pick<NotedView, 'stored'>;
  /** What was answered, and how many states the run had stored by then. */
  answered: { readonly outcome: Outcome; readonly stored: number } | undefined;
}

type Run = Pick<NotedView, 'entryOf' | 'stored'>;

const COUNTED = '*';

/** Watches one world. */
export class LogAudit {
  /** Requests that were looked at, and those whose entry was found and compared in the end. */
  judged = 0;
  compared = 0;
  readonly #report: (text: string) => void;
  readonly #applied = new WeakSet<Effect>();
  readonly #sent = new Map<string, Sent[]>();
  #forgottenAtMs = Number.NEGATIVE_INFINITY;

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** A batch is handed over; the answer hears what came of it. */
  check(run: Run, effects: readonly Effect[]): (outcomes: readonly Outcome[]) => void {
    const batch = effects.map((effect) => this.#take(run, effect));
    return (outcomes) => {
      for (const [index, sent] of batch.entries()) {
        const outcome = outcomes[index];
        if (sent === undefined || outcome === undefined) continue;
        sent.answered = { outcome, stored: run.stored() };
      }
    };
  }

  /** The API server did what was asked for. */
  noteApplied(effect: Effect): void {
    this.#applied.add(effect);
  }

  /** The table was lost: what it held until now is owed by nobody. */
  forget(nowMs: number): void {
    this.#forgottenAtMs = nowMs;
    this.#sent.clear();
  }

  /** Holds what was sent against what the table tells of it now. */
  judge(table: Readonly<Record<string, unknown>>): void {
    const { entries, leftOut } = storedEntries(table);
    for (const [identity, sent] of this.#sent) {
      const told = entries.get(identity);
      if (told === undefined) {
        const [owner = ''] = identity.split(' ');
        if (!leftOut.has(owner)) this.#report(`S18: the log forgot ${identity}`);
        continue;
      }
      this.compared += sent.length;
      this.#compare(identity, sent, told);
    }
  }

  #take(run: Run, effect: Effect): Sent | undefined {
    const logged = loggedAs(effect);
    if (logged === undefined) return undefined;
    this.judged += 1;
    const { what, name } = logged;
    const recorded = run.entryOf(what, name === COUNTED ? undefined : name);
    if (recorded === undefined) {
      this.#report(`S18: ${what} ${effect.name} has no entry of the log`);
      return undefined;
    }
    const sent: Sent = { effect, name, run, answered: undefined };
    if (recorded.atMs <= this.#forgottenAtMs) return undefined;
    this.#sent.set(recorded.identity, [...(this.#sent.get(recorded.identity) ?? []), sent]);
    return sent;
  }

  #compare(identity: string, sent: readonly Sent[], { parts }: StoredEntry): void {
    const isNamed =
      parts.every(({ names, count }) => names.length === count) &&
      sent.every(({ name }) => name !== COUNTED);
    const names = isNamed ? new Set(sent.map(({ name }) => name)) : [COUNTED];
    for (const name of names) {
      const tellings = parts.flatMap(({ came, code, ...part }) => {
        const count = isNamed ? part.names.filter((each) => each === name).length : part.count;
        return Array.from({ length: count }, () => ({ came, code }));
      });
      const mine = isNamed ? sent.filter((each) => each.name === name) : sent;
      const where = `${identity} (${name})`;
      if (tellings.length < mine.length) {
        this.#report(`S18: the log tells of ${tellings.length} of ${mine.length}: ${where}`);
      }
      // What was recorded and never sent.
      const unsent = Math.max(0, tellings.length - mine.length);
      for (const [text, all] of Map.groupBy(
        tellings,
        ({ came, code }) => `${came} ${code ?? ''}`,
      )) {
        const [first] = all;
        if (first === undefined) continue;
        const isOpen = first.came === 'unsent' || first.came === 'unknown';
        const possible = mine.filter((each) => this.#isTrue(each, first)).length;
        if (all.length <= possible + (isOpen ? unsent : 0)) continue;
        const answers = mine.map((each) => this.#describe(each)).join(', ');
        this.#report(`S18: the log tells ${text.trim()}, and it was ${answers}: ${where}`);
      }
    }
  }

  #isTrue(
    sent: Sent,
    { came, code }: { readonly came: LoggedOutcome; readonly code: string | undefined },
  ): boolean {
    const { effect, run, answered } = sent;
    const answer = answered?.outcome.kind ?? 'ambiguous';
    // A pod of ours had the name already, or was gone already: an earlier request may have done it.
    if (came === 'done' && code === 'exists') return answer === 'exists';
    if (came === 'done' && code === 'gone') {
      return effect.kind === 'delete-pod' && answer === 'gone';
    }
    const isStored = answered !== undefined && run.stored() > answered.stored;
    return TRUTH[came]({ answer, isStored, isApplied: this.#applied.has(effect) });
  }

  #describe({ effect, answered, run }: Sent): string {
    const applied = this.#applied.has(effect) ? 'applied' : 'not applied';
    const answer = answered === undefined ? 'not answered' : answered.outcome.kind;
    const isStored = answered !== undefined && run.stored() > answered.stored;
    return `${applied}/${answer}/${isStored ? 'stored' : 'not stored'}`;
  }
}

/** Of what each word is true. */
const TRUTH: Readonly<
  Record<
    LoggedOutcome,
    (of: {
      readonly answer: Outcome['kind'];
      readonly isApplied: boolean;
      /** Its run stored a state after the answer. */
      readonly isStored: boolean;
    }) => boolean
  >
> = {
  done: ({ isApplied }) => isApplied,
  refused: ({ isApplied, answer }) => !isApplied && answer !== 'ambiguous' && answer !== 'unsent',
  unsent: ({ isApplied, answer }) => !isApplied && answer === 'unsent',
  unknown: ({ answer, isStored }) => answer === 'ambiguous' || !isStored,
};

/** As the log calls a request; undefined: it has no entry. */
function loggedAs(
  effect: Effect,
): { readonly what: LoggedEffect; readonly name: string } | undefined {
  switch (effect.kind) {
    case 'create-pod':
      return { what: 'create', name: effect.node };
    case 'delete-pod':
      return { what: 'delete', name: effect.node ?? effect.name };
    case 'remove-taint':
    case 'set-condition':
      return { what: effect.kind, name: effect.name };
    case 'restore-template':
      return { what: 'restore-template', name: COUNTED };
    case 'patch':
      // Revisions are adopted, too: of those the log tells nothing.
      if (effect.resource !== 'pods') return undefined;
      return effect.purpose === 'adopt' || effect.purpose === 'release'
        ? { what: effect.purpose, name: COUNTED }
        : undefined;
    default:
      return undefined;
  }
}
