/**
 * The document of `registry export`, and the check of one before anything of it is written.
 *
 * It holds what the registry holds, credentials of `bearer` and client certificates among it, and nothing more: keep
 * it like one. Each registration is held to the schema of the store; what is refused is named by cluster and
 * field, never by value (S11). One that does not fit refuses the whole document.
 */
import { parseRegistration } from '../../adapters/dynamodb/registry/registration-schema.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { usageError } from '../process/exit-codes.ts';
import type { CommandError } from '../process/exit-codes.ts';

/** `kind` of the document. */
const EXPORT_KIND = 'RegistryExport';
/** Raised when what is written cannot be read by the release before any more. */
const SCHEMA = 1;

/** The document. */
export interface RegistryDocument {
  readonly kind: typeof EXPORT_KIND;
  readonly schema: typeof SCHEMA;
  readonly stage: string;
  readonly table: string;
  readonly exportedAt: string;
  readonly clusters: readonly ClusterRegistration[];
}

/** Composes one. */
export function composeDocument(
  of: Pick<RegistryDocument, 'stage' | 'table' | 'exportedAt' | 'clusters'>,
): RegistryDocument {
  const { stage, table, exportedAt } = of;
  // A freeze is part of it, who froze and why is not: that was of the stack it came from. Nor is a rival: it is no part of a
  // registration, and the next look at the sentinel sees it again.
  const clusters = of.clusters.map(({ frozen: _note, rival: _rival, ...rest }) => rest);
  return { kind: EXPORT_KIND, schema: SCHEMA, stage, table, exportedAt, clusters };
}

const PROBLEMS_SHOWN = 10;

/** The registrations of a document. Throws CommandError when it is none, naming what does not fit. */
export function parseDocument(text: string): readonly ClusterRegistration[] {
  const document = readObject(text);
  if (document['kind'] !== EXPORT_KIND) throw refusal('field kind is not RegistryExport');
  if (document['schema'] !== SCHEMA) throw refusal(`field schema is not ${SCHEMA}`);
  const { clusters } = document;
  if (!Array.isArray(clusters)) throw refusal('field clusters is no list');
  const problems: string[] = [];
  const registrations: ClusterRegistration[] = [];
  const seen = new Set<string>();
  for (const [index, candidate] of clusters.entries()) {
    const parsed = parseRegistration(candidate);
    if (parsed.kind === 'refused') {
      problems.push(`clusters[${index}]: ${parsed.fields.join(', ')}`);
    } else if (seen.has(parsed.registration.id)) {
      problems.push(`clusters[${index}]: id, which came before`);
    } else {
      seen.add(parsed.registration.id);
      registrations.push(parsed.registration);
    }
  }
  if (problems.length === 0) return registrations;
  const more =
    problems.length > PROBLEMS_SHOWN ? `; and ${problems.length - PROBLEMS_SHOWN} more` : '';
  throw refusal(`${problems.slice(0, PROBLEMS_SHOWN).join('; ')}${more}`);
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without the parser's words: they quote what they cannot read (S11).
    throw refusal('it is no JSON document');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal('it is no JSON object');
  }
  return value as Readonly<Record<string, unknown>>;
}

function refusal(problem: string): CommandError {
  return usageError(
    `That is no registry: ${problem}. Nothing was written.`,
    'Pass a file that `rollcall registry export --file` wrote, unchanged.',
  );
}
