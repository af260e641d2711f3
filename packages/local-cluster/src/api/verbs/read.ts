/**
 * GET of one object (also of its `view` subresources, which show the same object), and of a collection: selectors, pages, versions.
 *
 * A list is of the newest version, which satisfies "any" and "not older than", unless an exact one is asked for or a page
 * goes on: then it shows that version, as far as the history reaches. Pages show one moment: that of the first page.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { compareBytes, compareKeys, keyText } from '../../store/key-order.ts';
import type { ApiAnswer, Status } from '../request/api-request.ts';
import { answerStatus, answerWith } from '../request/answers.ts';
import { parseListOptions, parseResourceVersion } from '../request/list-options.ts';
import type { ListOptions } from '../request/list-options.ts';
import { renderList, renderObject } from '../steps/render.ts';
import type { ListMetadata } from '../steps/render.ts';
import { refOf } from '../steps/resource-call.ts';
import type { ObjectCall, ResourceCall } from '../steps/resource-call.ts';
import { parseObjectSelector } from '../selectors/object-selector.ts';
import type { ObjectSelector } from '../selectors/object-selector.ts';
import {
  badRequest,
  expired,
  isStatus,
  notFound,
  tooLargeResourceVersion,
} from '../request/statuses.ts';

/** Answers a GET of one object: 200, 404, or 504 for a resourceVersion from the future. */
export function getObject(call: ObjectCall): ApiAnswer {
  const { store } = call.services;
  const version = parseResourceVersion(call.query);
  if (typeof version === 'object' && isStatus(version)) return answerStatus(version);
  if (version !== undefined && version > store.version()) {
    return answerStatus(tooLargeResourceVersion(String(version), store.version()));
  }
  const object = store.get(refOf(call));
  if (object === undefined) return answerStatus(notFound(call.resource, call.name));
  return answerWith(renderObject(call, object));
}

/** One page of a collection. */
interface ListPage {
  readonly items: readonly ApiObject[];
  readonly metadata: ListMetadata;
}

/** Answers a GET of a collection. */
export function listObjects(call: ResourceCall): ApiAnswer {
  const page = readPage(call);
  if (isStatus(page)) return answerStatus(page);
  return answerWith(renderList(call, page.items, page.metadata));
}

/** Reads the page that a query asks for; deletions of collections read the same way. */
export function readPage(call: ResourceCall): ListPage | Status {
  const options = parseListOptions(call.query);
  if (isStatus(options)) return options;
  const selector = parseObjectSelector(call.resource, call.query);
  if (isStatus(selector)) return selector;
  const source = sourceOf(call, options, selector);
  if (isStatus(source)) return source;
  return pageOf({ options, selector, source });
}

/** All objects of a collection that an index cannot rule out, in key order. */
export function candidates(call: ResourceCall, selector: ObjectSelector): readonly ApiObject[] {
  const { services, resource, namespace } = call;
  if (selector.name !== undefined && (namespace !== undefined || !resource.isNamespaced)) {
    const object = services.store.get({
      resource: resource.resourceName,
      ...(namespace === undefined ? {} : { namespace }),
      name: selector.name,
    });
    return object === undefined ? [] : [object];
  }
  if (selector.nodeName === undefined) {
    return services.store.list(resource.resourceName, namespace);
  }
  const pods = services.store.podsOnNode(selector.nodeName);
  return namespace === undefined
    ? pods
    : pods.filter((pod) => pod.metadata.namespace === namespace);
}

interface Source {
  readonly items: readonly ApiObject[];
  readonly version: bigint;
  /** Exclusive; '' is the beginning. */
  readonly afterKey: string;
}

interface PagePlan {
  readonly options: ListOptions;
  readonly selector: ObjectSelector;
  readonly source: Source;
}

function sourceOf(
  call: ResourceCall,
  options: ListOptions,
  selector: ObjectSelector,
): Source | Status {
  const { store } = call.services;
  if (options.continueText !== '') return continuedSource(call, options);
  const newest = store.version();
  if (options.version !== undefined && options.version > newest) {
    return tooLargeResourceVersion(String(options.version), newest);
  }
  const { version } = options;
  if (version !== undefined && version < newest && options.isExact) {
    const items = collectionAt(call, version);
    if (items === undefined) {
      return expired('The resourceVersion for the provided list is too old.');
    }
    return { items, version, afterKey: '' };
  }
  return { items: candidates(call, selector), version: newest, afterKey: '' };
}

function continuedSource(call: ResourceCall, options: ListOptions): Source | Status {
  const token = parseListToken(options.continueText);
  if (token === undefined) return badRequest('invalid continue token: continue key is not valid');
  if (options.version !== undefined && options.version !== 0n) {
    return badRequest('specifying resource version is not allowed when using continue');
  }
  const { afterKey, version } = token;
  const items = collectionAt(call, version);
  if (items === undefined) {
    return expired(
      'The provided continue parameter is too old to display a consistent list result.',
    );
  }
  return { items, version, afterKey };
}

function pageOf({ options, selector, source }: PagePlan): ListPage {
  const { afterKey, version } = source;
  const start = afterKey === '' ? 0 : firstAfter(source.items, afterKey);
  // "Any version" is answered from the real server's cache, which pays no heed to a limit.
  const limit = options.version === 0n && options.continueText === '' ? 0 : options.limit;
  const items: ApiObject[] = [];
  let index = start;
  for (; index < source.items.length; index += 1) {
    // Whether what follows a full page matches is not looked at: the next page may be empty.
    if (limit > 0 && items.length === limit) break;
    const object = source.items[index];
    if (object !== undefined && selector.matches(object)) items.push(object);
  }
  const resourceVersion = String(version);
  const last = items.at(-1);
  if (index >= source.items.length || last === undefined) {
    return { items, metadata: { resourceVersion } };
  }
  return {
    items,
    metadata: {
      resourceVersion,
      continueToken: formatListToken({ version, afterKey: keyText(last.metadata) }),
      ...(selector.isEmpty ? { remainingItemCount: source.items.length - index } : {}),
    },
  };
}

/** Lists and tokens are in the order of the store's keys. */
function firstAfter(items: readonly ApiObject[], afterKey: string): number {
  const index = items.findIndex((item) => compareBytes(keyText(item.metadata), afterKey) > 0);
  return index === -1 ? items.length : index;
}

/** The call's collection at a version, in key order; undefined when the history does not reach back to it. */
function collectionAt(
  { services, resource, namespace }: ResourceCall,
  version: bigint,
): readonly ApiObject[] | undefined {
  const { store } = services;
  const { resourceName } = resource;
  const changes = store.changesAfter(resourceName, version);
  if (changes === undefined) return undefined;
  const newest = store.list(resourceName, namespace);
  if (changes.length === 0) return newest;
  const objects = new Map(newest.map((object) => [keyText(object.metadata), object]));
  for (const { object, previous } of changes.toReversed()) {
    if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
    const key = keyText(object.metadata);
    if (previous === undefined) objects.delete(key);
    else objects.set(key, previous);
  }
  return [...objects.values()].sort((left, right) => compareKeys(left.metadata, right.metadata));
}

/** What the opaque continue token of a limited list says: base64url JSON in the real server's own shape. */
interface ListToken {
  readonly version: bigint;
  /** Exclusive: `namespace/name`, or `name`. */
  readonly afterKey: string;
}

const FORMAT = 'meta.k8s.io/v1';

/** Writes a token. */
function formatListToken({ version, afterKey }: ListToken): string {
  const text = JSON.stringify({ v: FORMAT, rv: Number(version), start: `${afterKey}\0` });
  return Buffer.from(text, 'utf8').toString('base64url');
}

/** Reads a token; undefined when it is none of ours: a 400. */
function parseListToken(text: string): ListToken | undefined {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isJsonObject(content) || content.v !== FORMAT) return undefined;
  const { rv, start } = content;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv <= 0) return undefined;
  if (typeof start !== 'string' || !start.endsWith('\0')) return undefined;
  return { version: BigInt(rv), afterKey: start.slice(0, -1) };
}
