/**
 * From whatever was thrown to what is said about it, and to the exit code.
 *
 * A CommandError speaks for itself, as does a refusal of the local engine; AWS's errors are put into sentences; the rest is a bug, whose stack
 * is shown with the request to report it.
 */
import { EngineRefusal, type EngineRefusalCode } from '../../engine/engine-refusal.ts';
import { CommandError, EXIT, failure, type Problem } from '../process/exit-codes.ts';

export interface Explained {
  readonly exitCode: number;
  readonly lines: readonly string[];
  /** For stdout with `--json`, after `apiVersion`. */
  readonly document: {
    readonly kind: 'CommandError';
    readonly message: string;
    readonly remedy: string;
    readonly exitCode: number;
    /** Where there are several, each by itself. */
    readonly problems?: readonly Problem[];
  };
}

const REFUSALS_FOR_SAFETY: ReadonlySet<EngineRefusalCode> = new Set<EngineRefusalCode>([
  'built-in-controller-runs',
  'other-cluster',
  'still-managed',
  'lease-held',
]);

const REPORT = 'Please report it, with the lines above.';

/** The error as one that speaks for itself; undefined when it is a bug. */
export function knownError(error: unknown, group?: string): CommandError | undefined {
  if (error instanceof CommandError) return error;
  if (!(error instanceof EngineRefusal)) return explainAwsError(error, group);
  const { message, remedy, code } = error;
  const exitCode = REFUSALS_FOR_SAFETY.has(code) ? EXIT.refused : EXIT.failed;
  return new CommandError({ message, remedy, exitCode, cause: error });
}

/** Explains what a command threw; `group` is its first word. */
export function explainError(error: unknown, group?: string): Explained {
  const known = knownError(error, group);
  if (known !== undefined) {
    const { message, remedy, exitCode, problems } = known;
    const document = { kind: 'CommandError', message, remedy, exitCode } as const;
    if (problems.length > 0) {
      return { exitCode, lines: linesOf(problems), document: { ...document, problems } };
    }
    return { exitCode, lines: [`error: ${message}`, ...(remedy === '' ? [] : [remedy])], document };
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = error instanceof Error ? error.message : String(error);
  return {
    exitCode: EXIT.failed,
    lines: ['error: this is a bug in rollcall, please report it', text],
    document: { kind: 'CommandError', message, remedy: REPORT, exitCode: EXIT.failed },
  };
}

function linesOf(problems: readonly Problem[]): readonly string[] {
  return [
    `error: ${String(problems.length)} things are missing or cannot be used:`,
    ...problems.flatMap(({ message, remedy }) => [`  ${message}`, `    → ${remedy}`]),
  ];
}

interface Explanation {
  readonly names: readonly string[];
  /** A sentence; where it ends with a colon, AWS's own words follow. */
  readonly message: string;
  readonly remedy: string;
}

const DENIED = 'AWS denies this:';

const EXPLANATIONS: readonly Explanation[] = [
  {
    names: ['CredentialsProviderError', 'TokenProviderError'],
    message: 'No AWS credentials were found.',
    remedy:
      'Pass --profile NAME, or sign in (aws sso login), or set AWS_PROFILE or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
  },
  {
    names: ['ExpiredToken', 'ExpiredTokenException', 'RequestExpired'],
    message: 'The AWS credentials have expired.',
    remedy: 'Sign in again (aws sso login), then repeat the command.',
  },
  {
    names: [
      'UnrecognizedClientException',
      'InvalidClientTokenId',
      'InvalidSignatureException',
      'SignatureDoesNotMatch',
      'IncompleteSignature',
      'AuthFailure',
      'MissingAuthenticationToken',
    ],
    message: 'AWS does not accept these credentials:',
    remedy:
      'Check --profile and the AWS_ variables: `aws sts get-caller-identity` shows who you are.',
  },
  {
    names: ['AccessDenied', 'AccessDeniedException', 'UnauthorizedOperation', 'NotAuthorized'],
    message: DENIED,
    remedy: 'Use a profile that may do it; docs/operations.md lists the rights of operators.',
  },
  {
    names: [
      'ResourceNotFoundException',
      'QueueDoesNotExist',
      'AWS.SimpleQueueService.NonExistentQueue',
    ],
    message: 'A table or queue that the stack names does not exist here:',
    remedy: 'Check --region and --profile; with --stack-outputs, that the file is of this stack.',
  },
  {
    names: [
      'Throttling',
      'ThrottlingException',
      'RequestLimitExceeded',
      'ProvisionedThroughputExceededException',
      'TooManyRequestsException',
    ],
    message: 'AWS asks to slow down.',
    remedy: 'Wait a moment and repeat the command; it goes on from where it was.',
  },
  {
    names: [
      'ENOTFOUND',
      'EAI_AGAIN',
      'ECONNREFUSED',
      'ECONNRESET',
      'EHOSTUNREACH',
      'ENETUNREACH',
      'ETIMEDOUT',
      'TimeoutError',
    ],
    message: 'AWS cannot be reached:',
    remedy: 'Check the network, --region, and AWS_ENDPOINT_URL if it is set.',
  },
];

/** Which policy of infra/operators.yml has the rights of a group of commands, by its first word. */
const POLICIES: Readonly<Record<string, string>> = {
  freeze: 'on-call, or with --cluster by clusters',
  thaw: 'on-call, or with --cluster by clusters',
  stack: 'on-call',
  rollout: 'rollouts',
  fleet: 'releases',
  cluster: 'clusters',
};

/** That policy; undefined for commands that only read, which each of the four policies allows. */
export function policyOf(group: string): string | undefined {
  return POLICIES[group];
}

/** The error in sentences, if it is one of AWS's; undefined otherwise. `group`: the first word of the command. */
export function explainAwsError(error: unknown, group = ''): CommandError | undefined {
  for (const candidate of chainOf(error)) {
    const names = namesOf(candidate);
    const explanation = EXPLANATIONS.find((one) => one.names.some((name) => names.includes(name)));
    if (explanation === undefined) continue;
    const { message } = explanation;
    const policy = message === DENIED ? POLICIES[group] : undefined;
    const remedy =
      policy === undefined
        ? explanation.remedy
        : `\`rollcall ${group}\` is allowed by the policy ${policy} of infra/operators.yml: use a profile that has it.`;
    return failure(
      message.endsWith(':') ? `${message} ${textOf(candidate)}` : message,
      remedy,
      error,
    );
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
