// The errors that the queue server answers with, in the shape of the AWS JSON protocol.
//
// Assumes: the SDK takes the class of an error from `__type`, and older tools take the query-protocol code from
// the header `x-amzn-query-error`; both travel with each error. Every error here is the sender's fault (HTTP 400):
// a fault of ours is an ordinary Error and becomes HTTP 500 in the server. No retries are decided here.

/** An error that the protocol knows: its JSON type, its query-protocol code, and a message. */
export class SqsError extends Error {
  override readonly name = 'SqsError';
  readonly type: string;
  readonly queryCode: string;
  readonly httpStatus: number = 400;

  constructor(type: string, queryCode: string, message: string) {
    super(message);
    this.type = type;
    this.queryCode = queryCode;
  }
}

/** The caller has no right to, or is unknown. */
class SqsAccessError extends SqsError {
  override readonly httpStatus = 403;
}

const modelledPrefix = 'com.amazonaws.sqs#';
const legacyPrefix = 'AWS.SimpleQueueService.';

function modelled(type: string, queryCode: string): (message: string) => SqsError {
  return (message) => new SqsError(modelledPrefix + type, queryCode, message);
}

/** One constructor for each error; the name is the SDK's class name. */
export const sqsErrors = {
  queueDoesNotExist: modelled('QueueDoesNotExist', `${legacyPrefix}NonExistentQueue`),
  queueNameExists: modelled('QueueNameExists', 'QueueAlreadyExists'),
  invalidAttributeName: modelled('InvalidAttributeName', 'InvalidAttributeName'),
  invalidAttributeValue: modelled('InvalidAttributeValue', 'InvalidAttributeValue'),
  invalidMessageContents: modelled('InvalidMessageContents', 'InvalidMessageContents'),
  receiptHandleIsInvalid: modelled('ReceiptHandleIsInvalid', 'ReceiptHandleIsInvalid'),
  messageNotInflight: modelled('MessageNotInflight', `${legacyPrefix}MessageNotInflight`),
  emptyBatchRequest: modelled('EmptyBatchRequest', `${legacyPrefix}EmptyBatchRequest`),
  tooManyEntries: modelled(
    'TooManyEntriesInBatchRequest',
    `${legacyPrefix}TooManyEntriesInBatchRequest`,
  ),
  batchEntryIdsNotDistinct: modelled(
    'BatchEntryIdsNotDistinct',
    `${legacyPrefix}BatchEntryIdsNotDistinct`,
  ),
  invalidBatchEntryId: modelled('InvalidBatchEntryId', `${legacyPrefix}InvalidBatchEntryId`),
  batchRequestTooLong: modelled('BatchRequestTooLong', `${legacyPrefix}BatchRequestTooLong`),
  invalidParameterValue: (message: string): SqsError =>
    new SqsError(
      'com.amazon.coral.service#InvalidParameterValueException',
      'InvalidParameterValue',
      message,
    ),
  missingParameter: (message: string): SqsError =>
    new SqsError(
      'com.amazon.coral.service#MissingRequiredParameterException',
      'MissingParameter',
      message,
    ),
  unknownOperation: (message: string): SqsError =>
    new SqsError('com.amazon.coral.service#UnknownOperationException', 'InvalidAction', message),
  accessDenied: (message: string): SqsError =>
    new SqsAccessError('com.amazon.coral.service#AccessDeniedException', 'AccessDenied', message),
  unrecognizedClient: (message: string): SqsError =>
    new SqsAccessError(
      'com.amazon.coral.service#UnrecognizedClientException',
      'InvalidClientTokenId',
      message,
    ),
  serialization: (message: string): SqsError =>
    new SqsError('com.amazon.coral.service#SerializationException', 'MalformedInput', message),
};
