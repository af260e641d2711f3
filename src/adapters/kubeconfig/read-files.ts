/**
 * Reads kubeconfig files and merges them as kubectl does: the first that says something is right.
 *
 * Not by client-node: it refuses two files that name the same thing, lets the last current-context win, and
 * its parser's messages quote the file, which holds credentials (S11). Nothing that a file names is opened here.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { parse as parseYaml } from 'yaml';
import { refuseKubeconfig } from './refusal.ts';
import type { KubeconfigRefusal } from './refusal.ts';
import { kubeconfigSchema } from './schema.ts';
import type { KubeconfigFile } from './schema.ts';

/** One file, or several as KUBECONFIG lists them. */
export type KubeconfigPath = string | readonly string[];

/** A cluster or user as it stands in a file: not yet judged. */
export interface RawEntry {
  readonly name: string;
  readonly content: unknown;
  /** Where the relative paths in it start. */
  readonly directory: string;
}

/** A context. */
export interface ContextEntry {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
}

/** What the files say together. */
export interface KubeconfigEntries {
  readonly kind: 'entries';
  readonly currentContext: string;
  readonly contexts: readonly ContextEntry[];
  readonly clusters: readonly RawEntry[];
  readonly users: readonly RawEntry[];
}

const FILE_BYTES_MAX = 1024 * 1024;
const ALIASES_MAX = 100;

/** Reads the files. Of several, those that are not there are passed over. */
export async function readKubeconfigFiles(
  where: KubeconfigPath,
): Promise<KubeconfigEntries | KubeconfigRefusal> {
  const files = typeof where === 'string' ? [where] : where;
  const found: KubeconfigEntries[] = [];
  let absent = refuseKubeconfig('unreadable', 'no kubeconfig is named');
  for (const file of files) {
    const { text, code } = await readText(file);
    if (text !== undefined) {
      const parsed = parseKubeconfig(file, text);
      if (parsed.kind === 'refused') return parsed;
      found.push(parsed);
      continue;
    }
    absent = refuseKubeconfig('unreadable', `cannot read ${file}: ${code}`);
    if (code !== 'ENOENT') return absent;
  }
  if (found.length === 0) return absent;
  return {
    kind: 'entries',
    currentContext: found.find((one) => one.currentContext !== '')?.currentContext ?? '',
    contexts: firstOfEachName(found.flatMap(({ contexts }) => contexts)),
    clusters: firstOfEachName(found.flatMap(({ clusters }) => clusters)),
    users: firstOfEachName(found.flatMap(({ users }) => users)),
  };
}

function firstOfEachName<T extends { readonly name: string }>(entries: readonly T[]): readonly T[] {
  const byName = new Map<string, T>();
  for (const entry of entries) if (!byName.has(entry.name)) byName.set(entry.name, entry);
  return [...byName.values()];
}

async function readText(file: string): Promise<{ readonly text?: string; readonly code: string }> {
  try {
    return { text: await readFile(file, 'utf8'), code: '' };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? 'unknown error' };
  }
}

function parseKubeconfig(file: string, text: string): KubeconfigEntries | KubeconfigRefusal {
  if (text.length > FILE_BYTES_MAX) {
    return refuseKubeconfig('malformed', `${file} is larger than any kubeconfig`);
  }
  let document: unknown;
  try {
    // Its warnings quote the file as well.
    document = parseYaml(text, { maxAliasCount: ALIASES_MAX, logLevel: 'error' });
  } catch {
    // The parser's message quotes the file, which holds credentials.
    return refuseKubeconfig('malformed', `${file} is not YAML`);
  }
  const parsed = v.safeParse(kubeconfigSchema, document, { abortEarly: true });
  if (parsed.success) return entriesOf(parsed.output, path.dirname(path.resolve(file)));
  const field = v.getDotPath(parsed.issues[0]) ?? 'the whole';
  return refuseKubeconfig('malformed', `${file} is not a kubeconfig: see ${field}`);
}

function entriesOf(file: KubeconfigFile, directory: string): KubeconfigEntries {
  return {
    kind: 'entries',
    currentContext: file['current-context'] ?? '',
    contexts: file.contexts.map(({ name, context }) => ({
      name,
      cluster: context.cluster,
      user: context.user ?? '',
    })),
    clusters: file.clusters.map(({ name, cluster }) => ({ name, content: cluster, directory })),
    users: file.users.map(({ name, user }) => ({ name, content: user, directory })),
  };
}
