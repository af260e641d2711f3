/**
 * A queue against a model that is too simple to be wrong: a list of messages, searched for each operation.
 *
 * Any sequence of sends, receives, deletes, visibility changes and jumps in time must show: exclusivity and order in
 * each group, deduplication, no message lost or delivered beyond maxReceiveCount, wakes that are neither late nor
 * missing, and after a restart from the recorded facts the same messages. fast-check prints seed and path.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Delivery } from '../../../src/sqs/queue/message.ts';
import {
  fifoQueue,
  message,
  redriveAfter,
  standardQueue,
  type TestQueue,
} from './queue-fixture.ts';

interface ModelMessage {
  readonly id: string;
  readonly groupId: string;
  readonly sequence: number;
  visibleAtMs: number;
  isInFlight: boolean;
  receiveCount: number;
}

type Step =
  | { readonly kind: 'send'; readonly group: number; readonly id: number; readonly delay: number }
  | { readonly kind: 'receive'; readonly countMax: number; readonly visibilitySeconds: number }
  | { readonly kind: 'delete'; readonly pick: number }
  | { readonly kind: 'visibility'; readonly pick: number; readonly seconds: number }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'wake' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('send' as const),
      group: fc.nat(3),
      id: fc.nat(30),
      delay: fc.constantFrom(0, 0, 0, 7),
    }),
    fc.record({
      kind: fc.constant('receive' as const),
      countMax: fc.integer({ min: 1, max: 10 }),
      visibilitySeconds: fc.constantFrom(0, 1, 5, 30),
    }),
    fc.record({ kind: fc.constant('delete' as const), pick: fc.nat() }),
    fc.record({
      kind: fc.constant('visibility' as const),
      pick: fc.nat(),
      seconds: fc.constantFrom(0, 1, 30),
    }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 999, 5000, 299_000) }),
    fc.record({ kind: fc.constant('wake' as const) }),
  ),
  { maxLength: 120, size: 'max' },
);

const maxReceiveCount = 3;

class Model {
  readonly messages: ModelMessage[] = [];
  readonly deadLetters: string[] = [];
  readonly isFifo: boolean;
  readonly #sends = new Map<string, { readonly id: string; readonly atMs: number }>();

  constructor(isFifo: boolean) {
    this.isFifo = isFifo;
  }

  /** Ends what time ends. */
  advance(nowMs: number): void {
    for (const each of this.messages) if (each.visibleAtMs <= nowMs) each.isInFlight = false;
  }

  expectSend(key: string, nowMs: number): string | undefined {
    if (!this.isFifo) return undefined;
    const earlier = this.#sends.get(key);
    return earlier !== undefined && nowMs - earlier.atMs < 300_000 ? earlier.id : undefined;
  }

  add(key: string, added: ModelMessage, nowMs: number): void {
    this.#sends.set(key, { id: added.id, atMs: nowMs });
    this.messages.push(added);
  }

  remove(id: string): void {
    const index = this.messages.findIndex((each) => each.id === id);
    if (index >= 0) this.messages.splice(index, 1);
  }

  /** Whether a receive must find something (a message, or one to move to the dead-letter queue). */
  hasVisible(nowMs: number): boolean {
    return this.messages.some((each) => this.isDeliverable(each, nowMs));
  }

  isDeliverable(candidate: ModelMessage, nowMs: number): boolean {
    if (candidate.isInFlight || candidate.visibleAtMs > nowMs) return false;
    if (!this.isFifo) return true;
    return this.messages.every(
      (other) =>
        other.groupId !== candidate.groupId ||
        (!other.isInFlight && other.sequence >= candidate.sequence),
    );
  }
}

interface Run {
  readonly test: TestQueue;
  readonly model: Model;
  readonly deliveries: Delivery[];
  nowMs: number;
}

function runSend(run: Run, step: Extract<Step, { kind: 'send' }>): void {
  const groupId = `group-${String(step.group)}`;
  const deduplicationId = `id-${String(step.id)}`;
  const delaySeconds = run.model.isFifo ? undefined : step.delay;
  const key = run.model.isFifo ? `${groupId} ${deduplicationId}` : '';
  const receipt = run.test.queue.send(
    message('body', { groupId, deduplicationId, delaySeconds }),
    run.nowMs,
  );
  const expected = run.model.expectSend(key, run.nowMs);
  assert.equal(receipt.isDuplicate, expected !== undefined);
  if (expected !== undefined) assert.equal(receipt.messageId, expected);
  else {
    const { messageId: id, sequence } = receipt;
    const visibleAtMs = run.nowMs + (delaySeconds ?? 0) * 1000;
    const added = { id, groupId, sequence, visibleAtMs, isInFlight: false, receiveCount: 0 };
    run.model.add(key, added, run.nowMs);
  }
}

function runReceive(run: Run, step: Extract<Step, { kind: 'receive' }>): void {
  const { model, test, nowMs } = run;
  const { countMax, visibilitySeconds } = step;
  const deadBefore = test.deadLetters.length;
  const request = { countMax, visibilityTimeoutSeconds: visibilitySeconds };
  const mustFind = model.hasVisible(nowMs);
  const lockedGroups = new Set(
    model.messages.filter((each) => each.isInFlight).map((each) => each.groupId),
  );
  const deliveries = test.queue.receive(request, nowMs);
  for (const dead of test.deadLetters.slice(deadBefore)) {
    const moved = model.messages.find((each) => each.id === dead.messageId);
    assert.equal(moved?.receiveCount, maxReceiveCount, 'moved before its last receive');
    model.remove(dead.messageId);
    model.deadLetters.push(dead.messageId);
  }
  const foundCount = deliveries.length + test.deadLetters.length - deadBefore;
  assert.equal(foundCount > 0, mustFind, 'a receive finds something exactly if there is something');
  assert.ok(deliveries.length <= countMax);
  for (const delivery of deliveries) {
    const { messageId } = delivery.message;
    const received = model.messages.find((each) => each.id === messageId);
    assert.ok(received !== undefined, 'delivered after its delete');
    assert.ok(!received.isInFlight && received.visibleAtMs <= nowMs, 'delivered while invisible');
    if (model.isFifo) {
      assert.ok(!lockedGroups.has(received.groupId), 'delivered from a locked group');
      const skipped = model.messages.find(
        (each) =>
          each.groupId === received.groupId &&
          each.sequence < received.sequence &&
          !deliveries.some((other) => other.message.messageId === each.id),
      );
      assert.equal(skipped, undefined, 'delivered out of order');
    }
    received.receiveCount += 1;
    assert.equal(delivery.message.receiveCount, received.receiveCount);
    assert.ok(received.receiveCount <= maxReceiveCount);
    run.deliveries.push(delivery);
  }
  for (const { message: delivered } of deliveries) {
    const received = model.messages.find((each) => each.id === delivered.messageId);
    if (received === undefined) continue;
    received.isInFlight = visibilitySeconds > 0;
    received.visibleAtMs = nowMs + visibilitySeconds * 1000;
  }
}

function currentOf(
  run: Run,
  pick: number,
): { delivery: Delivery; known?: ModelMessage } | undefined {
  const delivery = run.deliveries[pick % Math.max(1, run.deliveries.length)];
  if (delivery === undefined) return undefined;
  const known = run.model.messages.find((each) => each.id === delivery.message.messageId);
  const count = Number(delivery.receiptHandle.split('.')[2]);
  return known?.receiveCount === count ? { delivery, known } : { delivery };
}

function runDelete(run: Run, pick: number): void {
  const target = currentOf(run, pick);
  if (target === undefined) return;
  const { messageId } = target.delivery.message;
  const exists = run.model.messages.some((each) => each.id === messageId);
  const mustFail = run.model.isFifo && exists && target.known?.isInFlight !== true;
  const remove = (): void => {
    run.test.queue.delete(target.delivery.receiptHandle, run.nowMs);
  };
  if (mustFail) assert.throws(remove);
  else {
    remove();
    if (target.known !== undefined) run.model.remove(messageId);
  }
}

function runVisibility(run: Run, step: Extract<Step, { kind: 'visibility' }>): void {
  const target = currentOf(run, step.pick);
  if (target === undefined) return;
  const change = (): void => {
    run.test.queue.changeVisibility(target.delivery.receiptHandle, step.seconds, run.nowMs);
  };
  if (target.known?.isInFlight !== true) assert.throws(change);
  else {
    change();
    target.known.isInFlight = step.seconds > 0;
    target.known.visibleAtMs = run.nowMs + step.seconds * 1000;
  }
}

function runStep(run: Run, step: Step): void {
  run.model.advance(run.nowMs);
  if (step.kind === 'send') runSend(run, step);
  else if (step.kind === 'receive') runReceive(run, step);
  else if (step.kind === 'delete') runDelete(run, step.pick);
  else if (step.kind === 'visibility') runVisibility(run, step);
  else if (step.kind === 'pass') run.nowMs += step.ms;
  else {
    const wakeAtMs = run.test.queue.nextWakeAtMs();
    if (wakeAtMs === undefined || wakeAtMs <= run.nowMs) return;
    const before = run.test.queue.hasVisible(run.nowMs);
    assert.equal(
      run.test.queue.hasVisible(wakeAtMs - 1),
      before,
      'something changed before a wake',
    );
    run.nowMs = wakeAtMs;
  }
  run.model.advance(run.nowMs);
  assert.equal(run.test.queue.hasVisible(run.nowMs), run.model.hasVisible(run.nowMs));
}

/** What is in the queue after all visibility has ended, by id. */
function contentOf({ queue, deadLetters }: TestQueue, nowMs: number): string[] {
  const deadBefore = deadLetters.length;
  const received = queue.receive({ countMax: Infinity }, nowMs + 1_000_000);
  const found = [...received.map((each) => each.message), ...deadLetters.slice(deadBefore)];
  return found.map(({ messageId }) => messageId).sort();
}

function check(create: () => TestQueue, isFifo: boolean): void {
  fc.assert(
    fc.property(steps, (sequence) => {
      const run: Run = { test: create(), model: new Model(isFifo), deliveries: [], nowMs: 1000 };
      for (const step of sequence) runStep(run, step);
      const expected = run.model.messages.map((each) => each.id).sort();
      const restarted = create();
      for (const fact of run.test.facts) restarted.queue.replay(fact, run.nowMs);
      assert.deepEqual(contentOf(restarted, run.nowMs), expected, 'after a restart');
      const compacted = create();
      for (const fact of run.test.queue.facts(run.nowMs)) {
        compacted.queue.replay(structuredClone(fact), run.nowMs);
      }
      assert.deepEqual(contentOf(compacted, run.nowMs), expected, 'after a compaction');
      assert.deepEqual(contentOf(run.test, run.nowMs), expected);
    }),
    { numRuns: 300 },
  );
}

describe('any sequence of operations', () => {
  it('keeps the rules of a FIFO queue', () => {
    check(() => fifoQueue(redriveAfter(maxReceiveCount)), true);
  });

  it('keeps the rules of a standard queue', () => {
    check(() => standardQueue(redriveAfter(maxReceiveCount)), false);
  });
});
