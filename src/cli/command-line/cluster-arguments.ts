/**
 * Arguments that several commands share: a cluster's id, labels, and where to stop when it is not there.
 *
 * What is wrong with one is a CommandError (2) that says what to pass instead.
 */
import { clusterId } from '../../core/model/identifiers.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import { failure, usageError } from '../process/exit-codes.ts';
import { plainText } from './text-table.ts';

/** As in the registration's schema: the id is also a message group. */
const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** The id of a cluster. Throws CommandError (2) that says what an id is. */
export function parseClusterId(text: string): ClusterId {
  if (ID_PATTERN.test(text)) return clusterId(text);
  throw usageError(
    `${plainText(text)} is no id of a cluster.`,
    'An id has letters, digits, ".", "_" and "-", begins with a letter or digit, and has at most 100 characters.',
  );
}

/** For repeatable options: `command.option('--label <x>', …, collect)`. */
export function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

/** The cluster's registration. Throws CommandError when there is none. */
export async function requireRegistration(
  registry: Pick<RegistryStore, 'readCluster'>,
  id: ClusterId,
): Promise<ClusterRegistration> {
  const registration = await registry.readCluster(id);
  if (registration !== undefined) return registration;
  throw failure(
    `There is no cluster ${id} in this stack.`,
    'List them with: rollcall cluster list',
  );
}
