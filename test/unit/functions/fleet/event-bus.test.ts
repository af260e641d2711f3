// Which bus the function tells: none unless one is named, and that of its own region.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventBusOf } from '../../../../functions/fleet/event-bus.ts';

const identity = {
  credentials: () => Promise.resolve({ accessKeyId: 'a', secretAccessKey: 's' }),
  clock: { nowMs: () => 0 },
};
const environment = { AWS_REGION: 'eu-west-1', ROLLCALL_STAGE: 'prod' };

describe('eventBusOf', () => {
  it('is none where none is named', () => {
    assert.equal(eventBusOf(identity, environment), undefined);
    assert.equal(eventBusOf(identity, { ...environment, ROLLCALL_EVENT_BUS_NAME: '' }), undefined);
  });

  it('names the stack that its events are of', () => {
    const bus = eventBusOf(identity, { ...environment, ROLLCALL_EVENT_BUS_NAME: 'fleets' });
    assert.equal(bus?.stackName, 'rollcall-prod');
  });

  it('is nowhere but in a region that is known', () => {
    const named = { ROLLCALL_EVENT_BUS_NAME: 'fleets', AWS_REGION: 'evil.example/' };
    assert.throws(() => eventBusOf(identity, named), /AWS_REGION/);
  });
});
