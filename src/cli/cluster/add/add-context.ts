/**
 * What the steps of `cluster add` share: the stack, clients of the cluster's account, and who listens.
 *
 * Made from the command's context; tests make one over servers of their own.
 */
import { defined } from '@rollcall/base/defined.ts';
import { readRegistry } from '../../../app/clusters/read-registry.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { CommandContext } from '../../command-line/command-module.ts';
import { requireProfile } from '../../reach/aws-profiles.ts';
import type { Stack } from '../../reach/stack.ts';
import { openClusterAccount } from './eks-cluster.ts';
import type { ClusterAccount } from './eks-cluster.ts';
import type { AddRequest } from './add-request.ts';

/** Shared by the steps, and by all clusters of one import. */
export interface AddContext extends Pick<
  CommandContext,
  'clock' | 'signal' | 'environment' | 'say'
> {
  readonly stack: Stack;
  /** True: look at everything, write nothing. */
  readonly isDryRun: boolean;
  /** Every registration of the stack, read once. */
  readonly registrations: () => Promise<ReadonlyMap<string, ClusterRegistration>>;
  /** Clients for the account of the cluster: of its profile, or of the stack. Throws CommandError without such a profile. */
  readonly account: (which: Pick<AddRequest, 'clusterProfile' | 'eksRegion'>) => ClusterAccount;
  readonly close: () => void;
}

/** Makes one. Whoever made it closes it. */
export function createAddContext(
  stack: Stack,
  context: CommandContext,
  isDryRun: boolean,
): AddContext {
  const accounts = new Map<string, ClusterAccount>();
  let registrations: Promise<ReadonlyMap<string, ClusterRegistration>> | undefined;
  return {
    ...context,
    stack,
    isDryRun,
    registrations: () => (registrations ??= readRegistrations(stack)),
    account: ({ clusterProfile, eksRegion }) => {
      if (clusterProfile !== undefined) requireProfile(clusterProfile, context.environment);
      const profile = clusterProfile ?? stack.aws.profile;
      const region = eksRegion ?? stack.aws.region;
      const key = JSON.stringify([profile, region]);
      const account = accounts.get(key) ?? openClusterAccount({ region, ...defined({ profile }) });
      accounts.set(key, account);
      return account;
    },
    close: () => {
      for (const account of accounts.values()) account.close();
    },
  };
}

/** A registration that cannot be read must not hide the others; adding under its id will fail then. */
async function readRegistrations({ registry }: Stack): ReturnType<AddContext['registrations']> {
  const { registrations } = await readRegistry(registry);
  return new Map(registrations.map((one) => [one.id, one]));
}
