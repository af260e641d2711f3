/** The pool of connections: what stays open, and until when. */
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { PooledAgent } from '../../../../../src/adapters/kubernetes/transport/pooled-agent.ts';

describe('the pool of connections', () => {
  it('keeps a connection that becomes free, and none once it has retired, though it was busy then', () => {
    const agent = new PooledAgent({ credential: { kind: 'none' }, clock: createSystemClock() }, 1);
    const busy = new Socket();
    assert.equal(agent.keepSocketAlive(busy), true);
    agent.retire();
    assert.equal(agent.keepSocketAlive(busy), false);
    busy.destroy();
  });
});
