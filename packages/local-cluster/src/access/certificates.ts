/**
 * The certificate authority of a local cluster and the certificate of its API server: ECDSA P-256, good for ten years.
 *
 * Node can make keys but no certificates; a library of the laptop's part writes them (it is in no bundle). The
 * authority's key is thrown away: a new serving certificate needs a new authority. Keys are random by the platform's own
 * source: they are secrets, and no decision hangs on them.
 */
import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
// The certificate library reads type metadata that this import makes possible: it must come before it.
import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** An authority and the serving certificate that it signed; plain text, to be kept in a file. */
export interface Authority {
  readonly caPem: string;
  readonly serving: {
    readonly certificatePem: string;
    /** Secret. */
    readonly keyPem: string;
  };
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
const VALID_DAYS = 3650;
/** Valid from before now: clocks of clients may be late. */
const EARLIER_DAYS = 1;

const SERVING_NAMES = [
  { type: 'ip', value: '127.0.0.1' },
  { type: 'dns', value: 'localhost' },
  { type: 'dns', value: 'kubernetes' },
  { type: 'dns', value: 'kubernetes.default' },
  { type: 'dns', value: 'kubernetes.default.svc' },
] as const;

/** Makes an authority and a serving certificate for 127.0.0.1, localhost and kubernetes.default.svc. */
export async function createAuthority({ nowMs }: { readonly nowMs: number }): Promise<Authority> {
  const caKeys = newKeys();
  const servingKeys = newKeys();
  const validity = {
    notBefore: new Date(nowMs - EARLIER_DAYS * DAY_MS),
    notAfter: new Date(nowMs + VALID_DAYS * DAY_MS),
  };
  const ca = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=rollcall-local-ca',
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.digitalSignature, true),
    ],
  });
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=kube-apiserver',
    issuer: ca.subject,
    publicKey: servingKeys.publicKey,
    signingKey: caKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    ...validity,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([...SERVING_NAMES]),
    ],
  });
  return {
    caPem: ca.toString('pem'),
    serving: {
      certificatePem: certificate.toString('pem'),
      keyPem: servingKeys.pem,
    },
  };
}

type CryptoKey = ReturnType<KeyObject['toCryptoKey']>;

interface Keys {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
  /** The private key in PKCS #8. */
  readonly pem: string;
}

function newKeys(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: ALGORITHM.namedCurve });
  return {
    publicKey: publicKey.toCryptoKey(ALGORITHM, true, ['verify']),
    privateKey: privateKey.toCryptoKey(ALGORITHM, true, ['sign']),
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
