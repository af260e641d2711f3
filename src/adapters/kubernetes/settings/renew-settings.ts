/**
 * Where a renewer's process finds its cluster, its queue and its key (program-settings.ts says how they are given).
 *
 *   ROLLCALL_CLUSTER                --cluster          registered name of the cluster; required
 *   ROLLCALL_CREDENTIALS_QUEUE_URL  --queue-url        CredentialsQueueUrl of the stack; required
 *   ROLLCALL_CREDENTIALS_KEY_ARN    --key-arn          CredentialsKeyArn of the stack; its region is that of queue and key; required
 *   ROLLCALL_TOKEN_SECONDS          --token-seconds    how long a token shall live, 1,800 to 86,400; default 14,400
 *   ROLLCALL_TOKEN_AUDIENCES        --token-audiences  with commas between; default: the API server's own
 *   ROLLCALL_SQS_ENDPOINT           --sqs-endpoint     another SQS-compatible server
 *   ROLLCALL_KMS_ENDPOINT           --kms-endpoint     another KMS-compatible server
 *   ROLLCALL_API_SERVER, ROLLCALL_CA_FILE, ROLLCALL_TOKEN_FILE, ROLLCALL_CLIENT_CERT_FILE, ROLLCALL_CLIENT_KEY_FILE,
 *   ROLLCALL_LOG_LEVEL              as the watcher's
 *
 * Four hours for a job that runs every hour: two runs that fail do no harm.
 */
import { PROGRAM_FLAGS, SettingError, readProgram, required } from './program-settings.ts';
import type { ProgramSettings, SettingSources } from './program-settings.ts';

/** Settings of a renewer's process, or why there are none. */
export type RenewSettings = ProgramSettings<{
  readonly keyArn: string;
  /** Of the key, and so of the queue: they are of one stack. */
  readonly region: string;
  readonly tokenSeconds: number;
  readonly audiences: readonly string[];
  readonly kmsEndpoint: string | undefined;
}>;

const FLAGS = {
  ...PROGRAM_FLAGS,
  'queue-url': 'ROLLCALL_CREDENTIALS_QUEUE_URL',
  'key-arn': 'ROLLCALL_CREDENTIALS_KEY_ARN',
  'token-seconds': 'ROLLCALL_TOKEN_SECONDS',
  'token-audiences': 'ROLLCALL_TOKEN_AUDIENCES',
  'kms-endpoint': 'ROLLCALL_KMS_ENDPOINT',
} as const;

/** The default lifetime of a token. */
export const DEFAULT_TOKEN_SECONDS = 14_400;
/** The shortest life of a token that a renewer may ask for. */
export const TOKEN_SECONDS_MIN = 1_800;
const TOKEN_SECONDS_MAX = 86_400;
const KEY_ARN_PATTERN = /^arn:[a-z0-9-]+:kms:([a-z0-9-]+):\d{12}:key\/[A-Za-z0-9-]+$/;
const AUDIENCES_MAX = 16;

/** Reads the settings; files are read at once, so that a wrong name is told at the start. */
export function readRenewSettings(...sources: SettingSources): RenewSettings {
  return readProgram(FLAGS, sources, (given) => {
    const keyArn = required(given, 'key-arn', FLAGS);
    const region = KEY_ARN_PATTERN.exec(keyArn)?.[1];
    if (region === undefined) throw new SettingError(`${FLAGS['key-arn']} is no ARN of a KMS key`);
    return {
      keyArn,
      region,
      tokenSeconds: readTokenSeconds(given['token-seconds']),
      audiences: readAudiences(given['token-audiences']),
      kmsEndpoint: given['kms-endpoint'],
    };
  });
}

function readTokenSeconds(text: string | undefined): number {
  if (text === undefined) return DEFAULT_TOKEN_SECONDS;
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (seconds >= TOKEN_SECONDS_MIN && seconds <= TOKEN_SECONDS_MAX) return seconds;
  const bounds = `${TOKEN_SECONDS_MIN} to ${TOKEN_SECONDS_MAX}`;
  throw new SettingError(`${FLAGS['token-seconds']} is no whole number from ${bounds}`);
}

function readAudiences(text: string | undefined): readonly string[] {
  const audiences = (text ?? '').split(',').map((audience) => audience.trim());
  const named = audiences.filter((audience) => audience !== '');
  if (named.length <= AUDIENCES_MAX) return named;
  throw new SettingError(`${FLAGS['token-audiences']} names more than ${AUDIENCES_MAX}`);
}
