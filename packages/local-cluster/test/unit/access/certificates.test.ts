/** The authority of a local cluster: what TLS clients check. */
import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority } from '../../../src/access/certificates.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;

test('the serving certificate is the authority’s, for the names that clients use', async () => {
  const { caPem, serving } = await createAuthority({ nowMs: NOW_MS });
  const ca = new X509Certificate(caPem);
  const certificate = new X509Certificate(serving.certificatePem);
  assert(ca.ca && ca.verify(ca.publicKey));
  assert(!certificate.ca && certificate.verify(ca.publicKey) && certificate.checkIssued(ca));
  assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(certificate.checkHost('localhost'), 'localhost');
  assert.equal(certificate.checkHost('kubernetes.default.svc'), 'kubernetes.default.svc');
  assert.equal(certificate.checkHost('example.com'), undefined);
  assert(certificate.checkPrivateKey(createPrivateKey(serving.keyPem)));
});

test('both are valid from before now, for years', async () => {
  const { caPem, serving } = await createAuthority({ nowMs: NOW_MS });
  for (const pem of [caPem, serving.certificatePem]) {
    const { validFromDate, validToDate } = new X509Certificate(pem);
    assert.equal(validFromDate.getTime(), NOW_MS - DAY_MS);
    assert(validToDate.getTime() > NOW_MS + 5 * 365 * DAY_MS);
  }
});

test('no two authorities are alike', async () => {
  const [one, other] = await Promise.all([
    createAuthority({ nowMs: NOW_MS }),
    createAuthority({ nowMs: NOW_MS }),
  ]);
  const stranger = new X509Certificate(other.serving.certificatePem);
  assert(!stranger.verify(new X509Certificate(one.caPem).publicKey));
  assert.notEqual(
    stranger.serialNumber,
    new X509Certificate(one.serving.certificatePem).serialNumber,
  );
});
