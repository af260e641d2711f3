/**
 * `rollcall registry import`: registrations of an export, written to the stack's registry, each of them frozen.
 *
 * The whole file is checked before anything is written. What stands is compared: the same is left, what differs is
 * named and kept unless `--replace`. Frozen, because the copy may be older than a freeze or a handing back; a
 * person looks at each cluster and lifts it. Every write is a compare-and-set; the command may be repeated.
 */
import { transferRegistrations } from '../../app/clusters/registry-transfer.ts';
import type { Transferred } from '../../app/clusters/registry-transfer.ts';
import { readUserFile } from '../command-line/cluster-arguments.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { throwIfInterrupted } from '../command-line/run-program.ts';
import { renderTextTable } from '../command-line/text-table.ts';
import { EXIT } from '../process/exit-codes.ts';
import { parseDocument } from './registry-document.ts';

interface ImportOptions {
  readonly dryRun?: true;
  readonly replace?: true;
  readonly asRecorded?: true;
}

const FAILED: readonly Transferred['result'][] = ['lost', 'uid-taken'];

/** The command. */
export const importRegistryCommand: CommandModule = defineCommand<ImportOptions>({
  path: ['registry', 'import'],
  summary: 'register the clusters of an export, frozen; what stands is compared and kept',
  interruption: 'orderly',
  configure: (command) => {
    command
      .argument('<file>', 'what registry export wrote')
      .option('--dry-run', 'check and compare, write nothing')
      .option('--replace', 'write registrations that stand and differ, too')
      .option('--as-recorded', 'keep the freeze as recorded, instead of freezing all');
  },
  run: async ({ args, options }, context) => {
    const remedy = 'Pass a file that `rollcall registry export --file` wrote.';
    const recorded = parseDocument(readUserFile(args[0] ?? '', remedy));
    const { registry } = await context.openStack();
    const isDryRun = options.dryRun === true;
    const clusters = await transferRegistrations(recorded, {
      registry,
      choice: {
        freeze: options.asRecorded === true ? 'as-recorded' : 'all',
        standing: options.replace === true ? 'replace' : 'keep',
      },
      run: isDryRun ? 'dry-run' : 'write',
      signal: context.signal,
    });
    throwIfInterrupted(context.signal);
    const failed = clusters.some(({ result }) => FAILED.includes(result));
    return {
      document: { kind: 'RegistryImport', isDryRun, clusters },
      lines: [...linesOf(clusters), ...afterwards(options)],
      exitCode: failed ? EXIT.failed : EXIT.ok,
    };
  },
});

const WORDS: Readonly<Record<Transferred['result'], string>> = {
  written: 'written',
  planned: 'would be written',
  same: 'stands already',
  differs: 'stands otherwise; kept (--replace)',
  lost: 'was changed meanwhile: repeat',
  'uid-taken': 'its cluster is registered under another id',
};

function linesOf(clusters: readonly Transferred[]): readonly string[] {
  if (clusters.length === 0) return ['There is no registration in it.'];
  const rows = clusters.map(({ id, result, fields }) => [id, WORDS[result], fields.join(', ')]);
  return renderTextTable(['ID', 'RESULT', 'DIFFERENT FIELDS'], rows);
}

function afterwards({ dryRun, asRecorded }: ImportOptions): readonly string[] {
  if (dryRun === true) return ['', 'Dry run: nothing was written.'];
  if (asRecorded === true) return [];
  return ['', 'What was written is frozen. Look at each cluster, then: rollcall thaw --cluster ID'];
}
