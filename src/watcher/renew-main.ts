/**
 * `renew-credential`: puts adapters into one renewal, tells what came of it in one line, and ends.
 *
 * Run by the CronJob of infra/renewer. Settings: renew-settings.ts; AWS credentials as the SDK finds them. Loaded
 * when it is asked for, so that a watcher carries no key client in its memory. Exit codes: 0 sent, 1 not sent (the job
 * is tried again), 2 settings that cannot be used.
 */
import { KMSClient } from '@aws-sdk/client-kms';
import { SQSClient } from '@aws-sdk/client-sqs';
import { CALL_LIMITS, createAwsClient } from '../adapters/aws/create-client.ts';
import { createKmsSeal } from '../adapters/kms/seal.ts';
import { readRenewSettings } from '../adapters/kubernetes/settings/renew-settings.ts';
import type { RenewSettings } from '../adapters/kubernetes/settings/renew-settings.ts';
import { readTokenClaims } from '../adapters/kubernetes/credentials/token-claims.ts';
import { createTokenMint } from '../adapters/kubernetes/api/token-mint.ts';
import { HttpsTransport } from '../adapters/kubernetes/transport/transport.ts';
import { createCredentialQueue } from '../adapters/sqs/event-queue.ts';
import { createConsoleLog } from '../adapters/system/logs.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { renewCredentials, type RenewalResult } from './renew/renew-credential.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
/** A token shorter than half of what was asked for is worth a warning: fewer runs may fail than meant. */
const SHORT_SHARE = 0.5;

type Settings = Extract<RenewSettings, { readonly kind: 'settings' }>;

/** Renews once. Sets the exit code. */
export async function runRenewal(commandLine: readonly string[]): Promise<void> {
  const clock = createSystemClock();
  const settings = readRenewSettings(process.env, commandLine, clock);
  if (settings.kind === 'refused') {
    process.stderr.write(`rollcall-renewer: ${settings.message}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  const log = createConsoleLog({ level: settings.level }).with({ cluster: settings.cluster });
  try {
    const result = await renew(settings);
    tell(result, settings, log);
    if (result.kind === 'failed') process.exitCode = EXIT_FAILED;
  } catch (error) {
    log.error('no credential was sent', {}, error);
    process.exitCode = EXIT_FAILED;
  }
}

async function renew(settings: Settings): Promise<RenewalResult> {
  const { cluster, region, keyArn, queueUrl, sqsEndpoint, kmsEndpoint, apiServer } = settings;
  const { tokenSeconds: lifetimeSeconds, audiences } = settings;
  const transport = new HttpsTransport(apiServer);
  const kms = createAwsClient(KMSClient, CALL_LIMITS.renewer, {
    region,
    ...(kmsEndpoint && { endpoint: kmsEndpoint }),
  });
  const sqs = createAwsClient(SQSClient, CALL_LIMITS.renewer, {
    region,
    ...(sqsEndpoint && { endpoint: sqsEndpoint }),
  });
  try {
    return await renewCredentials({
      cluster,
      mint: createTokenMint({ transport, lifetimeSeconds, audiences }),
      readClaims: readTokenClaims,
      seal: createKmsSeal({ client: kms, keyArn }),
      queue: createCredentialQueue({ client: sqs, queueUrl }),
    });
  } finally {
    transport.retire();
    kms.destroy();
    sqs.destroy();
  }
}

function tell(result: RenewalResult, { tokenSeconds }: Settings, log: Log): void {
  if (result.kind === 'failed') {
    log.error('no credential was sent', { reason: result.step, detail: result.message });
    return;
  }
  const { clusterUid, issuedAtMs, expiresAtMs } = result;
  const fields = { clusterUid, expiresAtMs };
  const isShort = expiresAtMs - issuedAtMs < tokenSeconds * 1000 * SHORT_SHARE;
  if (isShort) log.warn('credential sent; the API server made it shorter than asked', fields);
  else log.info('credential sent', fields);
}
