/**
 * A self-signed certificate for servers of tests on 127.0.0.1, made in this process.
 *
 * Node can make keys but no certificates, and tests need npm alone: so the few fields of an X.509
 * certificate are written out here. It may also serve as its own authority and as a client's.
 */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface TestCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

const OBJECT_IDS = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  subjectAlternativeName: '0603551d11',
  basicConstraints: '0603551d13',
};

const SEQUENCE = 0x30;

function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  if (length < 0x100) return Buffer.concat([Buffer.from([tag, 0x81, length]), content]);
  return Buffer.concat([Buffer.from([tag, 0x82, length >> 8, length & 0xff]), content]);
}

function objectId(name: keyof typeof OBJECT_IDS): Buffer {
  return Buffer.from(OBJECT_IDS[name], 'hex');
}

function distinguishedName(commonName: string): Buffer {
  const text = element(0x0c, Buffer.from(commonName));
  return element(SEQUENCE, element(0x31, element(SEQUENCE, objectId('commonName'), text)));
}

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

function extensions(): Buffer {
  const names = element(
    SEQUENCE,
    element(0x82, Buffer.from('localhost')),
    element(0x87, Buffer.from([127, 0, 0, 1])),
  );
  const isAuthority = element(SEQUENCE, element(0x01, Buffer.from([0xff])));
  const list = element(
    SEQUENCE,
    element(SEQUENCE, objectId('subjectAlternativeName'), element(0x04, names)),
    element(SEQUENCE, objectId('basicConstraints'), element(0x04, isAuthority)),
  );
  return element(0xa3, list);
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

const DAY_MS = 86_400_000;

/** Makes a certificate for 127.0.0.1 and localhost, valid from yesterday for ten days. */
export function makeTestCertificate(commonName = 'rollcall-test'): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = element(SEQUENCE, objectId('ecdsaWithSha256'));
  const name = distinguishedName(commonName);
  const nowMs = Date.now();
  const toBeSigned = element(
    SEQUENCE,
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    element(SEQUENCE, utcTime(new Date(nowMs - DAY_MS)), utcTime(new Date(nowMs + 9 * DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions(),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const bits = element(0x03, Buffer.concat([Buffer.from([0]), signature]));
  return {
    certificatePem: pem('CERTIFICATE', element(SEQUENCE, toBeSigned, algorithm, bits)),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
