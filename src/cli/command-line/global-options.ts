/**
 * Options that every command has: which deployment, as whom, and in which form to answer.
 *
 * They may stand before or after a command's words. A stage is part of names in AWS, so its form is
 * checked here.
 */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { colourOption, type ColourWhen } from './colour.ts';

/** The options of every command. */
export interface GlobalOptions {
  readonly stage: string;
  /** Absent: as the environment or the profile says. */
  readonly region?: string;
  readonly profile?: string;
  /** A JSON file with the stack's outputs, instead of asking CloudFormation. */
  readonly stackOutputs?: string;
  readonly json?: true;
  /** Absent: `auto`. */
  readonly color?: ColourWhen;
}

const STAGE_PATTERN = /^[a-zA-Z][a-zA-Z0-9-]{0,39}$/;

/** Parses the name of a stage. Throws what commander reports as a usage error. */
function parseStage(text: string): string {
  if (STAGE_PATTERN.test(text)) return text;
  throw new InvalidArgumentError('Pass letters, digits and dashes, at most 40, e.g. prod.');
}

/** Declares the global options on the program. */
export function declareGlobalOptions(program: Command): void {
  program
    .addOption(
      new Option('--stage <stage>', 'which deployment: the stack rollcall-<stage>')
        .env('ROLLCALL_STAGE')
        .argParser(parseStage)
        .default('dev'),
    )
    .option('--region <region>', 'AWS region of the stack (default: as the AWS SDK finds it)')
    .option('--profile <name>', 'AWS profile to use (default: as the AWS SDK finds it)')
    .addOption(
      new Option(
        '--stack-outputs <file>',
        'read the outputs of the stack from this JSON file instead of from CloudFormation',
      ).env('ROLLCALL_STACK_OUTPUTS'),
    )
    .option('--json', 'print one JSON document on stdout, and nothing else there')
    .addOption(colourOption());
}
