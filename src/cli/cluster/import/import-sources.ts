/**
 * Where the clusters of an import come from: contexts of a kubeconfig, all clusters of EKS, or a list.
 *
 * Gives requests, each checked as `cluster add` checks its own; one that cannot be used stays in the list
 * with the reason, so that it is shown beside the others. Nothing is asked of any cluster here.
 */
import { parse } from 'yaml';
import { defaultKubeconfig, listContexts } from '../../reach/open-kubeconfig.ts';
import { CommandError, usageError } from '../../process/exit-codes.ts';
import type { AddContext } from '../add/add-examine.ts';
import { readUserFile } from '../../command-line/cluster-arguments.ts';
import { parseAddRequest, type AddRequest, type Needs } from '../add/add-request.ts';
import { listEksClusters } from '../add/eks-cluster.ts';

export interface ImportEntry {
  /** As the source calls it. */
  readonly name: string;
  readonly id: string;
  /** A request, or why there is none. */
  readonly request: AddRequest | CommandError;
}

/** The sources of an import: a list, all of EKS, or (by default) the contexts of a kubeconfig. */
export interface ImportSource {
  readonly file?: string;
  readonly eksAll?: true;
  readonly kubeconfig?: string;
  /** Globs over the names of contexts, and of EKS clusters. */
  readonly contexts?: string;
  readonly eksFilter?: string;
  readonly idPrefix?: string;
  /** The manifests are to be applied. */
  readonly apply?: true;
}

type Fields = Readonly<Record<string, unknown>>;
type Draft = { readonly name: string; readonly fields: Fields };

/** Finds the clusters, whose requests have `common` fields. Throws CommandError when the source cannot be read. */
export async function findImportEntries(
  source: ImportSource,
  common: Fields,
  context: AddContext,
): Promise<readonly ImportEntry[]> {
  const drafts = await draftsOf(source, common, context);
  const ids = drafts.map(({ fields }) => (typeof fields['id'] === 'string' ? fields['id'] : ''));
  const collisions = collisionsOf(ids);
  const needs = { roles: true, image: source.apply === true };
  return drafts.map(({ name, fields }, place) => {
    const id = ids[place] ?? '';
    if (!collisions.has(id)) return { name, id, request: tryParse(fields, needs) };
    const others = drafts.filter((_, other) => other !== place && ids[other] === id);
    const names = others.map((other) => other.name);
    return { name, id, request: collision(id, names) };
  });
}

async function draftsOf(
  source: ImportSource,
  fields: Fields,
  context: AddContext,
): Promise<readonly Draft[]> {
  const { file, idPrefix = '' } = source;
  if (file !== undefined) {
    return readList(file).map((entry, place) => {
      const id = typeof entry['id'] === 'string' ? entry['id'] : '';
      const name = id === '' ? `entry ${String(place + 1)}` : id;
      return { name, fields: { ...fields, ...entry } };
    });
  }
  const pattern = globPattern(source.contexts ?? source.eksFilter ?? '*');
  const idFor = (name: string): string => `${idPrefix}${idForName(name)}`;
  if (source.eksAll === true) {
    const account = context.account(fields);
    const names = await listEksClusters(account.eks);
    return names
      .filter((name) => pattern.test(name))
      .map((name) => ({
        name,
        fields: { ...fields, id: idFor(name), eks: name, eksRegion: account.region },
      }));
  }
  const kubeconfig = source.kubeconfig ?? defaultKubeconfig(context.environment);
  const contexts = await listContexts(kubeconfig);
  // Several files have no name: each cluster is looked for where these were found.
  const place = typeof kubeconfig === 'string' ? { kubeconfig } : {};
  return contexts
    .filter((name) => pattern.test(name))
    .map((name) => ({
      name,
      fields: { ...fields, ...eksOfName(name), id: idFor(name), ...place, context: name },
    }));
}

function tryParse(fields: Fields, needs: Needs): AddRequest | CommandError {
  try {
    return parseAddRequest(fields, needs);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

function collision(id: string, others: readonly string[]): CommandError {
  return usageError(
    `its id would be ${id === '' ? 'empty' : id}, as that of ${others.join(', ')}`,
    'Name them yourself in a list: --file.',
  );
}

/** A JSON or YAML list of requests (docs/install.md), or an object with it as `clusters`. */
function readList(file: string): readonly Fields[] {
  const remedy = 'Pass a JSON or YAML list of clusters: docs/install.md has an example.';
  const text = readUserFile(file, remedy);
  let content: unknown;
  try {
    content = parse(text, { maxAliasCount: 0, logLevel: 'error' });
  } catch (cause) {
    throw usageError(`${file} is no YAML.`, remedy, cause);
  }
  const list = Array.isArray(content)
    ? (content as readonly unknown[])
    : (content as { readonly clusters?: unknown } | null)?.clusters;
  const isList =
    Array.isArray(list) &&
    list.every((entry) => typeof entry === 'object' && entry !== null && !Array.isArray(entry));
  if (isList) return list as readonly Fields[];
  throw usageError(`${file} is no list of clusters.`, remedy);
}

/*
 * Names. What tools write as a context (an ARN, a URL, user@cluster) is made short and valid. Two clusters never get one
 * id by that: a collision is shown, and both are left to the person.
 */

const ID_CHARACTERS_MAX = 100;
const EKS_ARN = /^arn:[a-z-]+:eks:([a-z0-9-]+):(\d{12}):cluster\/([A-Za-z0-9_-]+)$/;
/** `NAMESPACE/HOST:PORT/USER`, as OpenShift's tools write it. */
const OPENSHIFT = /^[^/]*\/([^/:]+):\d+\/[^/]*$/;

/** An id for a name; empty if nothing of it can be used. */
export function idForName(name: string): string {
  const short =
    EKS_ARN.exec(name)?.[3] ?? OPENSHIFT.exec(name)?.[1] ?? name.replace(/^https?:\/\//, '');
  return short
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, ID_CHARACTERS_MAX)
    .replace(/[-._]+$/, '');
}

/** The EKS cluster that a context's name stands for, as `aws eks update-kubeconfig` writes it. */
export function eksOfName(
  name: string,
): { readonly eks: string; readonly eksRegion: string } | undefined {
  const [, eksRegion, , eks] = EKS_ARN.exec(name) ?? [];
  return eks === undefined || eksRegion === undefined ? undefined : { eks, eksRegion };
}

export function collisionsOf(ids: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const id of ids) (seen.has(id) ? twice : seen).add(id);
  return twice;
}

/** A pattern of names with `*` and `?`, for the whole name. */
export function globPattern(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}
