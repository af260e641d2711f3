// Which right a queue request needs, and the refusal when it is missing.
//
// A batch needs the right of its single action, as in SQS. The resource is the queue that is named, whether it exists
// or not: who may not ask is not told.
import type { Authorizer } from '../../iam/authorizer.ts';
import { sqsErrors } from '../queue/errors.ts';
import { readOptionalString, type Fields } from './request.ts';

/** What a request is authorised by. */
export interface QueueRequest {
  readonly accessKey: string;
  /** The operation, as X-Amz-Target names it. */
  readonly name: string;
  readonly fields: Fields;
  /** The ARN of a queue of this account. */
  readonly arnOf: (queueName: string) => string;
}

/** Throws the SqsError that a missing right is answered with. */
export function authorizeQueueRequest(authorizer: Authorizer, request: QueueRequest): void {
  const { accessKey, name, fields, arnOf } = request;
  const url = readOptionalString(fields, 'QueueUrl');
  const queueName = url?.slice(url.lastIndexOf('/') + 1) ?? readOptionalString(fields, 'QueueName');
  const decision = authorizer.decide(accessKey, {
    action: `sqs:${name.replace(/Batch$/, '')}`,
    resourceArn: arnOf(queueName ?? ''),
  });
  if (decision.kind === 'unknown-key') {
    throw sqsErrors.unrecognizedClient('The security token included in the request is invalid.');
  }
  if (decision.kind === 'denied') throw sqsErrors.accessDenied(decision.message);
}
