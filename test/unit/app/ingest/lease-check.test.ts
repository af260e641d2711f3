/** Who holds the Lease, by a live read; and what may be taken for granted when none can be made (protocol 15). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayCheckLease, readLeaseHolder } from '../../../../src/app/ingest/lease-check.ts';
import { defaultIngestOptions } from '../../../../src/app/ingest/dependencies.ts';
import { incarnation } from '../../../../src/core/model/identifiers.ts';
import type { ConnectRefusal } from '../../../../src/ports/cluster-access.ts';
import { MemoryMetrics } from '../../../support/memory-metrics.ts';
import { metaOf, registrationOf } from '../../../support/store-suite.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

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
});
