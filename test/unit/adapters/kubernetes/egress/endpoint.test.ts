/** Addresses of API servers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseEndpoint } from '../../../../../src/adapters/kubernetes/egress/endpoint.ts';

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
