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
import { KubeconfigRefused } from './refusal.ts';
import { kubeconfigSchema, type KubeconfigFile } from './schema.ts';

/** One file, or several as KUBECONFIG lists them. */
export type KubeconfigPath = string | readonly string[];

/** A cluster or user as it stands in a file: not yet judged. */
export interface RawEntry {
  readonly name: string;
  readonly content: unknown;
  /** Where the relative paths in it start. */
  readonly directory: string;
}

export interface ContextEntry {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
}

export interface KubeconfigEntries {
  readonly currentContext: string;
  readonly contexts: readonly ContextEntry[];
  readonly clusters: readonly RawEntry[];
  readonly users: readonly RawEntry[];
}

const FILE_BYTES_MAX = 1024 * 1024;
const ALIASES_MAX = 100;

/** Reads the files. Of several, those that are not there are passed over. Throws KubeconfigRefused. */
export async function readKubeconfigFiles(where: KubeconfigPath): Promise<KubeconfigEntries> {
  const files = typeof where === 'string' ? [where] : where;
  const found: KubeconfigEntries[] = [];
  let absent = new KubeconfigRefused('unreadable', 'no kubeconfig is named');
  for (const file of files) {
    try {
      found.push(parseKubeconfig(file, await readFile(file, 'utf8')));
    } catch (cause) {
      if (cause instanceof KubeconfigRefused) throw cause;
      const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
      absent = new KubeconfigRefused('unreadable', `cannot read ${file}: ${code}`, { cause });
      if (code !== 'ENOENT') throw absent;
    }
  }
  if (found.length === 0) throw absent;
  return {
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

function parseKubeconfig(file: string, text: string): KubeconfigEntries {
  if (text.length > FILE_BYTES_MAX) {
    throw new KubeconfigRefused('malformed', `${file} is larger than any kubeconfig`);
  }
  let document: unknown;
  try {
    // Its warnings quote the file as well.
    document = parseYaml(text, { maxAliasCount: ALIASES_MAX, logLevel: 'error' });
  } catch {
    // The parser's message quotes the file, which holds credentials.
    throw new KubeconfigRefused('malformed', `${file} is not YAML`);
  }
  const parsed = v.safeParse(kubeconfigSchema, document, { abortEarly: true });
  if (parsed.success) return entriesOf(parsed.output, path.dirname(path.resolve(file)));
  const field = v.getDotPath(parsed.issues[0]) ?? 'the whole';
  throw new KubeconfigRefused('malformed', `${file} is not a kubeconfig: see ${field}`);
}

function entriesOf(file: KubeconfigFile, directory: string): KubeconfigEntries {
  return {
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
