/**
 * Which Events a run writes for what it has to tell: single ones, then one that is counted up.
 *
 * As client-go's correlator (tools/record): of one type and reason nine single Events, told apart by message; the
 * tenth is combined, and what follows raises its count, until ten minutes without one of the kind. A repeated
 * message raises the count of its Event. The tallies are kept with the DaemonSet's state: lost, a few Events too
 * many are written.
 *
 * Differs from upstream: the combined Event counts all that it stands for, and is raised at most once a minute from its
 * seventeenth on; client-go stops writing after 25 Events of an object and type, and lets one more pass every five minutes.
 */
import type { PlannedEvent } from '../model/plan.ts';
import type { EventTally } from '../model/state.ts';
import { hash48 } from '@rollcall/base/hash48.ts';

/** After so long without an event of its kind, a tally's singles begin afresh (client-go: 600 s). */
const WINDOW_MS = 600_000;
/** A tally is kept as long as an API server keeps Events by default: then there is nothing to raise. */
const MEMORY_MS = 3_600_000;
/** Single Events of one kind; the next is the combined one (client-go: the tenth). */
const SINGLES_MAX = 9;
/** A combined Event that counts more is raised at most this often: each raise is a request, and tells one number. */
const RAISED_FREELY_MAX = 16;
const RAISE_EVERY_MS = 60_000;
/** Kinds remembered at a time; there are fewer reasons than that. */
const TALLIES_MAX = 16;
/** The API server refuses longer messages. */
const MESSAGE_MAX = 1024;

/** One request: an Event that is made, or one written earlier whose count is raised. */
export interface EventWrite {
  readonly kind: 'create' | 'raise';
  /** Name of the Event object. */
  readonly name: string;
  readonly type: PlannedEvent['type'];
  readonly reason: string;
  /** As it shall read, the mark of a combined Event included. */
  readonly message: string;
  /** How often it happened since `firstAtMs`. */
  readonly count: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

export interface CorrelationInput {
  readonly tallies: readonly EventTally[];
  readonly events: readonly PlannedEvent[];
  readonly nowMs: number;
  /** Unique among all runs; the names of new Events are made of it. */
  readonly baseName: string;
}

/** The requests, one per Event, in the order in which things happened; and the tallies after them. */
export interface Correlation {
  readonly writes: readonly EventWrite[];
  readonly tallies: readonly EventTally[];
}

/** Correlates a run's events with what was told before. Without events nothing changes at all. */
export function correlateEvents(input: CorrelationInput): Correlation {
  if (input.events.length === 0) return { writes: [], tallies: input.tallies };
  const correlator = new Correlator(input);
  for (const event of input.events) correlator.tell(event);
  return correlator.result();
}

type Last = NonNullable<EventTally['last']>;

class Correlator {
  readonly #input: CorrelationInput;
  readonly #tallies = new Map<string, EventTally>();
  readonly #writes = new Map<string, EventWrite>();
  /** Singles of this run, by kind and message: within a run any of them is found again. */
  readonly #singles = new Map<string, Last>();
  #named = 0;

  constructor(input: CorrelationInput) {
    this.#input = input;
    for (const tally of input.tallies) {
      if (input.nowMs - tally.seenAtMs <= MEMORY_MS) this.#tallies.set(kindOf(tally), tally);
    }
  }

  tell({ type, reason, message, isStanding = false }: PlannedEvent): void {
    const event = { type, reason, message: message.slice(0, MESSAGE_MAX) };
    const digest = digestOf(event.message);
    const last = this.#tallies.get(kindOf(event))?.last;
    // Its tally is forgotten after an hour, and then it is told again.
    if (!isStanding || last?.digest !== digest) this.#tellOnce(event, digest);
  }

  #tellOnce(event: PlannedEvent, digest: string): void {
    const kind = kindOf(event);
    const tally = this.#open(kind, event);
    const equal =
      tally.last?.digest === digest ? tally.last : this.#singles.get(`${kind} ${digest}`);
    if (tally.last?.isAggregate === true) {
      this.#keep(kind, { ...tally, last: this.#count(tally.last, event) });
    } else if (equal !== undefined) {
      const raised = this.#raise(equal, event);
      if (raised.name === tally.last?.name) {
        this.#keep(kind, { ...tally, singles: Math.max(1, tally.singles), last: raised });
      }
      this.#singles.set(`${kind} ${digest}`, raised);
    } else if (tally.singles < SINGLES_MAX) {
      const last = this.#create(event, { digest, isAggregate: false });
      this.#singles.set(`${kind} ${digest}`, last);
      this.#keep(kind, { ...tally, singles: tally.singles + 1, last });
    } else {
      // Stryker disable next-line StringLiteral: nobody reads the digest of a combined Event
      const last = this.#create(event, { digest: '', isAggregate: true });
      this.#keep(kind, { ...tally, last: { ...last, toldAtMs: this.#input.nowMs } });
    }
  }

  result(): Correlation {
    const tallies = [...this.#tallies.values()].sort(
      (left, right) => right.seenAtMs - left.seenAtMs,
    );
    return { writes: [...this.#writes.values()], tallies: tallies.slice(0, TALLIES_MAX) };
  }

  /** The tally of a kind, its window begun afresh if it was quiet for long enough. */
  #open(kind: string, { type, reason }: PlannedEvent): EventTally {
    const { nowMs } = this.#input;
    const found = this.#tallies.get(kind);
    const seenAtMs = nowMs;
    if (found === undefined) return this.#keep(kind, { type, reason, seenAtMs, singles: 0 });
    if (nowMs - found.seenAtMs <= WINDOW_MS) return this.#keep(kind, { ...found, seenAtMs });
    const { last } = found;
    const isKept = last !== undefined && !last.isAggregate;
    return this.#keep(kind, { type, reason, seenAtMs, singles: 0, ...(isKept ? { last } : {}) });
  }

  #keep(kind: string, tally: EventTally): EventTally {
    this.#tallies.set(kind, tally);
    return tally;
  }

  #create(event: PlannedEvent, as: Pick<Last, 'digest' | 'isAggregate'>): Last {
    const { baseName, nowMs } = this.#input;
    const name = `${baseName}-${this.#named}`;
    this.#named += 1;
    const last: Last = { ...as, name, count: 1, firstAtMs: nowMs };
    this.#write('create', last, event);
    return last;
  }

  /** Raises a combined Event, or leaves that to one that follows: its count then says it as well. */
  #count(last: Last, event: PlannedEvent): Last {
    const { nowMs } = this.#input;
    const { toldAtMs = -Infinity } = last;
    // A clock ahead of ours told it: no run waits for that (row 14).
    const isLate = Math.abs(nowMs - toldAtMs) >= RAISE_EVERY_MS;
    const isTold = last.count < RAISED_FREELY_MAX || isLate || this.#writes.has(last.name);
    if (!isTold) return { ...last, count: last.count + 1 };
    return this.#raise({ ...last, toldAtMs: nowMs }, event);
  }

  #raise(last: Last, event: PlannedEvent): Last {
    const raised = { ...last, count: last.count + 1 };
    this.#write(this.#writes.get(last.name)?.kind ?? 'raise', raised, event);
    return raised;
  }

  #write(kind: EventWrite['kind'], last: Last, { type, reason, message }: PlannedEvent): void {
    const { name, count, firstAtMs } = last;
    const text = last.isAggregate ? `(combined from similar events): ${message}` : message;
    const { nowMs: lastAtMs } = this.#input;
    const told = { kind, name, type, reason, message: text.slice(0, MESSAGE_MAX) };
    this.#writes.set(name, { ...told, count, firstAtMs, lastAtMs });
  }
}

function kindOf({ type, reason }: Pick<EventTally, 'type' | 'reason'>): string {
  return `${type} ${reason}`;
}

function digestOf(message: string): string {
  return hash48(message).toString(36);
}
