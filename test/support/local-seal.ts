/**
 * Seals without KMS: AES-GCM under a key of this process, the context as additional authenticated data.
 *
 * As with KMS, a wrong context and an altered ciphertext look alike, and a ciphertext tells which key made it.
 * `refusal` and `failure` play what a key service may say instead.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type {
  MadeSeal,
  OpenedSeal,
  RefusedSeal,
  Seal,
  SealContext,
  SealRefusal,
} from '../../src/ports/stores/credential-store.ts';

const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TEXT_BYTES_MAX = 4096;

function additionalData({ cluster, clusterUid, purpose }: SealContext): Buffer {
  return Buffer.from(JSON.stringify({ cluster, clusterUid, purpose }));
}

function refused(code: SealRefusal): RefusedSeal {
  return { kind: 'refused', code, message: `local seal: ${code}` };
}

/** A seal for tests. */
export class LocalSeal implements Seal {
  readonly #key = randomBytes(32);
  readonly #keyId = randomBytes(KEY_ID_BYTES);
  /** Contexts that were opened, in order. */
  readonly opened: SealContext[] = [];
  /** When set, nothing is opened or made, for this reason. */
  refusal: SealRefusal | undefined;
  /** When set, every call rejects with it. */
  failure: Error | undefined;

  seal(text: string, context: SealContext): Promise<MadeSeal> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.refusal !== undefined) return Promise.resolve(refused(this.refusal));
    if (Buffer.byteLength(text) > TEXT_BYTES_MAX) return Promise.resolve(refused('too-large'));
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(additionalData(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const bytes = Buffer.concat([this.#keyId, nonce, cipher.getAuthTag(), sealed]);
    return Promise.resolve({ kind: 'sealed', ciphertext: bytes.toString('base64') });
  }

  open(ciphertext: string, context: SealContext): Promise<OpenedSeal> {
    this.opened.push(context);
    if (this.failure !== undefined) return Promise.reject(this.failure);
    if (this.refusal !== undefined) return Promise.resolve(refused(this.refusal));
    return Promise.resolve(this.#open(Buffer.from(ciphertext, 'base64'), context));
  }

  #open(bytes: Buffer, context: SealContext): OpenedSeal {
    const nonceEnd = KEY_ID_BYTES + NONCE_BYTES;
    if (bytes.length < nonceEnd + TAG_BYTES) return refused('invalid-ciphertext');
    if (!bytes.subarray(0, KEY_ID_BYTES).equals(this.#keyId)) return refused('wrong-key');
    const nonce = bytes.subarray(KEY_ID_BYTES, nonceEnd);
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce);
    decipher.setAAD(additionalData(context));
    decipher.setAuthTag(bytes.subarray(nonceEnd, nonceEnd + TAG_BYTES));
    try {
      const text = Buffer.concat([
        decipher.update(bytes.subarray(nonceEnd + TAG_BYTES)),
        decipher.final(),
      ]);
      return { kind: 'opened', text: text.toString('utf8') };
    } catch {
      // Another context, or altered: the mode does not tell.
      return refused('invalid-ciphertext');
    }
  }
}
