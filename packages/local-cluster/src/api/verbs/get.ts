/** GET of one object; also of its `view` subresources, which show the same object. */
import type { ApiAnswer } from '../request/api-request.ts';
import { parseResourceVersion } from '../request/list-options.ts';
import { renderObject } from '../steps/render.ts';
import { refOf } from '../steps/resource-call.ts';
import type { ObjectCall } from '../steps/resource-call.ts';
import { answerWith, answerStatus } from '../request/answers.ts';
import { isStatus, notFound, tooLargeResourceVersion } from '../request/statuses.ts';

/** Answers it: 200, 404, or 504 for a resourceVersion from the future. */
export function getObject(call: ObjectCall): ApiAnswer {
  const { store } = call.services;
  const versionText = call.query.get('resourceVersion');
  if (versionText !== null) {
    // Events, alone, are not served from a cache: the version is read as a list's.
    const purpose = call.resource.resourceName === 'events' ? 'list' : 'get';
    const version = parseResourceVersion(versionText, purpose);
    if (typeof version === 'object' && isStatus(version)) return answerStatus(version);
    if (version !== undefined && version > store.version()) {
      return answerStatus(tooLargeResourceVersion(versionText, store.version()));
    }
  }
  const object = store.get(refOf(call));
  if (object === undefined) return answerStatus(notFound(call.resource, call.name));
  return answerWith(renderObject(call, object));
}
