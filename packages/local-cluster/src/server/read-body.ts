/**
 * Reads and parses the body of a request: JSON or YAML, up to a limit.
 *
 * Refusals are Status objects as the real API server words them, as far as the transport can know. Differs from Kubernetes:
 * neither protobuf nor CBOR is spoken: clients offer JSON besides, but for `kubectl auth can-i`; and a body is judged before the
 * request is authorised, so a bad one gets its 400 where a 403 might have come.
 */
import type { IncomingMessage } from 'node:http';
import { YAMLError, parse as parseYaml } from 'yaml';
import type { Json } from '@rollcall/base/json.ts';
import type { Status } from '../api/request/api-request.ts';
import { badRequest, failure, unsupportedMediaType } from '../api/request/statuses.ts';

/** The real API server's own limit. */
const BODY_BYTES_MAX = 3 * 1024 * 1024;

const ACCEPTED_TYPES = ['application/json', 'application/yaml'];

/** A body, none (a DELETE without options, a request to upgrade), or why it is refused; `gone`: the client left before its end. */
export type BodyOutcome =
  | { readonly kind: 'body'; readonly body?: Json }
  | { readonly kind: 'refused'; readonly status: Status }
  | { readonly kind: 'gone' };

/** Reads the body of a request that may have one. */
export async function readBody(request: IncomingMessage): Promise<BodyOutcome> {
  const received = await receive(request);
  if (received === 'gone') return { kind: 'gone' };
  if (received === 'tooLarge') return { kind: 'refused', status: tooLarge() };
  const isEmpty = received.length === 0;
  const needsNone = request.method === 'DELETE' || request.headers.upgrade !== undefined;
  if (isEmpty && needsNone) return { kind: 'body' };
  const format = bodyFormat(request.headers['content-type']);
  if (format === undefined) {
    return { kind: 'refused', status: unsupportedMediaType(ACCEPTED_TYPES) };
  }
  return parse(received.toString('utf8'), format);
}

/** Reads to the end even what is too large, or the client could not hear why: the rest is thrown away. */
async function receive(request: IncomingMessage): Promise<Buffer | 'tooLarge' | 'gone'> {
  const chunks: Buffer[] = [];
  let lengthBytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      lengthBytes += chunk.length;
      if (lengthBytes <= BODY_BYTES_MAX) chunks.push(chunk);
    }
  } catch (error) {
    // The only way for a request stream to fail is that its connection ended.
    if (request.destroyed) return 'gone';
    throw error;
  }
  if (lengthBytes > BODY_BYTES_MAX) return 'tooLarge';
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

function parse(text: string, format: BodyFormat): BodyOutcome {
  try {
    return { kind: 'body', body: format === 'json' ? parseJson(text) : parseYamlBody(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof YAMLError)) throw error;
    const what = format === 'json' ? "couldn't get version/kind; json parse error" : 'yaml';
    return { kind: 'refused', status: badRequest(`${what}: ${error.message}`) };
  }
}

function parseJson(text: string): Json {
  return JSON.parse(text) as Json;
}

const YAML_TAGS = new Set(
  ['map', 'seq', 'str', 'null', 'bool', 'int', 'float', 'merge'].map(
    (name) => `tag:yaml.org,2002:${name}`,
  ),
);

/** YAML 1.1 as the API server reads it, where `on` is true and 0644 octal, but a time remains text. */
function parseYamlBody(text: string): Json {
  return parseYaml(text, {
    version: '1.1',
    customTags: (tags) =>
      tags.filter(
        (tag) =>
          typeof tag === 'string' ||
          (YAML_TAGS.has(tag.tag) && (!('format' in tag) || tag.format !== 'TIME')),
      ),
  }) as Json;
}

function tooLarge(): Status {
  return failure({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: limit is ${BODY_BYTES_MAX}`,
  });
}

/** A format that bodies are written in. */
type BodyFormat = 'json' | 'yaml';

const FORMATS: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'json',
  'application/strategic-merge-patch+json': 'json',
  'application/apply-patch+yaml': 'yaml',
};

/** The format of a body with this Content-Type (absent: JSON); undefined: one that is not spoken here. */
function bodyFormat(contentType: string | undefined): BodyFormat | undefined {
  const type = typeOf(contentType ?? '');
  return type === '' ? 'json' : FORMATS[type];
}

/** The type without its parameters, in lower case. */
function typeOf(text: string): string {
  return (text.split(';', 1)[0] ?? '').trim().toLowerCase();
}
