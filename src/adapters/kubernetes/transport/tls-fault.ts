/**
 * Why a TLS session did not come about, by OpenSSL's name for it, and how that is told.
 *
 * Names are codes of this side's library, never texts of the other side (S11). What is not listed is no fault of a
 * certificate: a connection that broke, a time-out.
 */
import type { TlsFault } from '../../../ports/cluster/cluster-inspection.ts';

const TLS_FAULTS: Readonly<Record<string, TlsFault>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'other-name',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not-yet-valid',
  SELF_SIGNED_CERT_IN_CHAIN: 'untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'untrusted',
  CERT_SIGNATURE_FAILURE: 'untrusted',
  CERT_UNTRUSTED: 'untrusted',
  INVALID_CA: 'untrusted',
};

/** The fault of a certificate that a code means; undefined where it means none. */
export function tlsFaultOf(code: string): TlsFault | undefined {
  return Object.hasOwn(TLS_FAULTS, code) ? TLS_FAULTS[code] : undefined;
}

/** A short name for a failure, free of anything that the other side chose; of a changed authority it says so. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return error.name;
  return tlsFaultOf(code) === 'untrusted'
    ? `${code}: its certificate is of no certificate authority that is trusted for it`
    : code;
}
