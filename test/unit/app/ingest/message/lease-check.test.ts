/** Who holds the Lease, by a live read; and what may be taken for granted when none can be made (protocol 15). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  mayCheckLease,
  readLeaseHolder,
} from '../../../../../src/app/ingest/message/lease-check.ts';
import { defaultIngestOptions } from '../../../../../src/app/ingest/process/dependencies.ts';
import { incarnation } from '../../../../../src/core/model/identifiers.ts';
import type { ConnectRefusal } from '../../../../../src/ports/cluster/cluster-access.ts';
import { IngestHarness, registrationFor } from '../../../../support/ingest-harness.ts';
import { MemoryMetrics } from '../../../../support/memory-metrics.ts';
import { metaOf, registrationOf } from '../../../../support/store-suite.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

describe('a live read of the Lease', () => {
  const renewer = { kind: 'bound-token', renewerRoleId: 'AROARENEWER' } as const;

  async function answerTo(refusal: ConnectRefusal): Promise<string> {
    const registration = { ...registrationOf('west'), authentication: renewer };
    return readLeaseHolder(incarnation('i'), registration, {
      connector: {
        connect: () => Promise.resolve({ kind: 'refused', refusal }),
        forget: () => undefined,
      },
      metrics: new MemoryMetrics(),
      clock: new VirtualClock(),
    });
  }

  it('that cannot be made for lack of a token is an outage: there may be one a moment later (S3)', async () => {
    const faults = ['not-sent', 'expired', 'other-cluster', 'not-opened', 'rejected'] as const;
    for (const fault of faults) {
      assert.equal(await answerTo({ kind: 'no-token', fault }), 'unavailable', fault);
    }
    assert.equal(await answerTo({ kind: 'unavailable', message: 'ETIMEDOUT' }), 'unavailable');
  });

  it('is not awaited where the functions have no credential, and so can do no harm', async () => {
    assert.equal(await answerTo({ kind: 'no-credential' }), 'no-credential');
  });

  it('is not held back by a wall clock that stepped back, nor made before its time', () => {
    const clock = new VirtualClock();
    const checkedFor = incarnation('i');
    const mayCheckAfterMs = (sinceMs: number): boolean =>
      mayCheckLease(
        {
          ...metaOf('west'),
          leaseCheckedAtMs: clock.nowMs() - sinceMs,
          leaseCheckedFor: checkedFor,
        },
        checkedFor,
        { clock, options: defaultIngestOptions },
      );
    const { leaseCheckEveryMs } = defaultIngestOptions;
    assert.equal(mayCheckAfterMs(0), false);
    assert.equal(mayCheckAfterMs(leaseCheckEveryMs - 1), false);
    assert.equal(mayCheckAfterMs(leaseCheckEveryMs), true);
    assert.equal(mayCheckAfterMs(-3_600_000), true);
  });

  async function answerOf(lease: unknown): Promise<string> {
    const harness = new IngestHarness();
    const read = () => Promise.resolve(lease);
    const connected = { kind: 'connected', access: { getWatcherLease: read } };
    const connector = {
      connect: () => Promise.resolve(connected as never), // -- the one call that is made
      forget: () => undefined,
    };
    const answer = await readLeaseHolder(incarnation('i'), registrationFor('c1'), {
      ...harness.dependencies(),
      connector,
    });
    assert.equal(harness.metrics.sum('LeaseChecks', answer), 1);
    return answer;
  }

  it('names the holder, and nobody where there is no Lease or none that says who', async () => {
    const held = (spec: unknown): unknown => ({ kind: 'found', object: { metadata: {}, spec } });
    assert.equal(await answerOf(held({ holderIdentity: 'i' })), 'holder');
    assert.equal(await answerOf(held({ holderIdentity: 'j' })), 'other-holder');
    assert.equal(await answerOf(held(undefined)), 'other-holder');
    assert.equal(await answerOf({ kind: 'missing' }), 'other-holder');
    assert.equal(
      await answerOf({ kind: 'unavailable', message: 'no', isRefused: false }),
      'unavailable',
    );
  });

  it('is not tried for a cluster that was registered without a credential', async () => {
    const harness = new IngestHarness();
    const registration = registrationFor('c1', { authentication: { kind: 'none' } });
    const answer = await readLeaseHolder(incarnation('i'), registration, harness.dependencies());
    assert.deepEqual([answer, harness.lease.reads], ['no-credential', 0]);
  });
});

describe('another read of the Lease for a lower epoch (protocol 15)', () => {
  const options = {
    ...new IngestHarness().dependencies().options,
    leaseCheckEveryMs: 60_000,
    leaseCheckOtherEveryMs: 5000,
  };

  async function mayAfter(sinceMs: number, sender: string): Promise<boolean> {
    const clock = new VirtualClock();
    await clock.advance(3_600_000);
    const leaseCheckedAtMs = clock.nowMs() - sinceMs;
    const meta = { ...metaOf('c1'), leaseCheckedAtMs, leaseCheckedFor: incarnation('a') };
    return mayCheckLease(meta, incarnation(sender), { clock, options });
  }

  it('comes once in its interval, sooner for another incarnation', async () => {
    assert.equal(await mayAfter(59_999, 'a'), false);
    assert.equal(await mayAfter(60_000, 'a'), true);
    assert.equal(await mayAfter(4999, 'b'), false);
    assert.equal(await mayAfter(5000, 'b'), true);
  });

  it('comes at once where none was, and where the clock has stepped back since', async () => {
    const never = metaOf('c1');
    assert.equal(
      mayCheckLease(never, incarnation('a'), { clock: new VirtualClock(), options }),
      true,
    );
    assert.equal(await mayAfter(-1, 'a'), true);
    assert.equal(await mayAfter(0, 'a'), false);
  });
});
