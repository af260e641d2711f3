/**
 * What is done under `/{name}/{subresource}`: views (status, finalize) are the object through other rules; actions
 * (binding, eviction) are a POST whose outcome the resource decides and this file carries out.
 *
 * Views are served by read.ts, update.ts and patch.ts with their own rules; here are the actions.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';
import type { ActionOutcome, Subresource } from '../../resources/shared/resource.ts';
import type { ApiAnswer, Status } from '../request/api-request.ts';
import { answerStatus, answerWith } from '../request/answers.ts';
import { decodeBody } from '../steps/decode-body.ts';
import { deletionOptionsOf } from '../steps/delete-options.ts';
import { deleteObject, preconditionRefusal } from '../steps/deletion.ts';
import { namespaceRefusal } from '../steps/namespace-lifecycle.ts';
import { refOf, ruleContext } from '../steps/resource-call.ts';
import type { ObjectCall } from '../steps/resource-call.ts';
import { badRequest, isStatus, notFound, refusalStatus, success } from '../request/statuses.ts';
import { resourceSubject } from '../request/status-subject.ts';
import { parseWriteOptions } from '../request/write-options.ts';

/** A subresource that acts. */
export type Action = Extract<Subresource, { kind: 'action' }>;

/** Answers a POST to an action: 201. */
export function runAction(call: ObjectCall, action: Action): ApiAnswer {
  const options = parseWriteOptions(call.query, 'CreateOptions');
  if (isStatus(options)) return answerStatus(options);
  const decoded = decodeBody(call, action.bodyKind, options);
  if (isStatus(decoded)) return answerStatus(decoded);
  const { warnings } = decoded;
  const refuse = (status: Status): ApiAnswer => answerStatus(status, warnings);
  const unfit = namespaceRefusal(call, call.name) ?? bodyRefusal(call, action, decoded.object);
  if (unfit !== undefined) return refuse(unfit);
  const object = call.services.store.get(refOf(call));
  if (object === undefined) return refuse(notFound(call.resource, call.name));
  const outcome = action.run({
    object,
    body: decoded.object,
    context: ruleContext(call.services),
    query: call.query,
  });
  const done = carryOut(call, { object, outcome, isDryRun: options.isDryRun });
  return isStatus(done) && done.status === 'Failure'
    ? refuse(done)
    : answerWith(done, { status: 201, warnings });
}

function carryOut(
  call: ObjectCall,
  input: {
    readonly object: ApiObject;
    readonly outcome: ActionOutcome;
    readonly isDryRun: boolean;
  },
): JsonObject {
  const { object, outcome, isDryRun } = input;
  const { resource, name, services } = call;
  switch (outcome.kind) {
    case 'refused':
      return refusalStatus(outcome.refusal, resourceSubject(resource, name));
    case 'replace':
      if (!isDryRun) services.store.replace(resource.resourceName, outcome.object);
      return outcome.body;
    case 'delete':
      return condemn(call, { object, outcome, isDryRun });
  }
}

/** Preconditions first, then what the action wants to be seen on the object, then the deletion from there. */
function condemn(
  call: ObjectCall,
  input: {
    readonly object: ApiObject;
    readonly outcome: Extract<ActionOutcome, { kind: 'delete' }>;
    readonly isDryRun: boolean;
  },
): JsonObject {
  const { object, outcome } = input;
  const parsed = deletionOptionsOf(outcome.options);
  if (isStatus(parsed)) return parsed;
  const options = { ...parsed, isDryRun: input.isDryRun || parsed.isDryRun };
  const refusal = preconditionRefusal(call, object, options);
  if (refusal !== undefined) return refusal;
  const { resourceVersion: _checked, ...rest } = options;
  const last =
    outcome.object === undefined || options.isDryRun
      ? object
      : call.services.store.replace(call.resource.resourceName, outcome.object);
  const deletion = deleteObject(call, last, rest);
  return isStatus(deletion) ? deletion : success({ code: 201 });
}

/** 400 for a body that is about another object than the path: this comes before that object is looked for. */
function bodyRefusal(
  { namespace, name }: ObjectCall,
  action: Action,
  { metadata }: ApiObject,
): Status | undefined {
  const given = metadata as Partial<Metadata> | undefined; // a body need not have any
  const { namespace: givenNamespace = '', name: givenName } = given ?? {};
  if (givenNamespace !== '' && givenNamespace !== namespace) {
    return badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  if (givenName === name) return undefined;
  return badRequest(`name in URL does not match name in ${action.bodyKind.kind} object`);
}
