/** The name of a stack, from the address of its events queue (ADR 0024). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installationOf, isOfAnother } from '../../../../src/core/may-act/installation.ts';

describe('an installation', () => {
  for (const [url, name] of [
    [
      'https://sqs.eu-central-1.amazonaws.com/123456789012/rollcall-prod-events.fifo',
      'eu-central-1/123456789012/rollcall-prod',
    ],
    [
      'https://vpce-1a.sqs.us-gov-west-1.vpce.amazonaws.com/123456789012/rollcall-prod-events.fifo',
      'us-gov-west-1/123456789012/rollcall-prod',
    ],
    [
      'https://sqs.cn-north-1.amazonaws.com.cn/123456789012/events.fifo',
      'cn-north-1/123456789012/events',
    ],
    ['http://127.0.0.1:4566/000000000000/rollcall-dev-events.fifo', '000000000000/rollcall-dev'],
    [
      'http://sqs.us-east-1.localhost.emulator.cloud:4566/000000000000/rollcall-dev-events.fifo',
      '000000000000/rollcall-dev',
    ],
    ['unused', undefined],
  ] as const) {
    it(`is named by its queue: ${String(name)} of ${url}`, () => {
      assert.equal(installationOf(url), name);
    });
  }

  it('takes no Lease for another’s that names none, or nonsense', () => {
    const leaseOf = (annotations?: Record<string, string>): Parameters<typeof isOfAnother>[0] => ({
      metadata: annotations === undefined ? {} : { annotations },
    });
    assert.equal(isOfAnother(leaseOf(), 'a'), false);
    assert.equal(isOfAnother(leaseOf({}), 'a'), false);
    assert.equal(isOfAnother(leaseOf({ 'rollcall.dev/installation': 'a' }), 'a'), false);
    assert.equal(isOfAnother(leaseOf({ 'rollcall.dev/installation': 'two words' }), 'a'), false);
    assert.equal(isOfAnother(leaseOf({ 'rollcall.dev/installation': 'b' }), 'a'), true);
  });
});
