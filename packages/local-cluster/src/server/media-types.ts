/**
 * Media types of requests and answers: which format a body is in, which one the client wants back.
 *
 * Differs from Kubernetes: neither protobuf nor CBOR is spoken: clients offer JSON besides, but for `kubectl auth can-i`.
 */

/** A format that bodies are written in. */
export type BodyFormat = 'json' | 'yaml';

const FORMATS: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'json',
  'application/strategic-merge-patch+json': 'json',
  'application/apply-patch+yaml': 'yaml',
};

/** The format of a body with this Content-Type (absent: JSON); undefined: one that is not spoken here. */
export function bodyFormat(contentType: string | undefined): BodyFormat | undefined {
  const type = typeOf(contentType ?? '');
  return type === '' ? 'json' : FORMATS[type];
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

/** The format of the answer that the client likes best; undefined: it takes neither JSON nor YAML. */
export function answerFormat(accept: string | undefined): BodyFormat | undefined {
  if (accept === undefined || accept.trim() === '') return 'json';
  const ranges = accept.split(',').map(parseRange);
  // Stable: of two that are liked equally the first counts.
  ranges.sort((left, right) => right.quality - left.quality);
  for (const { type } of ranges) {
    // The original takes no half of a wildcard.
    if (type === 'application/json' || type === '*/*') return 'json';
    if (type === 'application/yaml') return 'yaml';
  }
  return undefined;
}

function parseRange(text: string): MediaRange {
  const quality = /;\s*q\s*=\s*([0-9.]+)/i.exec(text)?.[1];
  return { type: typeOf(text), quality: quality === undefined ? 1 : Number(quality) };
}

/** The type without its parameters, in lower case. */
function typeOf(text: string): string {
  return (text.split(';', 1)[0] ?? '').trim().toLowerCase();
}
