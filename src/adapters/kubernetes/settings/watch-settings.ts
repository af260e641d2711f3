/**
 * Where a watcher's process finds its cluster and its queue: variables, flags (program-settings.ts), the service account.
 *
 *   ROLLCALL_CLUSTER            --cluster        registered name of the cluster; required
 *   ROLLCALL_EVENTS_QUEUE_URL   --queue-url      address of the events queue; required
 *   ROLLCALL_SQS_ENDPOINT       --sqs-endpoint   another SQS-compatible server
 *   ROLLCALL_API_SERVER         --api-server     https address; default: the pod's service variables
 *   ROLLCALL_CA_FILE            --ca-file        default: the service account's; read again each minute
 *   ROLLCALL_TOKEN_FILE         --token-file     default: the service account's; read again each minute
 *   ROLLCALL_CLIENT_CERT_FILE   --client-cert-file   a client certificate instead of the token
 *   ROLLCALL_CLIENT_KEY_FILE    --client-key-file    its key
 *   ROLLCALL_LOG_LEVEL          --log-level      debug, info, warn or error; default info
 *   ROLLCALL_LEASE_START        --lease-start    take, stand-by (one of two replicas), take-from-any (also from another installation); default take
 *   ROLLCALL_INSTALLATION       --installation   the installation that the Lease names; default: the stack of the queue
 *   ROLLCALL_PROBE_ADDRESS      --probe-address  host:port of probes and metrics; default: none are served
 *
 * The API server's address can be given because the watcher must work before daemons make service addresses work (design 2).
 */
import { PROGRAM_FLAGS, SettingError, oneOf, readProgram } from './program-settings.ts';
import { installationOf, isInstallation } from '../../../core/may-act/installation.ts';
import type { ProgramSettings, SettingSources } from './program-settings.ts';

/** A watcher's behaviour at its start while another one holds the Lease. */
const LEASE_STARTS = ['take', 'stand-by', 'take-from-any'] as const;

/** Where probes and metrics are served. */
export interface ProbeAddress {
  readonly host: string;
  readonly port: number;
}

/** Settings of a watcher's process, or why there are none. */
export type WatchSettings = ProgramSettings<{
  readonly leaseStart: (typeof LEASE_STARTS)[number];
  readonly installation: string | undefined;
  readonly probeAddress: ProbeAddress | undefined;
}>;

const FLAGS = {
  ...PROGRAM_FLAGS,
  'queue-url': 'ROLLCALL_EVENTS_QUEUE_URL',
  'lease-start': 'ROLLCALL_LEASE_START',
  installation: 'ROLLCALL_INSTALLATION',
  'probe-address': 'ROLLCALL_PROBE_ADDRESS',
} as const;

const PROBE_ADDRESS_PATTERN = /^(?:\[([^[\]]+)\]|([^[\]]+)):(\d{1,5})$/;

/** Reads the settings; files are read at once, so that a wrong name is told at the start. */
export function readWatchSettings(...sources: SettingSources): WatchSettings {
  return readProgram(FLAGS, sources, (given) => ({
    leaseStart: oneOf(LEASE_STARTS, FLAGS['lease-start'], given['lease-start'] ?? 'take'),
    installation: readInstallation(given.installation, given['queue-url']),
    probeAddress: readProbeAddress(given['probe-address']),
  }));
}

function readInstallation(
  text: string | undefined,
  queueUrl: string | undefined,
): string | undefined {
  if (text === undefined) return queueUrl && installationOf(queueUrl);
  if (!isInstallation(text)) throw new SettingError('ROLLCALL_INSTALLATION is no name');
  return text;
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
