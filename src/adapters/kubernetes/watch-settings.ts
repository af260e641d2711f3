/**
 * Where a watcher's process finds its cluster and its queue: variables, flags, the service account.
 *
 *   ROLLCALL_CLUSTER            --cluster        registered name of the cluster; required
 *   ROLLCALL_EVENTS_QUEUE_URL   --queue-url      events.fifo; required
 *   ROLLCALL_SQS_ENDPOINT       --sqs-endpoint   another SQS-compatible server
 *   ROLLCALL_API_SERVER         --api-server     https address; default: the pod's service variables
 *   ROLLCALL_CA_FILE            --ca-file        default: the service account's
 *   ROLLCALL_TOKEN_FILE         --token-file     default: the service account's; read again each minute
 *   ROLLCALL_CLIENT_CERT_FILE   --client-cert-file, with ROLLCALL_CLIENT_KEY_FILE --client-key-file
 *   ROLLCALL_LOG_LEVEL          --log-level      debug, info, warn or error; default info
 *   ROLLCALL_LEASE_START        --lease-start    take or stand-by (one of two replicas); default take
 *   ROLLCALL_PROBE_ADDRESS      --probe-address  host:port of probes and metrics; default: none are served
 *
 * A value in angle brackets is a placeholder of a manifest that nobody filled in, and is refused, also in
 * the variables that the AWS SDK reads.
 * A flag wins over its variable. The API server's address can be given because the watcher must work
 * before the daemons that make service addresses work (design 2). No kubeconfig: that is code (faults 5).
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { clusterId } from '../../core/model/identifiers.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Credential } from './credential.ts';
import { parseEndpoint } from './endpoint.ts';
import type { WatchSourceOptions } from './watch-source.ts';

/** Levels of the watcher's log. */
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
/** What a watcher does at its start while another one holds the Lease. */
const LEASE_STARTS = ['take', 'stand-by'] as const;

/** Where probes and metrics are served. */
export interface ProbeAddress {
  readonly host: string;
  readonly port: number;
}

/** Settings of a watcher's process, or why there are none. */
export type WatchSettings =
  | {
      readonly kind: 'settings';
      readonly cluster: ClusterId;
      readonly queueUrl: string;
      readonly sqsEndpoint: string | undefined;
      readonly level: (typeof LEVELS)[number];
      readonly leaseStart: (typeof LEASE_STARTS)[number];
      readonly probeAddress: ProbeAddress | undefined;
      readonly source: WatchSourceOptions;
    }
  | { readonly kind: 'refused'; readonly message: string };

const FLAGS = {
  cluster: 'ROLLCALL_CLUSTER',
  'queue-url': 'ROLLCALL_EVENTS_QUEUE_URL',
  'sqs-endpoint': 'ROLLCALL_SQS_ENDPOINT',
  'api-server': 'ROLLCALL_API_SERVER',
  'ca-file': 'ROLLCALL_CA_FILE',
  'token-file': 'ROLLCALL_TOKEN_FILE',
  'client-cert-file': 'ROLLCALL_CLIENT_CERT_FILE',
  'client-key-file': 'ROLLCALL_CLIENT_KEY_FILE',
  'log-level': 'ROLLCALL_LOG_LEVEL',
  'lease-start': 'ROLLCALL_LEASE_START',
  'probe-address': 'ROLLCALL_PROBE_ADDRESS',
} as const;

type Flag = keyof typeof FLAGS;
type Environment = Readonly<Record<string, string | undefined>>;

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** What else manifests set, and the SDK would take as it is. */
const SDK_VARIABLES = ['AWS_REGION', 'AWS_ROLE_ARN', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
const PLACEHOLDER_PATTERN = /^<[^<>]*>$/;
const PROBE_ADDRESS_PATTERN = /^(?:\[([^[\]]+)\]|([^[\]]+)):(\d{1,5})$/;
const CLUSTER_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** A kubelet rotates tokens long before they expire. */
const TOKEN_LIFETIME_MS = 60_000;

/** A setting that cannot be used; its message names the setting, never a secret. */
class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Reads the settings; files are read at once, so that a wrong name is told at the start. */
export function readWatchSettings(
  environment: Environment,
  commandLine: readonly string[],
  clock: Clock,
): WatchSettings {
  try {
    const given = readGiven(environment, commandLine);
    refusePlaceholders(given, environment);
    const cluster = required(given, 'cluster');
    if (!CLUSTER_PATTERN.test(cluster))
      throw new SettingError('ROLLCALL_CLUSTER is no cluster name');
    return {
      kind: 'settings',
      cluster: clusterId(cluster),
      queueUrl: required(given, 'queue-url'),
      sqsEndpoint: given['sqs-endpoint'],
      level: oneOf(LEVELS, 'log-level', given['log-level'] ?? 'info'),
      leaseStart: oneOf(LEASE_STARTS, 'lease-start', given['lease-start'] ?? 'take'),
      probeAddress: readProbeAddress(given['probe-address']),
      source: readSource(given, environment, clock),
    };
  } catch (cause) {
    if (cause instanceof SettingError) return { kind: 'refused', message: cause.message };
    throw cause;
  }
}

type Given = Readonly<Partial<Record<Flag, string>>>;

function readGiven(environment: Environment, commandLine: readonly string[]): Given {
  const names = Object.keys(FLAGS) as Flag[];
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  let values: Readonly<Record<string, unknown>>;
  try {
    ({ values } = parseArgs({ args: [...commandLine], options }));
  } catch (cause) {
    throw new SettingError(cause instanceof Error ? cause.message : 'unknown flag', { cause });
  }
  const entries = names.flatMap((name) => {
    const flag = values[name];
    const value = typeof flag === 'string' ? flag : environment[FLAGS[name]];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

function refusePlaceholders(given: Given, environment: Environment): void {
  const names = Object.keys(FLAGS) as Flag[];
  const values = names.map((name) => [FLAGS[name], given[name]] as const);
  const others = SDK_VARIABLES.map((name) => [name, environment[name]] as const);
  for (const [name, value] of [...values, ...others]) {
    if (value !== undefined && PLACEHOLDER_PATTERN.test(value)) {
      throw new SettingError(
        `${name} still is a placeholder; docs/install.md says what goes there`,
      );
    }
  }
}

function oneOf<T extends string>(allowed: readonly T[], flag: Flag, value: string): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined)
    throw new SettingError(`${FLAGS[flag]} is none of ${allowed.join(', ')}`);
  return found;
}

/** A pod's address may be IPv6, written without brackets: the port is what follows the last colon. */
function readProbeAddress(text: string | undefined): ProbeAddress | undefined {
  if (text === undefined) return undefined;
  const match = PROBE_ADDRESS_PATTERN.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535)
    throw new SettingError('ROLLCALL_PROBE_ADDRESS is not host:port');
  return { host, port };
}

function readSource(given: Given, environment: Environment, clock: Clock): WatchSourceOptions {
  const parsed = parseEndpoint(given['api-server'] ?? inClusterServer(environment));
  if (parsed.kind === 'refused') throw new SettingError(`ROLLCALL_API_SERVER: ${parsed.message}`);
  const caFile = given['ca-file'] ?? `${SERVICE_ACCOUNT}/ca.crt`;
  return {
    endpoint: parsed.endpoint,
    caPem: readSettingFile(caFile, 'ROLLCALL_CA_FILE'),
    credential: readCredential(given, clock),
    clock,
  };
}

function inClusterServer(environment: Environment): string {
  const host = environment['KUBERNETES_SERVICE_HOST'];
  const port = environment['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined || host === '') {
    throw new SettingError('outside a cluster ROLLCALL_API_SERVER is needed');
  }
  return host.includes(':') ? `https://[${host}]:${port}` : `https://${host}:${port}`;
}

function readCredential(given: Given, clock: Clock): Credential {
  const certificateFile = given['client-cert-file'];
  if (certificateFile !== undefined) {
    return {
      kind: 'client-certificate',
      certificatePem: readSettingFile(certificateFile, FLAGS['client-cert-file']),
      keyPem: readSettingFile(required(given, 'client-key-file'), FLAGS['client-key-file']),
    };
  }
  const file = given['token-file'] ?? `${SERVICE_ACCOUNT}/token`;
  const read = (): string => readSettingFile(file, FLAGS['token-file']).trim();
  let known = { token: read(), readMs: clock.monotonicMs() };
  const token = async (): Promise<string> => {
    const nowMs = clock.monotonicMs();
    if (nowMs - known.readMs >= TOKEN_LIFETIME_MS) known = { token: read(), readMs: nowMs };
    return Promise.resolve(known.token);
  };
  return { kind: 'bearer', token };
}

function readSettingFile(file: string, setting: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown failure';
    throw new SettingError(`${setting}: the file cannot be read (${code})`, { cause });
  }
}

function required(given: Given, flag: Flag): string {
  const value = given[flag];
  if (value === undefined) throw new SettingError(`${FLAGS[flag]} (--${flag}) is needed`);
  return value;
}
