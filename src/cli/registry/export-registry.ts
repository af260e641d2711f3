/**
 * `rollcall registry export`: every registration of the stack, or of a table restored beside it, into a file.
 *
 * For the day on which the region is lost, or the table has to be put together from a backup (docs/operations.md).
 * Reads only. The file is its owner's alone: a registration may hold a credential.
 */
import { counted } from '@rollcall/base/counted.ts';
import { writeFileSync } from 'node:fs';
import { readRegistry } from '../../app/clusters/registry-transfer.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { EXIT, usageError } from '../process/exit-codes.ts';
import { composeDocument } from './registry-document.ts';

interface ExportOptions {
  readonly file: string;
  readonly table?: string;
}

/** Credentials that are in a registration itself. */
const WITH_SECRET = ['bearer', 'client-certificate'];
const OWNER_ONLY = 0o600;

/** Writes a file that was not there: an old one would keep its readers. Throws CommandError. */
function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: OWNER_ONLY, flag: 'wx' });
  } catch (cause) {
    throw usageError(
      `${file} cannot be written, or exists already.`,
      'Pass --file with the path of a file that is not there yet.',
      cause,
    );
  }
}

/** The command. */
export const exportRegistryCommand: CommandModule = defineCommand<ExportOptions>({
  path: ['registry', 'export'],
  summary: 'write every registration into a file, as a copy outside of the region',
  configure: (command) => {
    command
      .requiredOption('--file <path>', 'where to write it; only you can read it')
      .option('--table <name>', 'read this table instead, e.g. one restored to a point in time');
  },
  run: async ({ options }, context) => {
    const stack = await context.openStack();
    const table = options.table ?? stack.outputs.RegistryTableName;
    const { registrations, unreadable } = await readRegistry(stack.openRegistry(table));
    const exportedAt = new Date(context.clock.nowMs()).toISOString();
    const document = composeDocument({
      stage: stack.stage,
      table,
      exportedAt,
      clusters: registrations,
    });
    writeNew(options.file, `${JSON.stringify(document, null, 2)}\n`);
    const secrets = registrations.filter(({ authentication }) =>
      WITH_SECRET.includes(authentication.kind),
    ).length;
    return {
      document: {
        kind: 'RegistryExported',
        file: options.file,
        table,
        clusters: registrations.length,
        unreadable,
        withCredential: secrets,
      },
      lines: [
        `${counted(registrations.length, `registration of ${table} is`, `registrations of ${table} are`)} in ${options.file}.`,
        ...(secrets === 0
          ? []
          : [`${counted(secrets, 'holds', 'hold')} a credential: keep the file like one.`]),
        ...unreadable.map(({ id, reason }) => `${id} is left out: ${reason}`),
      ],
      exitCode: unreadable.length === 0 ? EXIT.ok : EXIT.failed,
    };
  },
});
