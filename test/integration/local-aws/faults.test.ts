/** The fault options over the SDK: messages dropped, duplicated in every way, reordered across groups, from a seed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually, startWork, turn } from './local-aws-fixture.ts';

const bodies = Array.from({ length: 30 }, (_, index) => String(index));

describe('fault options', () => {
  it('drop: the message is gone and nobody saw it', async (context) => {
    let count = 0;
    const work = await startWork(context, () => void (count += 1), {
      faults: { seed: 1, drop: 1 },
    });
    await work.send('lost');
    await eventually(async () => {
      const { visible, inFlight } = await work.countMessages();
      return visible + inFlight === 0;
    }, 'an empty queue');
    await turn();
    assert.equal(count, 0);
  });

  it('duplicate: every message is delivered twice, some of them at the same time', async (context) => {
    const deliveries = new Map<string, number>();
    const running = new Set<string>();
    let overlapCount = 0;
    const work = await startWork(
      context,
      async (event) => {
        const body = event.Records[0]?.body ?? '';
        if (running.has(body)) overlapCount += 1;
        running.add(body);
        deliveries.set(body, (deliveries.get(body) ?? 0) + 1);
        await turn();
        running.delete(body);
      },
      { batchSize: 1, faults: { seed: 3, duplicate: 1 } },
    );
    for (const body of bodies) await work.send(body, `group-${body}`);
    await eventually(
      () => bodies.every((body) => deliveries.get(body) === 2),
      'two deliveries of each',
    );
    assert.ok(overlapCount > 0, 'no duplicate ran beside its original');
    assert.ok(overlapCount < bodies.length, 'every duplicate ran beside its original');
  });

  it('reorder: groups overtake each other, and each group stays in order', async (context) => {
    const seen: string[] = [];
    const work = await startWork(
      context,
      (event) => void seen.push(...event.Records.map((record) => record.body)),
      { batchSize: 1, faults: { seed: 5, reorder: 1, delayMsMax: 1000 } },
    );
    for (const body of bodies) await work.send(body, `group-${String(Number(body) % 5)}`);
    await eventually(async () => {
      await work.clock.advance(10);
      return seen.length === bodies.length;
    }, 'everything');
    assert.notDeepEqual(seen, bodies);
    for (let group = 0; group < 5; group += 1) {
      const order = seen.map(Number).filter((body) => body % 5 === group);
      assert.deepEqual(
        order,
        order.toSorted((left, right) => left - right),
      );
    }
  });
});
