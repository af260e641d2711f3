/**
 * The admission policy with DaemonSets listed one by one, as an administrator installs it (ADR 0063): the list first, and then
 * nothing that binds all at once.
 *
 * For a stage of a real control plane with the rights of takeover (stage.ts). The DaemonSets need not exist yet: what is
 * read of them is their name and their selector's labels.
 */
import { listedPolicy, readDaemonSetList } from '../../../scripts/install/listed-policy.ts';
import type { ApiClient, KubernetesObject } from '../control-plane/api.ts';
import { testDaemonSet } from './daemon-set.ts';
import { collectionPath } from './manifests.ts';

const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const ALL_AT_ONCE = ['rollcall-owner', 'rollcall-history-owner', 'rollcall-copies-owner'] as const;

/** Lists test DaemonSets of these names (daemon-set.ts), and no other. */
export async function listInAdmission(admin: ApiClient, names: readonly string[]): Promise<void> {
  const items = names.map((name) => ({ ...testDaemonSet({ name }), kind: 'DaemonSet' }));
  for (const object of listedPolicy(readDaemonSetList(JSON.stringify({ items })))) {
    const manifest = object as unknown as KubernetesObject; // a manifest is raw JSON
    await admin.post(collectionPath(manifest), manifest);
  }
  for (const one of ALL_AT_ONCE) await admin.delete(`${BINDINGS}/${one}`);
}
