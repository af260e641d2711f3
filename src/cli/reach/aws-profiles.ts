/**
 * Profiles of the AWS SDK by name, so that one which is not there is told as such: the SDK speaks of missing credentials.
 *
 * Reads the headings of its two files, nothing else of them.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { usageError } from '../process/exit-codes.ts';

type Environment = Readonly<NodeJS.ProcessEnv>;

/** Throws CommandError (2) unless there is such a profile. */
export function requireProfile(name: string, environment: Environment): void {
  const known = new Set([
    ...headingsOf(placeOf('AWS_CONFIG_FILE', 'config', environment), /^profile\s+/),
    ...headingsOf(placeOf('AWS_SHARED_CREDENTIALS_FILE', 'credentials', environment), /^/),
  ]);
  if (known.has(name)) return;
  throw usageError(
    `There is no AWS profile ${name}.`,
    known.size === 0
      ? 'There is none at all: `aws configure sso` makes one.'
      : `Pass one of: ${[...known].toSorted().join(', ')}.`,
  );
}

/** The profile by which the SDK would look for credentials; undefined: by none. */
export function profileInUse(
  given: string | undefined,
  environment: Environment,
): string | undefined {
  if (given !== undefined) return given;
  // Keys in the environment count first.
  return environment['AWS_ACCESS_KEY_ID'] ? undefined : environment['AWS_PROFILE'] || undefined;
}

function placeOf(variable: string, name: string, environment: Environment): string {
  const home = environment['HOME'] ?? homedir();
  return environment[variable] || path.join(home, '.aws', name);
}

/** Names of profiles in a file; `default` needs no word before it. */
function headingsOf(file: string, prefix: RegExp): readonly string[] {
  const headings = [...readIfThere(file).matchAll(/^\s*\[([^\]]+)\]/gm)].map(([, one = '']) =>
    one.trim(),
  );
  return headings
    .filter((heading) => heading === 'default' || prefix.test(heading))
    .map((heading) => heading.replace(prefix, '').replaceAll(/^["']|["']$/g, ''));
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // No file, no profiles: as the SDK has it.
    return '';
  }
}
