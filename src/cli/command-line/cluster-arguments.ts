/**
 * Arguments that several commands share: a cluster's id, labels, files, and where to stop when it is not there.
 *
 * A wrong one is a CommandError (2) that says what to pass instead. Patterns are those of the
 * registration's schema.
 */
import { nearestField } from '../../adapters/policy/nearest-field.ts';
import { hasLabels, listEveryCluster, readRegistry } from '../../app/clusters/read-registry.ts';
import type { RegistryContent, WantedLabel } from '../../app/clusters/read-registry.ts';
import { readFileSync } from 'node:fs';
import { clusterId, type ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import { failure, usageError } from '../process/exit-codes.ts';
import { textOption, textsOption } from './command-module.ts';
import { plainText } from './text-table.ts';
import { InvalidArgumentError } from 'commander';
import { FREEZE_WHY_CHARACTERS_MAX } from '../../core/model/registration.ts';

/** The id is also a message group. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** The form of a role's unique id; an account id at an emulator. */
export const ROLE_ID = /^[A-Za-z0-9]{1,128}$/;
/** The key of a label. */
export const LABEL_KEY = /^[A-Za-z0-9]([A-Za-z0-9._/-]{0,315}[A-Za-z0-9])?$/;
/** And its value. */
export const LABEL_VALUE = /^[A-Za-z0-9._-]{0,63}$/;

/** The id of a cluster. Throws CommandError (2) that says what an id is. */
export function parseClusterId(text: string): ClusterId {
  if (ID_PATTERN.test(text)) return clusterId(text);
  throw usageError(
    `${plainText(text)} is no id of a cluster.`,
    'An id has letters, digits, ".", "_" and "-", begins with a letter or digit, and has at most 100 characters.',
  );
}

/** As Kubernetes names namespaces and DaemonSets. */
const NAME_PATTERN = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

/** An object of that kind, as namespace/name. Throws CommandError (2). */
export function parseNamespacedName(text: string, kind: string): NamespacedName {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (rest.length === 0 && NAME_PATTERN.test(namespace) && NAME_PATTERN.test(name)) {
    return { namespace, name };
  }
  throw usageError(
    `${plainText(text)} names no ${kind}.`,
    'Pass namespace/name, e.g. kube-system/log-collector.',
  );
}

/** The unique id of a role. Throws CommandError. */
export function parseRoleId(text: string): string {
  if (ROLE_ID.test(text)) return text;
  throw usageError(
    `${text} is no unique id of a role.`,
    'It begins with AROA: aws iam get-role --role-name NAME --query Role.RoleId',
  );
}

/** A label of the form `key=value`, its two parts unjudged. */
export function parseLabel(text: string): readonly [string, string] {
  const [key = '', value] = text.split(/=(.*)/s, 2);
  if (key !== '' && value !== undefined) return [key, value];
  throw usageError(
    `--label ${text} is not of the form key=value.`,
    'Pass e.g. --label stage=prod.',
  );
}

/** A file that the user named. Throws CommandError. */
export function readUserFile(file: string, remedy: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw usageError(`${file} cannot be read.`, remedy, cause);
  }
}

const CA_REMEDY = 'Pass a PEM file with the certificate authority of the API server.';

/** The certificate authority in a file; `remedy` is for one that holds something else. */
export function readCaFile(file: string, remedy = CA_REMEDY): string {
  const text = readUserFile(file, CA_REMEDY);
  if (text.includes('-----BEGIN CERTIFICATE-----') && !text.includes('PRIVATE KEY')) return text;
  throw usageError(`${file} is no certificate authority in PEM form.`, remedy);
}

/** Throws CommandError (2) when more than one of these options is given. */
export function excludeEachOther(options: Readonly<Record<string, unknown>>): void {
  const given = Object.values(options).filter((value) => value !== undefined && value !== false);
  if (given.length <= 1) return;
  const names = Object.keys(options)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' and ');
  throw usageError(`${names} exclude each other.`, 'Pass one of them.');
}

/** A number of seconds above 0. Throws what commander reports as a usage error. */
export function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new InvalidArgumentError('Pass a positive number of seconds.');
}

/** A parser of whole numbers from `min` up to `max`, which throws what commander reports as a usage error. */
export function wholeNumber(
  min: number,
  otherwise: string,
  max = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(otherwise);
  };
}

/** The argument of commands about one cluster. */
export const CLUSTER_ARGUMENT = ['<id>', 'id of the cluster'] as const;

/** With which kubeconfig a person reaches a cluster. */
export const OPERATOR_OPTIONS = {
  kubeconfig: textOption(
    '--kubeconfig <file>',
    'kubeconfig to reach the cluster with (default: KUBECONFIG, then ~/.kube/config)',
  ),
  context: textOption(
    '--context <name>',
    'context of that kubeconfig (default: its current context)',
  ),
};

/** The cluster's registration. Throws CommandError when there is none, with the id that may have been meant. */
export async function requireRegistration(
  registry: Pick<RegistryStore, 'readCluster' | 'listClusters'>,
  id: ClusterId,
): Promise<ClusterRegistration> {
  const registration = await registry.readCluster(id);
  if (registration !== undefined) return registration;
  const near = nearestField(id, await listEveryCluster(registry));
  throw failure(
    `There is no cluster ${id} in this stack.`,
    `${near === undefined ? '' : `Did you mean ${near}? `}List them with: rollcall cluster list`,
  );
}

/** The one that is named, else all that can be read. Throws CommandError as requireRegistration does. */
export async function readRegistrations(
  registry: Pick<RegistryStore, 'readCluster' | 'listClusters'>,
  id: ClusterId | undefined,
): Promise<RegistryContent> {
  if (id === undefined) return readRegistry(registry);
  return { registrations: [await requireRegistration(registry, id)], unreadable: [] };
}

/** Clusters that are meant: one, those with all of these labels, or all. */
export interface ClusterChoice {
  readonly id?: ClusterId;
  readonly labels: readonly WantedLabel[];
}

/** Of `--cluster` and `--label`, which exclude each other. Throws CommandError (2). */
export function parseClusterChoice({
  cluster,
  label,
}: {
  readonly cluster?: string;
  readonly label?: readonly string[];
}): ClusterChoice {
  excludeEachOther({ '--cluster': cluster, '--label': label });
  const labels = (label ?? []).map(parseLabel);
  return cluster === undefined ? { labels } : { id: parseClusterId(cluster), labels };
}

/** Those of them that can be read, and all that cannot. Throws CommandError as requireRegistration does. */
export async function readChosen(
  registry: Pick<RegistryStore, 'readCluster' | 'listClusters'>,
  { id, labels }: ClusterChoice,
): Promise<RegistryContent> {
  const { registrations, unreadable } = await readRegistrations(registry, id);
  return { registrations: registrations.filter((each) => hasLabels(each, labels)), unreadable };
}

/** The option for labels of clusters. */
export const LABEL_OPTION = textsOption(
  '--label <key=value>',
  'only clusters that have this label; repeat it for several',
);

/** A reason, as it was given. Throws CommandError (2) for one that is too long or more than a line. */
export function parseWhy(text: string): string {
  const why = text.trim();
  if (why.length <= FREEZE_WHY_CHARACTERS_MAX && !/\p{Cc}/u.test(why)) return why;
  throw usageError(
    `--why takes one line of ${String(FREEZE_WHY_CHARACTERS_MAX)} characters at most.`,
    'Say it shorter; a link to an incident does.',
  );
}
