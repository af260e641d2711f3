/**
 * The shared part of commands that change a registration: how they show it, and their common refusals.
 *
 * Every write is a compare-and-set, so nothing here locks.
 */
import { parseRegistration } from '../../../adapters/dynamodb/registration-schema.ts';
import { compareRegistrations } from '../../../app/clusters/edit-registration.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { CommandResult } from '../../command-line/command-module.ts';
import { renderTextTable } from '../../command-line/text-table.ts';
import { failure, refusal, usageError, type CommandError } from '../../process/exit-codes.ts';
import type { Stack } from '../../reach/stack.ts';

interface ChangeWords {
  readonly document: { readonly kind: string };
  readonly verb: string;
  readonly nothing: string;
}

/** The change that was, or would be, made; without notes it was a dry run. */
export function presentChange(
  { document, verb, nothing }: ChangeWords,
  { before, after }: { readonly before: ClusterRegistration; readonly after: ClusterRegistration },
  notes?: readonly string[],
): CommandResult {
  const { id: cluster, configVersion } = after;
  const changes = compareRegistrations(before, after);
  const isDryRun = notes === undefined;
  const rows = changes.map((change) => [change.field, change.before || '-', change.after || '-']);
  const said = notes ?? [];
  const lines =
    changes.length === 0
      ? [`${cluster}: ${nothing}`, ...said]
      : [
          `${cluster} ${isDryRun ? `would be ${verb} (dry run)` : `was ${verb}`}:`,
          ...renderTextTable(['FIELD', 'BEFORE', 'AFTER'], rows),
          ...said,
        ];
  return {
    document: { ...document, cluster, isDryRun, changes, configVersion, notes: said },
    lines,
  };
}

/** Throws CommandError (2) for what the registry would not take. */
export function requireValid(registration: ClusterRegistration): ClusterRegistration {
  const parsed = parseRegistration(registration);
  if (parsed.kind === 'registration') return registration;
  throw usageError(
    `That would be no valid registration: ${parsed.fields.join(', ')}.`,
    'docs/reference/cli.md says what each field may hold.',
  );
}

/**
 * Writes a registration over the one that was read, by compare-and-set; as it stands then. Throws CommandError where another
 * operator was first, or the cluster is registered under another id.
 */
export async function writeChange(
  before: ClusterRegistration,
  after: ClusterRegistration,
  { registry }: Pick<Stack, 'registry'>,
): Promise<ClusterRegistration> {
  const { configVersion } = before;
  switch (await registry.writeCluster(requireValid(after), configVersion)) {
    case 'written':
      return { ...after, configVersion: configVersion + 1 };
    case 'lost':
      throw changedMeanwhile(before);
    case 'uid-taken':
      throw refusal(
        `The cluster ${after.clusterUid} is registered under another id already.`,
        'Remove that registration first: rollcall cluster list',
      );
  }
}

/** For every command that writes what it read a moment ago: another operator's write came before. */
export function changedMeanwhile({
  id,
  configVersion,
}: Pick<ClusterRegistration, 'id' | 'configVersion'>): CommandError {
  return failure(
    `${id} was changed by another operator meanwhile (it was at version ${String(configVersion)}). Nothing was written.`,
    `See what it is now (rollcall cluster show ${id}), then repeat the command.`,
  );
}
