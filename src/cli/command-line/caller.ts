/**
 * Finds who gives an order, for records that people read: the name at the terminal, and whom AWS knows the command as.
 *
 * The environment gives the name, so a user may write any; the principal in brackets is AWS's answer. It names an assumed role
 * by `role/session`, a user by `user/name`: the ARN is this within the stack's account. AWS is asked once for each command
 * that writes an order or a note. Where AWS does not answer, the order is given all the same, with its author
 * named as unknown: a freeze in the worst hour waits for nothing else.
 */
import { userInfo } from 'node:os';
import { plainText } from './text-table.ts';
import type { CommandContext } from './command-module.ts';
import type { Stack } from '../reach/stack.ts';

const ANSWER_MS_MAX = 2000;
const NAME_CHARACTERS_MAX = 64;
/** An account, a role and a session; IAM's names have 64 characters each. */
const PRINCIPAL_CHARACTERS_MAX = 142;
/** No brackets: what stands in these is AWS's word. */
const NOT_OF_A_NAME = /[^\p{L}\p{N}@._+/:=-]+/gu;
const UNKNOWN = 'identity unknown';

/** `ann (Admin/ann@example.com)`. Never rejects for want of an answer. */
export async function callerOf(
  { environment, say }: Pick<CommandContext, 'environment' | 'say'>,
  stack: Pick<Stack, 'callerArn' | 'clock' | 'outputs'>,
): Promise<string> {
  const name = nameOf(environment);
  const answer = await askInTime(stack);
  if ('arn' in answer) return `${name} (${principalIn(answer.arn, stack)})`;
  say(
    `! AWS did not tell who you are (${answer.lost}): the order is given, and notes ${name} (${UNKNOWN}).`,
  );
  return `${name} (${UNKNOWN})`;
}

function askInTime({
  callerArn,
  clock,
}: Pick<Stack, 'callerArn' | 'clock'>): Promise<
  { readonly arn: string } | { readonly lost: string }
> {
  return new Promise((resolve) => {
    const cancel = clock.after(ANSWER_MS_MAX, () => {
      resolve({ lost: `no answer of STS in ${String(ANSWER_MS_MAX / 1000)} s` });
    });
    callerArn()
      .then(
        (arn) => {
          resolve({ arn });
        },
        (error: unknown) => {
          resolve({ lost: plainText(error instanceof Error ? error.message : String(error)) });
        },
      )
      .finally(cancel);
  });
}

/** The part that tells principals apart: of an ARN in the stack's account its last part, of another one the account, too. */
function principalIn(arn: string, { outputs }: Pick<Stack, 'outputs'>): string {
  const [, , , , account = '', ...rest] = arn.split(':');
  const resource = rest.join(':');
  // A user's name is one of its kind in the account, whatever its path.
  const short = resource.replace(/^assumed-role\//, '').replace(/^user\/.*\//, 'user/');
  // A stack inside `npm start` has no ARN to be told by.
  const isOwn = account === (outputs.EventsQueueArn.split(':')[4] ?? account);
  return plainText(isOwn ? short : `${account}:${short}`).slice(0, PRINCIPAL_CHARACTERS_MAX);
}

function nameOf(environment: CommandContext['environment']): string {
  const named = [environment['USER'], environment['LOGNAME']].find((name) => (name ?? '') !== '');
  const name = (named ?? systemUser() ?? '').replaceAll(NOT_OF_A_NAME, '-');
  return name === '' ? 'unknown' : name.slice(0, NAME_CHARACTERS_MAX);
}

/** Undefined: the user has no entry in the system's table, as in some containers. */
function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
