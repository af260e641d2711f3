/**
 * The outputs of a deployed stack: from CloudFormation, or from a file that holds them.
 *
 * Every name of STACK_OUTPUT_NAMES must be there: a missing one means that the stack is of another release,
 * and is said before anything is done. A file may hold `{"Name": "value"}`, or what `aws cloudformation
 * describe-stacks` prints.
 */
import { readFile } from 'node:fs/promises';
import {
  CloudFormationServiceException,
  DescribeStacksCommand,
  type CloudFormationClient,
  type Stack as StackDescription,
} from '@aws-sdk/client-cloudformation';
import * as v from 'valibot';
import { failure, usageError, type CommandError } from '../process/exit-codes.ts';
import { STACK_OUTPUT_NAMES, type StackOutputName, type StackOutputs } from './stack.ts';

export interface StackToDescribe {
  readonly stackName: string;
  readonly stage: string;
  readonly region: string;
}

type OutputValues = Readonly<Record<string, string>>;

/** Reads the outputs from CloudFormation. Throws CommandError; AWS's errors pass through. */
export async function describeStack(
  client: Pick<CloudFormationClient, 'send'>,
  { stackName, stage, region }: StackToDescribe,
): Promise<StackOutputs> {
  const stack = await findStack(client, stackName);
  if (stack === undefined) {
    throw failure(
      `There is no stack ${stackName} in ${region}.`,
      `Check --stage (${stage}), --region and --profile, or deploy it first: npx osls deploy --stage ${stage}.`,
    );
  }
  const values = Object.fromEntries(
    (stack.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]),
  );
  const status = stack.StackStatus ?? 'unknown';
  return requireOutputs(values, `The stack ${stackName} in ${region} (${status})`);
}

/** The stack as CloudFormation knows it; undefined when there is none. */
export async function findStack(
  client: Pick<CloudFormationClient, 'send'>,
  stackName: string,
): Promise<StackDescription | undefined> {
  try {
    const answer = await client.send(new DescribeStacksCommand({ StackName: stackName }));
    return answer.Stacks?.[0];
  } catch (error) {
    // CloudFormation has no error of its own for this; the name is well-formed, so nothing else is invalid.
    const isMissing =
      error instanceof CloudFormationServiceException && error.name === 'ValidationError';
    if (isMissing) return undefined;
    throw error;
  }
}

const PairsSchema = v.array(v.object({ OutputKey: v.string(), OutputValue: v.string() }));
const DescribedSchema = v.object({ Stacks: v.tuple([v.object({ Outputs: PairsSchema })]) });
const FileSchema = v.union([
  v.pipe(
    DescribedSchema,
    v.transform(({ Stacks: [{ Outputs }] }) => fromPairs(Outputs)),
  ),
  v.pipe(PairsSchema, v.transform(fromPairs)),
  v.record(v.string(), v.string()),
]);

function fromPairs(pairs: v.InferOutput<typeof PairsSchema>): OutputValues {
  return Object.fromEntries(pairs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
}

/** Reads the outputs from a JSON file. Throws CommandError. */
export async function readStackOutputs(file: string): Promise<StackOutputs> {
  const refuse = (message: string, cause?: unknown): CommandError =>
    usageError(
      `${file} cannot be used as the outputs of a stack: ${message}.`,
      'Make it with: aws cloudformation describe-stacks --stack-name rollcall-STAGE --output json > FILE',
      cause,
    );
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw refuse(error instanceof SyntaxError ? 'it is no JSON' : 'it cannot be read', error);
  }
  const parsed = v.safeParse(FileSchema, content);
  if (!parsed.success)
    throw refuse('it is neither {"Name": "value"} nor what CloudFormation prints');
  return requireOutputs(parsed.output, file);
}

function requireOutputs(values: OutputValues, where: string): StackOutputs {
  const missing = STACK_OUTPUT_NAMES.filter((name) => (values[name] ?? '') === '');
  if (missing.length === 0) {
    const entries = STACK_OUTPUT_NAMES.map((name) => [name, values[name] ?? '']);
    return Object.fromEntries(entries) as Record<StackOutputName, string>;
  }
  const release = values['Release'] ?? 'an unknown release';
  throw failure(
    `${where} has no output ${missing.join(', ')}: it is of another release (${release}).`,
    'Use the rollcall command of that release, or deploy this one first.',
  );
}
