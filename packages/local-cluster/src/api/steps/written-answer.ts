/** The answer to a write that was made: the object in the form asked for, and what there is to warn of. */
import type { ApiObject } from '../../objects/api-object.ts';
import { answerWith } from '../request/answers.ts';
import type { AnswerExtras } from '../request/answers.ts';
import type { ApiAnswer } from '../request/api-request.ts';
import { renderObject } from './render.ts';
import type { ResourceCall } from './resource-call.ts';
import type { UpdateRules } from './update-object.ts';

/** Answers with the object. */
export function answerWritten(
  call: ResourceCall,
  object: ApiObject,
  extras: AnswerExtras,
): ApiAnswer {
  return answerWith(renderObject(call, object), extras);
}

/** What the rules warn of in a created object, or in an updated one. */
export function warningsOf(
  { warnings }: Pick<UpdateRules, 'warnings'>,
  object: ApiObject,
  current?: ApiObject,
): readonly string[] {
  return warnings?.(object, current) ?? [];
}
