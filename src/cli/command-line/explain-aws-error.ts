/**
 * What AWS's own errors mean for the person at the terminal: told apart by name and code, never by text.
 *
 * Covers what an operator can put right (credentials, region, rights, network). The message of AWS is
 * repeated where it says who may not do what; it holds no secret. Anything else stays what it was.
 */
import { CommandError, EXIT, failure } from '../process/exit-codes.ts';

const NO_CREDENTIALS = new Set(['CredentialsProviderError', 'TokenProviderError']);
const EXPIRED = new Set(['ExpiredToken', 'ExpiredTokenException', 'RequestExpired']);
const UNKNOWN_CREDENTIALS = new Set([
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'IncompleteSignature',
  'AuthFailure',
  'MissingAuthenticationToken',
]);
const DENIED = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'UnauthorizedOperation',
  'NotAuthorized',
]);
const MISSING = new Set([
  'ResourceNotFoundException',
  'QueueDoesNotExist',
  'AWS.SimpleQueueService.NonExistentQueue',
]);
const THROTTLED = new Set([
  'Throttling',
  'ThrottlingException',
  'RequestLimitExceeded',
  'ProvisionedThroughputExceededException',
  'TooManyRequestsException',
]);
const NETWORK = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'TimeoutError',
]);

interface Explanation {
  readonly names: ReadonlySet<string>;
  readonly say: (message: string) => { readonly message: string; readonly remedy: string };
}

const EXPLANATIONS: readonly Explanation[] = [
  {
    names: NO_CREDENTIALS,
    say: () => ({
      message: 'No AWS credentials were found.',
      remedy:
        'Pass --profile NAME, or sign in (aws sso login), or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    }),
  },
  {
    names: EXPIRED,
    say: () => ({
      message: 'The AWS credentials have expired.',
      remedy: 'Sign in again (aws sso login), then repeat the command.',
    }),
  },
  {
    names: UNKNOWN_CREDENTIALS,
    say: (message) => ({
      message: `AWS does not accept these credentials: ${message}`,
      remedy:
        'Check --profile and the AWS_ variables: `aws sts get-caller-identity` shows who you are.',
    }),
  },
  {
    names: DENIED,
    say: (message) => ({
      message: `AWS denies this: ${message}`,
      remedy: 'Use a profile that may do it; docs/cli.md lists the rights that each command needs.',
    }),
  },
  {
    names: MISSING,
    say: (message) => ({
      message: `A table or queue that the stack names does not exist here: ${message}`,
      remedy: 'Check --region and --profile; with --stack-outputs, that the file is of this stack.',
    }),
  },
  {
    names: THROTTLED,
    say: () => ({
      message: 'AWS asks to slow down.',
      remedy: 'Wait a moment and repeat the command; it goes on from where it was.',
    }),
  },
  {
    names: NETWORK,
    say: (message) => ({
      message: `AWS cannot be reached: ${message}`,
      remedy: 'Check the network, --region, and AWS_ENDPOINT_URL if it is set.',
    }),
  },
];

/** The error in sentences, if it is one of AWS's; undefined otherwise. */
export function explainAwsError(error: unknown): CommandError | undefined {
  for (const candidate of chainOf(error)) {
    const names = namesOf(candidate);
    const explanation = EXPLANATIONS.find((one) => names.some((name) => one.names.has(name)));
    if (explanation === undefined) continue;
    const said = explanation.say(textOf(candidate));
    return new CommandError({ ...said, exitCode: EXIT.failed, cause: error });
  }
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  return failure(
    `AWS answered with ${error.name}: ${error.message}`,
    'Repeat the command; if it stays so, look at the service’s status and quotas.',
    error,
  );
}

/** The error and what it came from; an AggregateError of addresses counts by its members. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  let current: unknown = error;
  while (current instanceof Error && chain.length < 8) {
    chain.push(current);
    current = current instanceof AggregateError ? current.errors[0] : current.cause;
  }
  return chain;
}

function namesOf(error: Error): readonly string[] {
  const code = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  return [error.name, ...code];
}

function textOf(error: Error): string {
  return error.message === '' ? error.name : error.message;
}
