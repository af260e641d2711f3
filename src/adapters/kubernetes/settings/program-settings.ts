/**
 * How the programs of the watcher's image are told what to do: flags, variables, the pod's service account.
 *
 * A flag wins over its variable. A value in angle brackets is an unfilled placeholder of a manifest, and is
 * refused, also in the variables that the AWS SDK reads. Files are read at once, so that a wrong name is told at
 * the start. No kubeconfig: that is code (faults §5). Messages name settings, never a secret (S11).
 */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { LOG_LEVELS, type LogLevel } from '@rollcall/base/log-of.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { clusterId, type ClusterId } from '../../../core/model/identifiers.ts';
import type { Credential } from '../credentials/token-source.ts';
import { parseEndpoint } from '../egress/endpoint.ts';
import type { ConnectionOptions } from '../transport/pooled-agent.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where settings are looked for; the clock is for files that are read again. */
export type SettingSources = readonly [
  environment: Environment,
  commandLine: readonly string[],
  clock: Clock,
];

type FlagVariables<Flag extends string> = Readonly<Record<Flag, string>>;

/** The given values, by flag; empty values count as none. */
type GivenSettings<Flag extends string> = Readonly<Partial<Record<Flag, string>>>;

interface SharedSettings {
  readonly kind: 'settings';
  readonly cluster: ClusterId;
  readonly queueUrl: string;
  readonly sqsEndpoint: string | undefined;
  readonly level: LogLevel;
  readonly apiServer: ConnectionOptions;
}

/** Settings of a program, its own beside those of all, or why there are none. */
export type ProgramSettings<Own> =
  (SharedSettings & Own) | { readonly kind: 'refused'; readonly message: string };

/** A setting that cannot be used; its message names the setting, never a secret. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

const API_SERVER_FLAGS = {
  'api-server': 'ROLLCALL_API_SERVER',
  'ca-file': 'ROLLCALL_CA_FILE',
  'token-file': 'ROLLCALL_TOKEN_FILE',
  'client-cert-file': 'ROLLCALL_CLIENT_CERT_FILE',
  'client-key-file': 'ROLLCALL_CLIENT_KEY_FILE',
} as const;

/** Settings that every program has under the same names. */
export const PROGRAM_FLAGS = {
  ...API_SERVER_FLAGS,
  cluster: 'ROLLCALL_CLUSTER',
  'sqs-endpoint': 'ROLLCALL_SQS_ENDPOINT',
  'log-level': 'ROLLCALL_LOG_LEVEL',
} as const;

type ApiServerFlag = keyof typeof API_SERVER_FLAGS;
type SharedFlag = keyof typeof PROGRAM_FLAGS | 'queue-url';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Other variables that manifests set, and that the SDK would take as they are. */
const SDK_VARIABLES = ['AWS_REGION', 'AWS_ROLE_ARN', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
const PLACEHOLDER_PATTERN = /^<[^<>]*>$/;
const CLUSTER_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** A kubelet rotates tokens long before they expire, and exchanges the authorities within about as long. */
const FILE_LIFETIME_MS = 60_000;

/** Reads the settings of a program; `readOwn` throws SettingError for what it cannot use. */
export function readProgram<Flag extends string, Own>(
  flags: FlagVariables<Flag | SharedFlag>,
  [environment, commandLine, clock]: SettingSources,
  readOwn: (given: GivenSettings<Flag>) => Own,
): ProgramSettings<Own> {
  try {
    const given = readGiven<Flag | SharedFlag>(flags, environment, commandLine);
    const cluster = required(given, 'cluster', flags);
    if (!CLUSTER_PATTERN.test(cluster)) {
      throw new SettingError('ROLLCALL_CLUSTER is no cluster name');
    }
    return {
      kind: 'settings',
      cluster: clusterId(cluster),
      queueUrl: required(given, 'queue-url', flags),
      sqsEndpoint: given['sqs-endpoint'],
      level: oneOf(LOG_LEVELS, flags['log-level'], given['log-level'] ?? 'info'),
      ...readOwn(given),
      apiServer: readApiServer(given, environment, clock),
    };
  } catch (cause) {
    if (cause instanceof SettingError) return { kind: 'refused', message: cause.message };
    throw cause;
  }
}

/** Reads flags and variables. Throws SettingError for an unknown flag and for a placeholder. */
function readGiven<Flag extends string>(
  flags: FlagVariables<Flag>,
  environment: Environment,
  commandLine: readonly string[],
): GivenSettings<Flag> {
  const names = Object.keys(flags) as Flag[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  let values: Readonly<Record<string, unknown>>;
  try {
    ({ values } = parseArgs({ args: [...commandLine], options }));
  } catch (cause) {
    throw new SettingError(cause instanceof Error ? cause.message : 'unknown flag', { cause });
  }
  const entries = names.flatMap((name) => {
    const flag = values[name];
    const value = typeof flag === 'string' ? flag : environment[flags[name]];
    if (value !== undefined) refusePlaceholder(flags[name], value);
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  for (const name of SDK_VARIABLES) refusePlaceholder(name, environment[name] ?? '');
  return Object.fromEntries(entries) as GivenSettings<Flag>;
}

function refusePlaceholder(name: string, value: string): void {
  if (!PLACEHOLDER_PATTERN.test(value)) return;
  throw new SettingError(`${name} still is a placeholder; docs/install.md says what goes there`);
}

/** A setting that must be there. Throws SettingError. */
export function required<Flag extends string>(
  given: GivenSettings<Flag>,
  flag: Flag,
  flags: FlagVariables<Flag>,
): string {
  const value = given[flag];
  if (value === undefined) throw new SettingError(`${flags[flag]} (--${flag}) is needed`);
  return value;
}

/** One of a few words. Throws SettingError. */
export function oneOf<Word extends string>(
  allowed: readonly Word[],
  variable: string,
  value: string,
): Word {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new SettingError(`${variable} is none of ${allowed.join(', ')}`);
  return found;
}

/** The API server of the pod's own cluster, or the one that is given. Throws SettingError. */
function readApiServer(
  given: GivenSettings<ApiServerFlag>,
  environment: Environment,
  clock: Clock,
): ConnectionOptions {
  const parsed = parseEndpoint(given['api-server'] ?? inClusterServer(environment));
  if (parsed.kind === 'refused') throw new SettingError(`ROLLCALL_API_SERVER: ${parsed.message}`);
  const caFile = given['ca-file'] ?? `${SERVICE_ACCOUNT}/ca.crt`;
  const caPem = readSettingFile(caFile, API_SERVER_FLAGS['ca-file']);
  return {
    endpoint: parsed.endpoint,
    caPem,
    readCaPem: readingAgain(caPem, clock, (known) => certificateIn(caFile) ?? known),
    credential: readCredential(given, clock),
    clock,
  };
}

/** Asks again once what was read is a minute old; `read` is told what holds until then. */
function readingAgain(first: string, clock: Clock, read: (known: string) => string): () => string {
  let known = { text: first, readMs: clock.monotonicMs() };
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - known.readMs >= FILE_LIFETIME_MS) known = { text: read(known.text), readMs: nowMs };
    return known.text;
  };
}

/** The content of a file of certificates; undefined where it cannot be read, or begins with none: it is being exchanged. */
function certificateIn(file: string): string | undefined {
  try {
    const pem = readFileSync(file, 'utf8');
    // OpenSSL takes any text for an authority, and then trusts no server.
    void new X509Certificate(pem);
    return pem;
  } catch {
    return undefined;
  }
}

function inClusterServer(environment: Environment): string {
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined || host === '') {
    throw new SettingError('outside a cluster ROLLCALL_API_SERVER is needed');
  }
  return host.includes(':') ? `https://[${host}]:${port}` : `https://${host}:${port}`;
}

function readCredential(given: GivenSettings<ApiServerFlag>, clock: Clock): Credential {
  const certificateFile = given['client-cert-file'];
  if (certificateFile !== undefined) {
    const keyFile = required(given, 'client-key-file', API_SERVER_FLAGS);
    return {
      kind: 'client-certificate',
      certificatePem: readSettingFile(certificateFile, API_SERVER_FLAGS['client-cert-file']),
      keyPem: readSettingFile(keyFile, API_SERVER_FLAGS['client-key-file']),
    };
  }
  const file = given['token-file'] ?? `${SERVICE_ACCOUNT}/token`;
  const read = (): string => readSettingFile(file, API_SERVER_FLAGS['token-file']).trim();
  const token = readingAgain(read(), clock, read);
  return { kind: 'bearer', token: async () => Promise.resolve(token()) };
}

function readSettingFile(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown failure';
    throw new SettingError(`${setting}: the file cannot be read (${code})`, { cause });
  }
}
