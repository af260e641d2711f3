/**
 * Seals over KMS: the text is encrypted by the service's key for one cluster alone, by its encryption context (S6,
 * S11).
 *
 * A ciphertext which was moved to another cluster's item, or altered, cannot be opened; the two look alike. Encrypt
 * takes 4,096 bytes, more than three tokens. Errors of the SDK are not kept as causes: one may carry the answer, and
 * with it the token.
 */
import { DecryptCommand, EncryptCommand, type KMSClient } from '@aws-sdk/client-kms';
import type {
  MadeSeal,
  OpenedSeal,
  RefusedSeal,
  Seal,
  SealContext,
  SealRefusal,
} from '../../ports/stores/credential-store.ts';

/** The key service gave no answer that says anything about the seal: try again. */
export class SealUnavailableError extends Error {
  override readonly name = 'SealUnavailableError';
  readonly code = 'seal-unavailable';
}

/** Per request, with its repeats. */
const TIMEOUT_MS = 5_000;
/** The limit of Encrypt. */
const TEXT_BYTES_MAX = 4096;

/** By the name of the SDK's error, never by its text. */
const REFUSALS: Readonly<Record<string, { readonly code: SealRefusal; readonly message: string }>> =
  {
    InvalidCiphertextException: {
      code: 'invalid-ciphertext',
      message: 'it was altered, or sealed for another cluster',
    },
    IncorrectKeyException: { code: 'wrong-key', message: 'it was sealed by another key' },
    AccessDeniedException: { code: 'access-denied', message: 'the key may not be used' },
    DisabledException: { code: 'key-unavailable', message: 'the key is disabled' },
    NotFoundException: { code: 'key-unavailable', message: 'the key does not exist' },
    KMSInvalidStateException: {
      code: 'key-unavailable',
      message: 'the key cannot be used in its state',
    },
    InvalidKeyUsageException: {
      code: 'key-unavailable',
      message: 'the key is not one that encrypts',
    },
  };

/** A seal over one key. */
export function createKmsSeal({
  client,
  keyArn,
}: {
  readonly client: Pick<KMSClient, 'send'>;
  /** ARN of the key: another account's key has no other name, and nothing else opens. */
  readonly keyArn: string;
}): Seal {
  const abortable = (): { readonly abortSignal: AbortSignal } => ({
    abortSignal: AbortSignal.timeout(TIMEOUT_MS),
  });
  return {
    seal: (text, context) => attempt('Encrypt', () => seal(text, context)),
    open: (ciphertext, context) => attempt('Decrypt', () => open(ciphertext, context)),
  };

  async function seal(text: string, context: SealContext): Promise<MadeSeal> {
    const plaintext = Buffer.from(text, 'utf8');
    if (plaintext.byteLength > TEXT_BYTES_MAX) {
      const message = `${plaintext.byteLength} bytes; the key seals ${TEXT_BYTES_MAX} at once`;
      return { kind: 'refused', code: 'too-large', message };
    }
    const command = new EncryptCommand({
      KeyId: keyArn,
      Plaintext: plaintext,
      EncryptionContext: contextOf(context),
    });
    const answer = await client.send(command, abortable());
    return { kind: 'sealed', ciphertext: encode(answer.CiphertextBlob, 'Encrypt', 'base64') };
  }

  async function open(ciphertext: string, context: SealContext): Promise<OpenedSeal> {
    const command = new DecryptCommand({
      // Without it KMS would open with whatever key the ciphertext names.
      KeyId: keyArn,
      CiphertextBlob: Buffer.from(ciphertext, 'base64'),
      EncryptionContext: contextOf(context),
    });
    const answer = await client.send(command, abortable());
    return { kind: 'opened', text: encode(answer.Plaintext, 'Decrypt', 'utf8') };
  }
}

function contextOf({ cluster, clusterUid, purpose }: SealContext): Record<string, string> {
  return { cluster, clusterUid, ...(purpose === 'ask' ? { purpose } : {}) };
}

function encode(
  bytes: Uint8Array | undefined,
  action: string,
  encoding: 'base64' | 'utf8',
): string {
  if (bytes === undefined) throw new SealUnavailableError(`kms:${action}: an empty answer`);
  return Buffer.from(bytes).toString(encoding);
}

async function attempt<Done extends { readonly kind: string }>(
  action: string,
  send: () => Promise<Done | RefusedSeal>,
): Promise<Done | RefusedSeal> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof SealUnavailableError) throw error;
    const name = error instanceof Error ? error.name : 'unknown failure';
    const refusal = REFUSALS[name];
    // Without a cause on purpose: the SDK's error may carry the opened text (S11).
    if (refusal === undefined) throw new SealUnavailableError(`kms:${action}: ${name}`);
    const { code, message } = refusal;
    return { kind: 'refused', code, message: `kms:${action}: ${name}: ${message}` };
  }
}
