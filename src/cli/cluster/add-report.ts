/**
 * What `cluster add` says in the end: a document for programs, and for people what to do next.
 *
 * No credential is part of either (S11).
 */
import type { AddedCluster } from './add-steps.ts';
import { describeAuthentication } from '../../app/clusters/edit-registration.ts';
import { describeObject } from './manifests.ts';

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
  const { id, registration, applied, accessEntryCommands } = added;
  if (options.isDryRun) return ['Dry run: nothing was written.'];
  const isStatic = added.credentials === 'static';
  const failed = applied.filter(({ result }) => result === 'failed').length;
  const kind = registration.authentication.kind;
  return [
    '',
    `${id}: next`,
    ...accessEntryCommands.map((command) => `  let the functions in:  ${command}`),
    ...(isStatic
      ? [
          '  make the Secret rollcall-watcher-aws in rollcall-system (docs/clusters.md), as it holds keys',
        ]
      : []),
    ...(options.isApplied ? [] : ['  apply the manifests:   kubectl apply --server-side -f FILE']),
    ...(failed === 0
      ? []
      : [`  ${String(failed)} objects were refused: put that right, then repeat the command`]),
    ...(kind === 'bound-token'
      ? [
          '  first token at once:   kubectl -n rollcall-system create job --from=cronjob/rollcall-renewer rollcall-renewer-first',
        ]
      : []),
    `  see that all is well:  rollcall cluster doctor ${id}`,
    ...(kind === 'none'
      ? []
      : [`  then, when you want:   rollcall cluster set ${id} --mode takeover`]),
  ];
}
