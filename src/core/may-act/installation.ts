/**
 * Which installation of Rollcall looks after a cluster, by name (ADR 0024).
 *
 * The watcher's Lease says it, so that another one sees that it would disarm it. A stack is named by its events queue, which its watchers and its functions know both.
 */

/** Annotation of the watcher's Lease that names the installation of its holder, also once it was given back. */
export const INSTALLATION_ANNOTATION = 'rollcall.dev/installation';

const NAME = /^[\x21-\x7e]{1,256}$/;
const QUEUE_URL = /^https?:\/\/([^/]+)\/(?:.*\/)?([^/]+)\/([^/]+)$/;
const AWS_HOST = /\.amazonaws\.com(?:\.cn)?$/;
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d+$/;

/** Whether a text can name an installation. */
export function isInstallation(text: string): boolean {
  return NAME.test(text);
}

/**
 * The stack of an events queue: `eu-central-1/123456789012/rollcall-prod`. Of an emulator's queue the host says nothing:
 * watchers and functions may reach it under two. Undefined: this is no queue's address.
 */
export function installationOf(eventsQueueUrl: string): string | undefined {
  const [, host = '', account, queue] = QUEUE_URL.exec(eventsQueueUrl) ?? [];
  if (account === undefined || queue === undefined) return undefined;
  const labels = AWS_HOST.test(host) ? host.split('.') : [];
  const region = labels.find((label) => REGION.test(label));
  const name = [region, account, queue.replace(/(?:-events)?\.fifo$/, '')]
    .filter((part) => part !== undefined)
    .join('/');
  return isInstallation(name) ? name : undefined;
}

/** Whether a Lease as it stands is another installation's: one that names none is not known to be another's. */
export function isOfAnother(
  lease: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } },
  installation: string,
): boolean {
  const named: unknown = lease.metadata.annotations?.[INSTALLATION_ANNOTATION];
  return typeof named === 'string' && isInstallation(named) && named !== installation;
}
