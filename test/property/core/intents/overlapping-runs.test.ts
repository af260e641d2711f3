/**
 * Many runs ask for one name (protocol 4, 5): whichever of them withdraw, are answered or fall silent, the intent speaks of
 * each request that may still arrive, until that one is dead. On it stands that no other name is used (S1, S2).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergeIntents, stampIntents } from '../../../../src/core/intents/merge-intents.ts';
import type { IntentChange } from '../../../../src/core/intents/merge-intents.ts';
import type { CreateIntent, Intent } from '../../../../src/core/model/state.ts';
import { hasOpenRequest, resolvedAtMs } from '../../../../src/core/pod/request-life.ts';
import { NOW_MS, TIMEOUT_MS, answerOf, createIntent } from '../../../support/core-fixtures.ts';

/** How long after its record a run may start its request at most, milliseconds. */
const LAST_START_MS = 25_000;

/** A request of one run, as that run recorded it. */
interface Request {
  readonly own: CreateIntent;
  /** `answered`: its pod is there, and no view shows it yet. */
  fate: 'silent' | 'withdrawn' | 'answered' | 'seen';
}

/** All that is on record of the name, and what was really sent under it. */
class Name {
  nowMs = NOW_MS;
  stored: readonly Intent[] = [];
  readonly requests: Request[] = [];
  /** The intent as a run read it, which judges it later. */
  #read: CreateIntent | undefined;

  record(startsWithinMs: number): void {
    // A name that a pod is known to have borne is not asked for again (S13).
    if (this.requests.some(({ fate }) => fate === 'seen')) return;
    const times = { recordedAtMs: this.nowMs, startsByMs: this.nowMs + startsWithinMs };
    const [own] = stampIntents(this.stored, [createIntent('n1', times)]);
    assert.ok(own?.kind === 'create');
    this.requests.push({ own, fate: 'silent' });
    this.#merge({ record: [own] });
  }

  /** A run knows that it never sent its request. */
  withdraw(index: number): void {
    const request = this.#silent(index);
    if (request === undefined) return;
    request.fate = 'withdrawn';
    this.#merge({ settle: [request.own] });
  }

  /** The one pod of that name is answered. */
  answer(index: number): void {
    const request = this.#silent(index);
    if (request === undefined) return;
    request.fate = 'answered';
    const { name, recordedAtMs } = request.own;
    this.#merge({ answers: [{ kind: 'created', name, recordedAtMs, ...answerOf(name) }] });
  }

  read(): void {
    this.#read = this.intent;
  }

  /** What was read is judged to be over: by time where nobody answered it, else once its pod is seen (intents.ts). */
  settle(): void {
    const judged = this.#read;
    if (judged === undefined) return;
    const isDead = this.nowMs >= resolvedAtMs(judged, TIMEOUT_MS);
    const isAnswered = judged.answer !== undefined;
    const isSeen = isAnswered && (judged.earlier === undefined || isDead);
    if (isSeen || (!isAnswered && isDead)) this.#merge({ settle: [judged] });
    for (const request of this.requests) {
      if (isSeen && request.fate === 'answered') request.fate = 'seen';
    }
  }

  get intent(): CreateIntent | undefined {
    const [intent] = this.stored;
    return intent?.kind === 'create' ? intent : undefined;
  }

  /** Requests that may still arrive, or that made a pod which nobody saw, and of which the record does not say so. */
  get forgotten(): readonly Request[] {
    const { intent } = this;
    const isCovered = ({ own, fate }: Request): boolean =>
      intent !== undefined &&
      (fate === 'answered' ||
        (hasOpenRequest(intent) &&
          resolvedAtMs(intent, TIMEOUT_MS) >= resolvedAtMs(own, TIMEOUT_MS)));
    return this.requests.filter(
      (request) =>
        (request.fate === 'silent' || request.fate === 'answered') &&
        this.nowMs < resolvedAtMs(request.own, TIMEOUT_MS) &&
        !isCovered(request),
    );
  }

  #merge(change: IntentChange): void {
    this.stored = mergeIntents(this.stored, change);
  }

  #silent(index: number): Request | undefined {
    const silent = this.requests.filter(({ fate }) => fate === 'silent');
    return silent[index % Math.max(1, silent.length)];
  }
}

const DEEDS = {
  record: (name: Name, number: number) => {
    name.record(number);
  },
  withdraw: (name: Name, number: number) => {
    name.withdraw(number);
  },
  answer: (name: Name, number: number) => {
    name.answer(number);
  },
  read: (name: Name) => {
    name.read();
  },
  settle: (name: Name) => {
    name.settle();
  },
  wait: (name: Name, number: number) => {
    name.nowMs += number;
  },
};

/** What happens, and to which run, or for how long. */
type Deed = readonly [keyof typeof DEEDS, number];

const anyRun = fc.nat({ max: 5 });
const script: fc.Arbitrary<readonly Deed[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constant('record'), fc.nat({ max: LAST_START_MS })) },
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom('withdraw', 'answer'), anyRun) },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom('read', 'settle'), fc.constant(0)) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('wait'), fc.constantFrom(0, 1, 3000, 20_000)) },
  ),
  { maxLength: 20, size: 'max' },
);

function take(name: Name, [deed, number]: Deed): void {
  DEEDS[deed](name, number);
}

test('protocol 5: no request that may still arrive is forgotten, however many runs asked for its name', () => {
  fc.assert(
    fc.property(script, (deeds) => {
      const name = new Name();
      for (const deed of deeds) {
        take(name, deed);
        assert.deepEqual(name.forgotten, []);
      }
    }),
    { numRuns: 2000 },
  );
});

test('and the record ends once the last of them is dead', () => {
  fc.assert(
    fc.property(script, (deeds) => {
      const name = new Name();
      for (const deed of deeds) take(name, deed);
      // Records of one moment are told apart by a millisecond each.
      name.nowMs += LAST_START_MS + 2 * TIMEOUT_MS + deeds.length;
      name.read();
      name.settle();
      assert.deepEqual(name.stored, []);
    }),
    { numRuns: 300 },
  );
});
