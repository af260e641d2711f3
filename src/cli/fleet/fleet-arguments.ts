/**
 * Arguments and options that the commands of `rollcall fleet` share: a FleetDaemonSet by name or
 * file. A file that cannot be read or names none is refused before any table is opened, with every
 * problem.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { textOption, type OptionsOf } from '../command-line/command-module.ts';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { findFleet } from '../../app/fleet/find-fleet.ts';
import { refuseFleet } from '../../app/fleet/refusals.ts';
import type { FleetKey, FleetReading, FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import type { NamedFile } from '../../ports/fleet-reader.ts';
import { parseNamespacedName, readUserFile } from '../command-line/cluster-arguments.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import { EXIT, usageError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';

export const FLEET_ARGUMENT = ['<fleet>', 'namespace/name of the FleetDaemonSet'] as const;

export const FILE_OPTIONS = {
  filename: textOption('-f, --filename <file>', 'the file of a FleetDaemonSet, YAML or JSON'),
};

type FileOptions = OptionsOf<typeof FILE_OPTIONS>;

/** The FleetDaemonSet that is meant. Throws CommandError (2). */
export function parseFleetKey(text: string): FleetKey {
  return parseNamespacedName(text, 'FleetDaemonSet');
}

/** The content of a file. Throws CommandError (2). */
export function readFleetFile(file: string): Extract<FleetReading, { readonly kind: 'fleet' }> {
  const content = readUserFile(file, 'Pass the file of a FleetDaemonSet with -f.');
  const reading = createFleetReader().read(content, (name) => openBeside(file, name));
  if (reading.kind === 'fleet') return reading;
  throw errorOf(refuseFleet('invalid', undefined, reading.problems), EXIT.usage);
}

function openBeside(file: string, name: string): NamedFile {
  const place = path.resolve(path.dirname(file), name);
  try {
    return { kind: 'text', text: readFileSync(place, 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return {
      kind: 'unreadable',
      message: `cannot be read (${code}); it is looked for beside the file`,
    };
  }
}

export interface ChosenFleet {
  readonly fleet: FleetDaemonSet;
  /** Of the stored one; absent: it is of a file. */
  readonly generation?: number;
  readonly leftOut: readonly string[];
}

/** That of the file, or the stored one. Throws CommandError. */
export async function chooseFleet(
  args: readonly string[],
  { filename }: FileOptions,
  openStack: () => Promise<Stack>,
): Promise<ChosenFleet & { readonly stack: Stack }> {
  const [name] = args;
  if ((name === undefined) === (filename === undefined)) {
    throw usageError(
      'It is not clear which FleetDaemonSet is meant.',
      'Pass either a file with -f, or namespace/name of one that was applied.',
    );
  }
  if (name === undefined) {
    const { fleet, leftOut } = readFleetFile(filename ?? '');
    return { fleet, leftOut, stack: await openStack() };
  }
  const key = parseFleetKey(name);
  const stack = await openStack();
  const found = await findFleet(key, { fleets: stack.fleets, reader: createFleetReader() });
  if (found.kind === 'refused') throw errorOf(found);
  const { fleet, head } = found;
  return { fleet, generation: head.generation, leftOut: [], stack };
}
