// The digests that the SDK checks: MD5 of a body and of message attributes.
//
// The attribute digest is AWS's: names in order, each as length-prefixed name, length-prefixed type, one byte for
// the kind of value, length-prefixed value. MD5 guards against corruption here, not against anyone.
import { createHash, hash } from 'node:crypto';
import type { MessageAttributes } from './message.ts';

const stringKind = Buffer.from([1]);
const binaryKind = Buffer.from([2]);

/** MD5 of a message body, in hex. */
export function bodyDigest(body: string): string {
  return hash('md5', body, 'hex');
}

/** The id that content-based deduplication gives a body. */
export function contentDeduplicationId(body: string): string {
  return hash('sha256', body, 'hex');
}

/** MD5 of message attributes, in hex; undefined if there are none. */
export function attributesDigest(attributes: MessageAttributes | undefined): string | undefined {
  if (attributes === undefined) return undefined;
  const names = Object.keys(attributes).sort();
  if (names.length === 0) return undefined;
  const digest = createHash('md5');
  const add = (bytes: Buffer): void => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    digest.update(length).update(bytes);
  };
  for (const name of names) {
    const value = attributes[name];
    if (value === undefined) continue;
    add(Buffer.from(name));
    add(Buffer.from(value.DataType));
    if (value.BinaryValue === undefined) {
      digest.update(stringKind);
      add(Buffer.from(value.StringValue ?? ''));
    } else {
      digest.update(binaryKind);
      add(Buffer.from(value.BinaryValue, 'base64'));
    }
  }
  return digest.digest('hex');
}
