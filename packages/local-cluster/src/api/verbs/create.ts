/** POST to a collection. */
import type { ApiAnswer } from '../api-request.ts';
import { answerStatus } from '../answers.ts';
import { answerWritten, warningsOf } from '../written-answer.ts';
import { createObject } from '../create-object.ts';
import { decodeBody } from '../decode-body.ts';
import type { ResourceCall } from '../resource-call.ts';
import { isStatus } from '../statuses.ts';
import { parseWriteOptions } from '../write-options.ts';

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
