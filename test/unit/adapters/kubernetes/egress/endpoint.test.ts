/** Small parts of the transport: addresses, Retry-After, back-pressure. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEndpoint } from '../../../../../src/adapters/kubernetes/egress/endpoint.ts';
import { parseRetryAfterMs } from '../../../../../src/adapters/kubernetes/transport/response-body.ts';
import { createBackPressure } from '../../../../../src/adapters/kubernetes/api/list-pages.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

describe('parseEndpoint (S12)', () => {
  it('takes host, port and path prefix of an https address', () => {
    const cases = {
      'https://api.example.com': { host: 'api.example.com', port: 443, pathPrefix: '' },
      'https://api.example.com:6443/': { host: 'api.example.com', port: 6443, pathPrefix: '' },
      'https://proxy.example.com/k8s/c-1/': {
        host: 'proxy.example.com',
        port: 443,
        pathPrefix: '/k8s/c-1',
      },
      'https://[::1]:6443': { host: '::1', port: 6443, pathPrefix: '' },
    };
    for (const [server, endpoint] of Object.entries(cases)) {
      assert.deepEqual(parseEndpoint(server), { kind: 'endpoint', endpoint });
    }
  });

  it('refuses everything else', () => {
    for (const server of [
      '',
      'api.example.com',
      'http://api.example.com',
      'file:///etc/passwd',
      'https://user:password@api.example.com',
      'https://api.example.com/?to=elsewhere',
      'https://api.example.com/#x',
    ]) {
      const parsed = parseEndpoint(server);
      assert.equal(parsed.kind, 'refused', server);
      assert.ok(parsed.kind === 'refused' && !parsed.message.includes('password'));
    }
  });
});

describe('parseRetryAfterMs', () => {
  it('reads seconds and dates', () => {
    const nowMs = Date.parse('2026-01-02T03:04:05Z');
    assert.equal(parseRetryAfterMs('3', nowMs), 3000);
    assert.equal(parseRetryAfterMs('Fri, 02 Jan 2026 03:04:15 GMT', nowMs), 10_000);
    assert.equal(parseRetryAfterMs('Fri, 02 Jan 2026 03:00:00 GMT', nowMs), 0);
    assert.equal(parseRetryAfterMs('soon', nowMs), undefined);
    assert.equal(parseRetryAfterMs(undefined, nowMs), undefined);
  });
});

describe('createBackPressure', () => {
  it('ends by itself, keeps the latest end, and is bounded', async () => {
    const clock = new VirtualClock();
    const pressure = createBackPressure(clock);
    assert.equal(pressure.remainingMs(), 0);
    pressure.note(5000);
    pressure.note(1000);
    pressure.note(undefined);
    assert.equal(pressure.remainingMs(), 5000);
    await clock.advance(5000);
    assert.equal(pressure.remainingMs(), 0);
    pressure.note(3_600_000);
    assert.equal(pressure.remainingMs(), 30_000);
  });
});
