/**
 * Where a watcher's process finds its cluster and its queue: variables, flags, the service account.
 *
 *   ROLLCALL_CLUSTER            --cluster        registered name of the cluster; required
 *   ROLLCALL_EVENTS_QUEUE_URL   --queue-url      events.fifo; required
 *   ROLLCALL_SQS_ENDPOINT       --sqs-endpoint   another SQS-compatible server
 *   ROLLCALL_API_SERVER         --api-server     https address; default: the pod's service variables
 *   ROLLCALL_CA_FILE            --ca-file        default: the service account's; read again each minute
 *   ROLLCALL_TOKEN_FILE         --token-file     default: the service account's; read again each minute
 *   ROLLCALL_CLIENT_CERT_FILE   --client-cert-file, with ROLLCALL_CLIENT_KEY_FILE --client-key-file
 *   ROLLCALL_LOG_LEVEL          --log-level      debug, info, warn or error; default info
 *   ROLLCALL_LEASE_START        --lease-start    take or stand-by (one of two replicas); default take
 *   ROLLCALL_PROBE_ADDRESS      --probe-address  host:port of probes and metrics; default: none are served
 *
 * How they are given: program-settings.ts. The API server's address can be given because the watcher must work
 * before the daemons that make service addresses work (design 2).
 */
import { LOG_LEVELS } from '@rollcall/base/log-of.ts';
import type { LogLevel } from '@rollcall/base/log-of.ts';
import { clusterId } from '../../../core/model/identifiers.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import {
  API_SERVER_FLAGS,
  SettingError,
  clusterNameOf,
  oneOf,
  readApiServer,
  readGiven,
  required,
} from './program-settings.ts';
import type { Environment } from './program-settings.ts';
import type { WatchSourceOptions } from '../watch/watch-source.ts';

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
      readonly level: LogLevel;
      readonly leaseStart: (typeof LEASE_STARTS)[number];
      readonly probeAddress: ProbeAddress | undefined;
      readonly source: WatchSourceOptions;
    }
  | { readonly kind: 'refused'; readonly message: string };

const FLAGS = {
  ...API_SERVER_FLAGS,
  cluster: 'ROLLCALL_CLUSTER',
  'queue-url': 'ROLLCALL_EVENTS_QUEUE_URL',
  'sqs-endpoint': 'ROLLCALL_SQS_ENDPOINT',
  'log-level': 'ROLLCALL_LOG_LEVEL',
  'lease-start': 'ROLLCALL_LEASE_START',
  'probe-address': 'ROLLCALL_PROBE_ADDRESS',
} as const;

const PROBE_ADDRESS_PATTERN = /^(?:\[([^[\]]+)\]|([^[\]]+)):(\d{1,5})$/;

/** Reads the settings; files are read at once, so that a wrong name is told at the start. */
export function readWatchSettings(
  environment: Environment,
  commandLine: readonly string[],
  clock: Clock,
): WatchSettings {
  try {
    const given = readGiven(FLAGS, environment, commandLine);
    const { 'log-level': level = 'info', 'lease-start': leaseStart = 'take' } = given;
    return {
      kind: 'settings',
      cluster: clusterId(clusterNameOf(required(given, 'cluster', FLAGS))),
      queueUrl: required(given, 'queue-url', FLAGS),
      sqsEndpoint: given['sqs-endpoint'],
      level: oneOf(LOG_LEVELS, FLAGS['log-level'], level),
      leaseStart: oneOf(LEASE_STARTS, FLAGS['lease-start'], leaseStart),
      probeAddress: readProbeAddress(given['probe-address']),
      source: { ...readApiServer(given, environment, clock), clock },
    };
  } catch (cause) {
    if (cause instanceof SettingError) return { kind: 'refused', message: cause.message };
    throw cause;
  }
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
