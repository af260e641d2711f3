/** What the watcher reads of the Lease, and writes into it (protocol 12; rows 39, 72). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { incarnation } from '../../../../src/core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  leaseFacts,
  leaseHeldBy,
  leaseReleased,
} from '../../../../src/watcher/lease/lease-object.ts';

const NOW_MS = Date.parse('2026-01-01T12:00:00.000Z');
const DAY_MS = 86_400_000;
const OWN = incarnation('own');

function leaseWith(spec: object | null, metadata: object = {}): KubernetesObject {
  const named = { name: 'l', namespace: 'n', resourceVersion: '9', ...metadata };
  return { metadata: named, spec } as unknown as KubernetesObject;
}

function heldBy(former: KubernetesObject | undefined, nowMs = NOW_MS): Record<string, unknown> {
  const lease = leaseHeldBy(OWN, { former, nowMs, durationSeconds: 40 });
  return lease['spec'] as Record<string, unknown>;
}

function at(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

describe('a Lease that is read', () => {
  it('tells holder, version, request, pulse and time of renewal', () => {
    const annotations = { 'rollcall.dev/snapshot-requested': 'r-1' };
    const lease = leaseWith({ holderIdentity: 'a', renewTime: at(NOW_MS) }, { annotations });
    assert.deepEqual(leaseFacts(lease), {
      holder: 'a',
      installation: undefined,
      version: '9',
      requestId: 'r-1',
      acquiredAt: undefined,
      pulse: `a@${at(NOW_MS)}`,
      renewedMs: NOW_MS,
    });
  });

  it("is nobody's with an empty holder or none, and whatever is no text", () => {
    for (const holderIdentity of ['', undefined, 7]) {
      assert.equal(leaseFacts(leaseWith({ holderIdentity })).holder, undefined);
    }
    assert.equal(leaseFacts(leaseWith(null)).holder, undefined);
  });

  it('tells nothing that it does not say: nonsense is no request, no time and no version', () => {
    for (const request of [7, 'no token\n', '']) {
      const annotations = { 'rollcall.dev/snapshot-requested': request };
      assert.equal(leaseFacts(leaseWith({}, { annotations })).requestId, undefined);
    }
    assert.equal(leaseFacts(leaseWith({ renewTime: 'soon' })).renewedMs, undefined);
    assert.equal(leaseFacts(leaseWith({ renewTime: 7 })).renewedMs, undefined);
    assert.equal(leaseFacts(leaseWith({}, { resourceVersion: '07' })).version, undefined);
  });
});

describe('a Lease that is taken', () => {
  it('is created where there was none, with its duration and a first transition', () => {
    const lease = leaseHeldBy(OWN, { former: undefined, nowMs: NOW_MS, durationSeconds: 40 });
    assert.equal(lease['apiVersion'], 'coordination.k8s.io/v1');
    assert.equal(lease['kind'], 'Lease');
    assert.equal(lease.metadata.resourceVersion, undefined);
    assert.deepEqual(lease['spec'], {
      holderIdentity: 'own',
      leaseDurationSeconds: 40,
      renewTime: at(NOW_MS),
      acquireTime: at(NOW_MS),
      leaseTransitions: 1,
    });
  });

  it('from another holder counts on, keeps what others wrote, and is of its own clock', () => {
    const former = leaseWith({
      holderIdentity: 'other',
      leaseTransitions: 4,
      renewTime: at(NOW_MS + 1000),
      note: 'kept',
    });
    const spec = heldBy(former);
    assert.deepEqual(
      [spec['leaseTransitions'], spec['note'], spec['renewTime'], spec['acquireTime']],
      [5, 'kept', at(NOW_MS), at(NOW_MS)],
    );
  });
});

describe('a Lease that is renewed', () => {
  const former = (renewedMs: number): KubernetesObject =>
    leaseWith({
      holderIdentity: 'own',
      leaseTransitions: 4,
      acquireTime: 'a',
      renewTime: at(renewedMs),
    });

  it('keeps time and number of its taking', () => {
    const spec = heldBy(former(NOW_MS - 5000));
    assert.deepEqual(
      [spec['renewTime'], spec['acquireTime'], spec['leaseTransitions']],
      [at(NOW_MS), 'a', 4],
    );
  });

  it('is renewed later each time, also by a clock that was put back (row 39)', () => {
    assert.equal(heldBy(former(NOW_MS))['renewTime'], at(NOW_MS + 1));
    assert.equal(heldBy(former(NOW_MS + DAY_MS))['renewTime'], at(NOW_MS + DAY_MS + 1));
  });

  it('believes no renewal that lies more than a day ahead', () => {
    assert.equal(heldBy(former(NOW_MS + DAY_MS + 1))['renewTime'], at(NOW_MS));
  });
});

describe('a Lease that is given back', () => {
  it("is nobody's as of now; its duration and transitions stay", () => {
    const held = leaseWith({
      holderIdentity: 'own',
      leaseTransitions: 4,
      leaseDurationSeconds: 40,
    });
    const released = leaseReleased(held, NOW_MS);
    assert.deepEqual(released['spec'], {
      holderIdentity: '',
      leaseTransitions: 4,
      leaseDurationSeconds: 40,
      renewTime: at(NOW_MS),
    });
    assert.equal(released.metadata.resourceVersion, '9');
  });
});
