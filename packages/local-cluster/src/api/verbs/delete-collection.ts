/** DELETE of a collection: each object that the selectors choose, as if deleted alone. Answers with what was chosen. */
import type { ApiAnswer } from '../request/api-request.ts';
import { answerStatus, answerWith } from '../request/answers.ts';
import { parseDeletionOptions } from '../steps/delete-options.ts';
import { deleteObject } from '../steps/deletion.ts';
import { renderList } from '../steps/render.ts';
import type { ResourceCall } from '../steps/resource-call.ts';
import { isStatus } from '../request/statuses.ts';
import { readPage } from './list.ts';

/** Answers it: 200; the first refusal ends it. */
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
