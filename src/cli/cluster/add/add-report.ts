/**
 * What `cluster add` says in the end: a document for programs, and for people what to do next.
 *
 * No credential is part of either (S11).
 */
import type { AddedCluster } from './add-steps.ts';
import { describeAuthentication } from '../../../app/clusters/edit-registration.ts';
import { describeObject } from '../manifests/manifests.ts';

/** Shape of `cluster add --json` (docs/cli.md). */
export function describeAdded(
  added: AddedCluster,
  options: { readonly withManifests: boolean },
): { readonly kind: 'ClusterAdded' } & Readonly<Record<string, unknown>> {
  const { id, registration, result, roles, accessEntries, manifests, applied } = added;
  return {
    kind: 'ClusterAdded',
    cluster: id,
    result,
    clusterUid: registration.clusterUid,
    server: registration.server,
    version: added.version,
    authentication: describeAuthentication(registration.authentication),
    roles,
    accessEntries,
    accessEntryCommands: added.accessEntryCommands,
    ...(added.warnings.length === 0 ? {} : { warnings: added.warnings }),
    objects: manifests.map(describeObject),
    applied,
    ...(options.withManifests ? { manifests } : {}),
  };
}

/** Lines that say what is left to do. */
export function nextSteps(
  added: AddedCluster,
  options: { readonly isDryRun: boolean; readonly isApplied: boolean },
): readonly string[] {
  if (options.isDryRun) return ['Dry run: nothing was written.'];
  const { id } = added;
  return [
    '',
    `${id}: next`,
    ...added.accessEntryCommands.map((command) => `  let the functions in:  ${command}`),
    ...(options.isApplied ? stepsAfterApply(added) : stepsBeforeApply(added)),
    `  see that all is well:  rollcall cluster doctor ${id}`,
    ...stepsToTakeover(added),
  ];
}

function stepsBeforeApply({ credentials, hasImage }: AddedCluster): readonly string[] {
  return [
    ...(hasImage ? [] : ['  name the image:        in the Deployment, or with --image']),
    ...(credentials === 'static'
      ? ['  make the Secret:       rollcall-watcher-aws, which holds the keys (docs/clusters.md)']
      : []),
    '  apply the manifests:   kubectl apply --server-side -f FILE',
  ];
}

function stepsAfterApply({ applied, credentials }: AddedCluster): readonly string[] {
  const failed = applied.filter(({ result }) => result === 'failed').length;
  return [
    ...(failed === 0
      ? []
      : [
          `  put right:             ${String(failed)} objects were refused; then repeat the command`,
        ]),
    ...(credentials === 'static'
      ? ['  make the Secret:       rollcall-watcher-aws, which holds the keys (docs/clusters.md)']
      : []),
  ];
}

function stepsToTakeover({ id, registration, credentials }: AddedCluster): readonly string[] {
  const { kind } = registration.authentication;
  if (kind === 'none') return [];
  return [
    ...(kind === 'bound-token'
      ? [
          '  first token at once:   kubectl -n rollcall-system create job --from=cronjob/rollcall-renewer rollcall-renewer-first',
        ]
      : []),
    ...(credentials === 'pod-identity'
      ? [
          '  before takeover:       --credentials irsa; the agent of pod identity is a DaemonSet itself',
        ]
      : []),
    `  then, when you want:   rollcall cluster set ${id} --mode takeover`,
  ];
}
