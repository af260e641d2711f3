/**
 * GET of a collection: selectors, pages, resourceVersion rules.
 *
 * A list is of the newest version, which satisfies "any" and "not older than", unless an exact one is asked for or a page
 * goes on: then it shows that version, as far as the history reaches. Pages show one moment: that of the first page.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { compareBytes, keyText } from '../../store/key-order.ts';
import type { ApiAnswer, Status } from '../request/api-request.ts';
import { answerStatus, answerWith } from '../request/answers.ts';
import { collectionAt } from './collection-at.ts';
import { parseListOptions } from '../request/list-options.ts';
import type { ListOptions } from '../request/list-options.ts';
import { formatListToken, parseListToken } from './list-token.ts';
import { renderList } from '../steps/render.ts';
import type { ListMetadata } from '../steps/render.ts';
import type { ResourceCall } from '../steps/resource-call.ts';
import { parseObjectSelector, syntaxRefusal } from '../selectors/object-selector.ts';
import type { ObjectSelector } from '../selectors/object-selector.ts';
import { badRequest, expired, isStatus, tooLargeResourceVersion } from '../request/statuses.ts';

/** One page of a collection. */
export interface ListPage {
  readonly items: readonly ApiObject[];
  readonly metadata: ListMetadata;
}

/** Answers it. */
export function listObjects(call: ResourceCall): ApiAnswer {
  const page = readPage(call);
  if (isStatus(page)) return answerStatus(page);
  return answerWith(renderList(call, page.items, page.metadata));
}

/** Reads the page that a query asks for; deletions of collections read the same way. */
export function readPage(call: ResourceCall): ListPage | Status {
  const malformed = syntaxRefusal(call.query);
  if (malformed !== undefined) return malformed;
  const options = parseListOptions(call.query, 'list');
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
  if (options.continueText !== '') return continuedSource(call, options, selector);
  const newest = store.version();
  if (options.version !== undefined && options.version > newest) {
    return tooLargeResourceVersion(String(options.version), newest);
  }
  const { version } = options;
  if (version !== undefined && version < newest && isExact(options)) {
    const items = collectionAt(call, version);
    if (items === undefined) {
      return expired('The resourceVersion for the provided list is too old.');
    }
    return { items, version, afterKey: '' };
  }
  return { items: candidates(call, selector), version: newest, afterKey: '' };
}

/** A limit without a word on how to match makes a version exact: what lists did before there was a word. */
function isExact({ match, version, limit }: ListOptions): boolean {
  return match === 'Exact' || (match === '' && limit > 0 && version !== 0n);
}

function continuedSource(
  call: ResourceCall,
  options: ListOptions,
  selector: ObjectSelector,
): Source | Status {
  const { store } = call.services;
  const token = parseListToken(options.continueText);
  if (token === undefined) return badRequest('invalid continue token: continue key is not valid');
  if (options.version !== undefined && options.version !== 0n) {
    return badRequest('specifying resource version is not allowed when using continue');
  }
  const { afterKey, version } = token;
  if (version < 0n) {
    return { items: candidates(call, selector), version: store.version(), afterKey };
  }
  const items = collectionAt(call, version);
  if (items === undefined) {
    return expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
        'without the continue parameter, or use the continue token in this response to retrieve the remainder of ' +
        'the results.',
      formatListToken({ version: -1n, afterKey }),
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
