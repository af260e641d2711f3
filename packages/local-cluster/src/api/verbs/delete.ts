/**
 * DELETE of one object.
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
import { renderObject } from '../steps/render.ts';
import { refOf } from '../steps/resource-call.ts';
import type { ObjectCall, ResourceCall } from '../steps/resource-call.ts';
import { isStatus, notFound, success } from '../request/statuses.ts';

const RETURNS_OBJECT: ReadonlySet<ResourceName> = new Set([
  'pods',
  'namespaces',
  'serviceaccounts',
]);

/** Answers it: 200, or 202 where the old way of asking for dependents is used and the object stays. */
export function deleteOne(call: ObjectCall): ApiAnswer {
  const options = parseDeletionOptions(call.request, call.query);
  if (isStatus(options)) return answerStatus(options);
  const object = call.services.store.get(refOf(call));
  if (object === undefined) return answerStatus(notFound(call.resource, call.name));
  const deletion = deleteObject(call, object, options);
  if (isStatus(deletion)) return answerStatus(deletion);
  const isAccepted = !deletion.isGone && options.orphansDependents === false;
  return answerWith(bodyOf(call, deletion), { status: isAccepted ? 202 : 200 });
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
