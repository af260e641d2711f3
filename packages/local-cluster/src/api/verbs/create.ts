/** POST to a collection. */
import type { ApiAnswer } from '../request/api-request.ts';
import { answerStatus } from '../request/answers.ts';
import { answerWritten, warningsOf } from '../steps/written-answer.ts';
import { createObject } from '../steps/create-object.ts';
import { decodeBody } from '../steps/decode-body.ts';
import type { ResourceCall } from '../steps/resource-call.ts';
import { isStatus } from '../request/statuses.ts';
import { parseWriteOptions } from '../request/write-options.ts';

/** Answers it: 201. */
export function createInCollection(call: ResourceCall): ApiAnswer {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  if (isStatus(options)) return answerStatus(options);
  const decoded = decodeBody(call, call.resource, options);
  if (isStatus(decoded)) return answerStatus(decoded);
  const warnings = [...decoded.warnings];
  const created = createObject(call, decoded.object, {
    ...options,
    onValid: (object) => warnings.push(...warningsOf(call.resource.rules, object)),
  });
  if (isStatus(created)) return answerStatus(created, warnings);
  return answerWritten(call, created, { status: 201, warnings });
}
