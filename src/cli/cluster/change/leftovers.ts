/**
 * What a removed cluster still has of Rollcall, and how to delete it: objects, access entries, roles.
 *
 * Words only; nothing is deleted here. A test holds the names to the manifests under infra/.
 */
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { Stack } from '../../reach/stack.ts';
import { rolesStackName } from '../roles/roles.ts';

/** Cluster-wide objects that the manifests make, by kind. */
const CLUSTER_WIDE: readonly (readonly [string, readonly string[]])[] = [
  [
    'clusterrolebinding,clusterrole',
    [
      'rollcall-watcher',
      'rollcall-functions',
      'rollcall-functions-namespace',
      'rollcall-requests',
      'rollcall-renewer',
    ],
  ],
  [
    'validatingadmissionpolicybinding,validatingadmissionpolicy',
    [
      'rollcall-pods',
      'rollcall-owner',
      'rollcall-owner-kept',
      'rollcall-history',
      'rollcall-history-owner',
      'rollcall-status',
      'rollcall-events',
      'rollcall-lease',
    ],
  ],
];

/** Commands for the cluster, and sentences about the rest. */
export function leftovers(
  registration: ClusterRegistration,
  stack: Pick<Stack, 'stage' | 'outputs'>,
): { readonly commands: readonly string[]; readonly notes: readonly string[] } {
  const { authentication, id } = registration;
  return {
    commands: [
      'kubectl delete namespace rollcall-system --ignore-not-found',
      ...CLUSTER_WIDE.map(
        ([kinds, names]) => `kubectl delete ${kinds} ${names.join(' ')} --ignore-not-found`,
      ),
      ...(authentication.kind === 'eks' ? accessEntries(authentication, stack) : []),
    ],
    notes: [
      `Its roles: the stack ${rolesStackName({ stage: stack.stage, id })} in the account of the cluster, if rollcall made it (aws cloudformation delete-stack).`,
      'In chosen namespaces: the role bindings rollcall-functions, if you made them.',
    ],
  };
}

function accessEntries(
  { clusterName, region }: { readonly clusterName: string; readonly region: string },
  { outputs }: Pick<Stack, 'outputs'>,
): readonly string[] {
  const arns = [outputs.ClusterAccessRoleArns, outputs.ClusterRequestRoleArns].join(',').split(',');
  return arns.map(
    (arn) =>
      `aws eks delete-access-entry --cluster-name ${clusterName} --region ${region} --principal-arn ${arn.trim()}`,
  );
}
