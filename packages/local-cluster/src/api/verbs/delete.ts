/**
 * DELETE of one object.
 *
 * The answer is the object while it stays. When it is gone at once, some resources answer with its last state, the others
 * with a Success that names it: which, is the real server's choice for each.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ResourceName } from '../../objects/api-object.ts';
import type { ApiAnswer } from '../api-request.ts';
import { answerStatus, answerWith } from '../answers.ts';
import { parseDeletionOptions } from '../delete-options.ts';
import { deleteObject } from '../deletion.ts';
import type { Deletion } from '../deletion.ts';
import { renderObject } from '../render.ts';
import { refOf } from '../resource-call.ts';
import type { ObjectCall, ResourceCall } from '../resource-call.ts';
import { isStatus, notFound, success } from '../statuses.ts';

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
