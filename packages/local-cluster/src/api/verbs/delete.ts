/**
 * DELETE of one object, or of those of a collection that the selectors choose.
 *
 * The answer is the object while it stays. When it is gone at once, some resources answer with its last state, the others
 * with a Success that names it: which, is the real server's choice for each.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ResourceName } from '../../objects/api-object.ts';
import type { ApiAnswer } from '../request/api-request.ts';
import { answerStatus, answerWith } from '../request/answers.ts';
import { parseDeletionOptions } from '../steps/delete-options.ts';
import { deleteObject } from '../steps/deletion.ts';
import type { Deletion } from '../steps/deletion.ts';
import { renderList, renderObject } from '../steps/render.ts';
import { refOf } from '../steps/resource-call.ts';
import type { ObjectCall, ResourceCall } from '../steps/resource-call.ts';
import { isStatus, notFound, success } from '../request/statuses.ts';
import { readPage } from './read.ts';

const RETURNS_OBJECT: ReadonlySet<ResourceName> = new Set([
  'pods',
  'namespaces',
  'serviceaccounts',
]);

/** Answers it: 200. */
export function deleteOne(call: ObjectCall): ApiAnswer {
  const options = parseDeletionOptions(call.request, call.query);
  if (isStatus(options)) return answerStatus(options);
  const object = call.services.store.get(refOf(call));
  if (object === undefined) return answerStatus(notFound(call.resource, call.name));
  const deletion = deleteObject(call, object, options);
  if (isStatus(deletion)) return answerStatus(deletion);
  return answerWith(bodyOf(call, deletion));
}

function bodyOf(call: ResourceCall, deletion: Deletion): JsonObject {
  const { resource } = call;
  const { object } = deletion;
  const isShown =
    (!deletion.isGone && !deletion.isPending) || RETURNS_OBJECT.has(resource.resourceName);
  if (isShown) return renderObject(call, object);
  return success({
    details: {
      name: object.metadata.name,
      ...(resource.group === '' ? {} : { group: resource.group }),
      kind: resource.plural,
      uid: object.metadata.uid,
    },
  });
}

/** Each object as if deleted alone; answers with what was chosen. The first refusal ends it. */
export function deleteCollection(call: ResourceCall): ApiAnswer {
  const page = readPage(call);
  if (isStatus(page)) return answerStatus(page);
  const options = parseDeletionOptions(call.request, call.query);
  if (isStatus(options)) return answerStatus(options);
  for (const object of page.items) {
    const deletion = deleteObject(call, object, options);
    if (isStatus(deletion)) return answerStatus(deletion);
  }
  return answerWith(renderList(call, page.items, page.metadata));
}
