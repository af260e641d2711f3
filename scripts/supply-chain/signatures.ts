/**
 * Registry signatures: each locked archive was signed by the registry's own key (ECDSA P-256 over
 * `name@version:integrity`).
 *
 * `npm audit signatures` does this too, but fetches its keys from a third host first and gives up without it; here the
 * keys are pinned, and the integrity that is verified is the lockfile's own. A mirror may serve no signatures at all:
 * then the result is `unknown`, never held. A package without a signature beside others that have one is a finding.
 */
import { createPublicKey, verify } from 'node:crypto';
import { judge, type Judgement } from './finding.ts';

/** A signature of a registry. */
export interface Signature {
  readonly keyid: string;
  readonly sig: string;
}

/** A public key of a registry, DER in base64 (SPKI). */
export interface SigningKey {
  readonly keyid: string;
  readonly spkiBase64: string;
}

/** A locked archive. */
export interface SignedArchive {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/** Reads the signatures of an archive; undefined when the registry does not answer for it. */
export type ReadSignatures = (archive: SignedArchive) => Promise<readonly Signature[] | undefined>;

/** The keys of the public npm registry, as npm itself carries them. The older one signed until January 2025. */
export const NPM_KEYS: readonly SigningKey[] = [
  {
    keyid: 'SHA256:DhQ8wR5APBvFHLF/+Tc+AYvPOdTpcIDqOhxsBHRwC7U',
    spkiBase64:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEY6Ya7W++7aUPzvMTrezH6Ycx3c+HOKYCcNGybJZSCJq/fd7Qa8uuAKtdIkUQtQiEKERhAmE5lMMJhP8OkDOa2g==',
  },
  {
    keyid: 'SHA256:jl3bwswu80PjjokCgh0o2w5c2U4LhQAE57gj9cz1kzA',
    spkiBase64:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1Olb3zMAFFxXKHiIkQO5cJ3Yhl5i6UPp+IhuteBJbuHcA5UogKo0EWtlWwW6KSaKoTNEYL7JlCQiVnkhBktUgg==',
  },
];

const SIDE_BY_SIDE = 16;
/** So many archives without any signature mean that this registry serves none. */
const PROBES = 8;

function isSignedBy(archive: SignedArchive, signature: Signature, key: SigningKey): boolean {
  const { name, version, integrity } = archive;
  const publicKey = createPublicKey({
    key: Buffer.from(key.spkiBase64, 'base64'),
    format: 'der',
    type: 'spki',
  });
  const message = Buffer.from(`${name}@${version}:${integrity}`);
  return verify('sha256', message, publicKey, Buffer.from(signature.sig, 'base64'));
}

/** What is wrong with the signatures of an archive; undefined if one of a known key is right. */
export function findSignatureFault(
  archive: SignedArchive,
  signatures: readonly Signature[],
  keys: readonly SigningKey[] = NPM_KEYS,
): string | undefined {
  const label = `${archive.name}@${archive.version}`;
  if (signatures.length === 0) return `${label}: not signed`;
  for (const signature of signatures) {
    const key = keys.find(({ keyid }) => keyid === signature.keyid);
    if (key === undefined) continue;
    return isSignedBy(archive, signature, key)
      ? undefined
      : `${label}: the signature is wrong for this archive`;
  }
  return `${label}: signed by a key that is not known`;
}

/** Verifies the signatures of all archives. */
export async function checkSignatures(input: {
  readonly archives: readonly SignedArchive[];
  readonly read: ReadSignatures;
  readonly keys?: readonly SigningKey[];
}): Promise<Judgement> {
  const { archives, read, keys = NPM_KEYS } = input;
  const probed = await Promise.all(archives.slice(0, PROBES).map((archive) => read(archive)));
  if (probed.every((signatures) => signatures === undefined)) {
    return { kind: 'unknown', reason: 'the registry does not answer' };
  }
  if (probed.every((signatures) => (signatures ?? []).length === 0)) {
    return { kind: 'unknown', reason: 'this registry (a mirror?) serves no signatures' };
  }
  const findings: string[] = [];
  const unanswered: string[] = [];
  const waiting = [...archives];
  const work = async (): Promise<void> => {
    for (let archive = waiting.shift(); archive !== undefined; archive = waiting.shift()) {
      const signatures = await read(archive);
      if (signatures === undefined) {
        unanswered.push(`${archive.name}@${archive.version}`);
        continue;
      }
      const fault = findSignatureFault(archive, signatures, keys);
      if (fault !== undefined) findings.push(fault);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  if (findings.length === 0 && unanswered.length > 0) {
    // Silence is no finding: a registry that fails once must not look like a forged archive.
    return { kind: 'unknown', reason: `no answer for ${unanswered.sort().join(', ')}` };
  }
  return judge(findings.sort(), `${archives.length} archives signed by the registry`);
}
