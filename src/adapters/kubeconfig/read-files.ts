/**
 * Reads kubeconfig files, merges them as kubectl does (the first that says something is right), and says what of them is
 * understood. Not by client-node: it refuses two files that name the same thing, lets the last current-context win, and
 * its parser's messages quote the file, which holds credentials (S11). Nothing that a file names is opened here.
 */
import path from 'node:path';
import * as v from 'valibot';
import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';

type KubeconfigRefusalCode =
  /** The file cannot be read. */
  | 'unreadable'
  /** The file is no kubeconfig. */
  | 'malformed'
  /** It has no such context; the message names those that it has. */
  | 'context-missing'
  /** It lacks the cluster that the context names. */
  | 'cluster-missing'
  /** It lacks the user that the context names. */
  | 'user-missing'
  /** The server is no https address. */
  | 'server-invalid'
  /** It uses a field that Rollcall does not support; the message names it. */
  | 'unsupported'
  /** A file that it names cannot be read. */
  | 'file-unreadable'
  /** The token of its OIDC provider has ended. */
  | 'token-ended'
  /** It needs a plugin that may not run here. */
  | 'plugin-not-allowed'
  /** Its plugin failed. */
  | 'plugin-failed';

/** Thrown while a kubeconfig is read: its message says what is wrong. */
export class KubeconfigRefused extends Error {
  override readonly name = 'KubeconfigRefused';
  readonly code: KubeconfigRefusalCode;
  /** For `context-missing`: the contexts that there are. */
  readonly available?: readonly string[];

  constructor(
    code: KubeconfigRefusalCode,
    message: string,
    more: { readonly available?: readonly string[]; readonly cause?: unknown } = {},
  ) {
    const { available, ...options } = more;
    super(message, options);
    this.code = code;
    if (available !== undefined) this.available = available;
  }
}

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

const text = v.string();
const optionalText = v.optional(text);
/** client-node decodes whatever it is given. */
const optionalBase64 = v.optional(v.pipe(text, v.regex(/^[A-Za-z0-9+/=\s]*$/, 'is not base64')));
const PROXY_PATTERN = /^(https?|socks[45]?|socks4a|socks5h):\/\/./;
const proxyUrl = v.pipe(text, v.regex(PROXY_PATTERN), v.url());

/** The file: names first; each cluster and user is judged when it is used. */
const kubeconfigSchema = v.looseObject({
  'current-context': optionalText,
  contexts: v.optional(
    v.array(
      v.looseObject({ name: text, context: v.looseObject({ cluster: text, user: optionalText }) }),
    ),
    [],
  ),
  clusters: v.optional(v.array(v.looseObject({ name: text, cluster: v.unknown() })), []),
  users: v.optional(v.array(v.looseObject({ name: text, user: v.unknown() })), []),
});

type KubeconfigFile = v.InferOutput<typeof kubeconfigSchema>;

/**
 * A cluster entry for a client that connects straight to the server. Closed, as users are: client-node passes over
 * a field that it does not know, and one that would change where or as whom we connect must not be passed over.
 */
export const clusterSchema = v.strictObject({
  server: text,
  'certificate-authority': optionalText,
  'certificate-authority-data': optionalBase64,
  'insecure-skip-tls-verify': v.optional(v.boolean()),
  'disable-compression': v.optional(v.boolean()),
  extensions: v.optional(v.unknown()),
});

/** A cluster entry for a client that connects by client-node's agent. */
export const clusterWithDetourSchema = v.strictObject({
  ...clusterSchema.entries,
  'proxy-url': v.optional(proxyUrl),
  'tls-server-name': optionalText,
});

export type KubeconfigCluster = v.InferOutput<typeof clusterWithDetourSchema>;

/** A user entry. Not supported: basic authentication, other auth-providers, impersonation. */
export const userSchema = v.strictObject({
  token: optionalText,
  tokenFile: optionalText,
  'client-certificate': optionalText,
  'client-certificate-data': optionalBase64,
  'client-key': optionalText,
  'client-key-data': optionalBase64,
  'auth-provider': v.optional(
    v.strictObject({
      // Those of Azure and Google run programs, and kubectl has dropped them.
      name: v.literal('oidc'),
      config: v.optional(v.nullable(v.looseObject({ 'id-token': optionalText })), {}),
    }),
  ),
  exec: v.optional(
    v.looseObject({
      apiVersion: text,
      command: text,
      args: v.optional(v.nullable(v.array(text))),
      env: v.optional(v.nullable(v.array(v.object({ name: text, value: text })))),
      interactiveMode: optionalText,
      provideClusterInfo: v.optional(v.boolean()),
    }),
  ),
  extensions: v.optional(v.unknown()),
});

export type KubeconfigUser = v.InferOutput<typeof userSchema>;

/** The output of a credential plugin (client.authentication.k8s.io). */
export const execCredentialSchema = v.looseObject({
  kind: v.literal('ExecCredential'),
  status: v.looseObject({
    token: optionalText,
    clientCertificateData: optionalText,
    clientKeyData: optionalText,
    expirationTimestamp: optionalText,
  }),
});
