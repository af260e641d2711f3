/** The own event bus: the suite that its reference passes, and the rights that it asks for. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { EVENTS_MAX, busArnOf, startEventsServer } from '@rollcall/local-aws/events/server.ts';
import { Authorizer, type LocalCredentials } from '@rollcall/local-aws/iam/authorizer.ts';
import { createEventBridgeBus } from '../../../src/adapters/eventbridge/event-bus.ts';
import type { EventBus } from '../../../src/ports/fleet-notifier.ts';
import { ownBus } from '../../conformance/aws/event-implementations.ts';
import { describeEvents } from '../../conformance/aws/run-event-suite.ts';

describeEvents(ownBus);

const ENTRY = { type: 'test', atMs: 0, detail: '{}' };

function busAs(endpoint: string, signer: LocalCredentials, busName = 'default'): EventBus {
  return createEventBridgeBus({
    ...{ busName, endpoint, region: 'us-east-1', nowMs: Date.now },
    credentials: () => Promise.resolve(signer),
  });
}

it('asks for the right to put on the very bus, and knows who nobody is', async () => {
  const authorizer = new Authorizer();
  const statement = {
    ...{ sid: 'Tell', effect: 'Allow' as const, leadingKeys: undefined },
    actions: ['events:PutEvents'],
    resourceArns: [busArnOf('us-east-1', 'default')],
  };
  const teller = authorizer.grant('TELLER', { arn: 'teller', rights: [statement] });
  const other = authorizer.grant('OTHER', { arn: 'other', rights: [] });
  const server = await startEventsServer({
    ...{ clock: createSystemClock(), newId: randomUUID },
    authorizer,
  });
  try {
    const codes = [
      await busAs(server.endpoint, teller).put([ENTRY]),
      await busAs(server.endpoint, teller, 'another').put([ENTRY]),
      await busAs(server.endpoint, other).put([ENTRY]),
      await busAs(server.endpoint, { ...teller, accessKeyId: 'NOBODY' }).put([ENTRY]),
      await busAs(server.endpoint, { ...teller, secretAccessKey: 'guessed' }).put([ENTRY]),
    ].map(([outcome = assert.fail()]) => ('code' in outcome ? outcome.code : outcome.kind));
    assert.deepEqual(codes, [
      'put',
      'AccessDeniedException',
      'AccessDeniedException',
      'UnrecognizedClientException',
      'UnrecognizedClientException',
    ]);
    assert.equal(server.events().length, 1);
  } finally {
    await server.stop();
  }
});

it('keeps the newest of many', async () => {
  const server = await startEventsServer({ clock: createSystemClock(), newId: randomUUID });
  try {
    const entries = Array.from({ length: EVENTS_MAX + 20 }, (_, n) => ({
      ...ENTRY,
      detail: JSON.stringify({ n }),
    }));
    const anybody = { accessKeyId: 'local', secretAccessKey: 'local' };
    await busAs(server.endpoint, anybody).put(entries);
    const kept = server.events();
    assert.equal(kept.length, EVENTS_MAX);
    assert.deepEqual(kept.at(-1)?.detail, { n: EVENTS_MAX + 19 });
  } finally {
    await server.stop();
  }
});
