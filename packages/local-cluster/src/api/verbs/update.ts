/**
 * PUT of an object, or of one of its `view` subresources.
 *
 * Order: options → body → namespace and name against the path → UID as a precondition → defaults → update-object.ts. What
 * does not exist is created where the resource allows it.
 */
import type { ApiAnswer } from '../request/api-request.ts';
import { answerStatus } from '../request/answers.ts';
import { answerWritten, warningsOf } from '../steps/written-answer.ts';
import { createObject } from '../steps/create-object.ts';
import { decodeBody, inRequestNamespace, nameRefusal } from '../steps/decode-body.ts';
import { namespaceRefusal } from '../steps/namespace-lifecycle.ts';
import { storedObject } from '../steps/resource-call.ts';
import type { ObjectCall } from '../steps/resource-call.ts';
import { conflict, isStatus, notFound } from '../request/statuses.ts';
import { resourceSubject } from '../request/status-subject.ts';
import { updateObject } from '../steps/update-object.ts';
import type { UpdateRules } from '../steps/update-object.ts';
import { parseWriteOptions } from '../request/write-options.ts';
import type { WriteOptions } from '../request/write-options.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { Status } from '../request/api-request.ts';

/** A PUT: of the object itself (`mayCreate` where the resource allows it), or through a subresource's rules. */
export interface Put {
  readonly rules: UpdateRules;
  readonly mayCreate: boolean;
  /** Asked before a PUT creates: the user must be allowed to. */
  readonly createRefusal: () => Status | undefined;
}

/** Answers it: 200, or 201 when it created. */
export function putObject(call: ObjectCall, put: Put): ApiAnswer {
  const options = parseWriteOptions(call.query, 'UpdateOptions');
  if (isStatus(options)) return answerStatus(options);
  const decoded = decodeBody(call, call.resource, options);
  if (isStatus(decoded)) return answerStatus(decoded);
  const { warnings } = decoded;
  const refuse = (status: Status): ApiAnswer => answerStatus(status, warnings);
  const placed = inRequestNamespace(call, decoded.object);
  if (isStatus(placed)) return refuse(placed);
  const misnamed = nameRefusal(placed, call.name);
  if (misnamed !== undefined) return refuse(misnamed);

  const current = storedObject(call);
  if (current === undefined) {
    const created = createByPut(call, placed, { put, options });
    if (isStatus(created)) return refuse(created);
    return answerWritten(call, created, {
      status: 201,
      warnings: [...warnings, ...warningsOf(put.rules, created)],
    });
  }
  const uidRefusal = uidPrecondition(call, placed, current.metadata.uid);
  if (uidRefusal !== undefined) return refuse(uidRefusal);
  const next = call.resource.rules.applyDefaults(placed);
  const { isDryRun } = options;
  const stored = updateObject(call, { current, next, rules: put.rules, isDryRun });
  if (isStatus(stored)) return refuse(stored);
  return answerWritten(call, stored, {
    warnings: [...warnings, ...warningsOf(put.rules, stored, current)],
  });
}

function createByPut(
  call: ObjectCall,
  object: ApiObject,
  { put, options }: { readonly put: Put; readonly options: WriteOptions },
): ApiObject | Status {
  if (!put.mayCreate) return notFound(call.resource, call.name);
  const refusal =
    uidPrecondition(call, object, '') ?? put.createRefusal() ?? namespaceRefusal(call, call.name);
  if (refusal !== undefined) return refusal;
  // A PUT that creates pays no heed to a version.
  const { resourceVersion: _, ...metadata } = object.metadata;
  return createObject(call, { ...object, metadata } as ApiObject, options); // a new one is given its version
}

/** A UID in the object of a PUT is a precondition, unlike in a patch, where it is an attempt to change it. */
function uidPrecondition(
  call: ObjectCall,
  object: ApiObject,
  currentUid: string,
): Status | undefined {
  const given: string | undefined = object.metadata.uid;
  if (given === undefined || given === '' || given === currentUid) return undefined;
  return conflict(
    resourceSubject(call.resource, call.name),
    `StorageError: invalid object, Code: 4, AdditionalErrorMsg: Precondition failed: UID in precondition: ${given}, UID in object meta: ${currentUid}`,
  );
}
