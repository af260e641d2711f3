/**
 * What a fresh test control plane is given before anyone uses it: rights for the observer, and nothing else.
 *
 * kwok deletes a terminating pod by name, without a UID, and repeats itself; so do taint eviction, pod garbage
 * collection and others. Nothing here fences that: a name that came back would lose its new pod (S13).
 */
import type { ApiClient } from './api.ts';
import { userNameOf } from './identities.ts';
import { pollUntil } from './poll.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const READ_ONLY = ['get', 'list', 'watch'];
const OBSERVER_ROLE = 'rollcall-test-observer';
const SETUP_DEADLINE_MS = 60_000;

/** Applies the set-up; repeating it on a kept data directory does no harm. */
export async function prepareCluster(admin: ApiClient): Promise<void> {
  const objects: readonly (readonly [string, unknown])[] = [
    [`${RBAC}/clusterroles`, observerRole()],
    [`${RBAC}/clusterrolebindings`, observerBinding()],
  ];
  for (const [path, body] of objects) {
    // A busy server that has just become ready may still refuse, or answer too late.
    await pollUntil({ deadlineMs: SETUP_DEADLINE_MS, description: `POST ${path}` }, async () => {
      const response = await admin.request({ method: 'POST', path, body });
      if (response.status < 400 || response.status === 409) return true;
      throw new Error(`POST ${path}: ${JSON.stringify(response.body)}`);
    });
  }
}

/** Waits until pods can be created: their namespace needs its default service account. */
export async function waitForServiceAccount(
  admin: ApiClient,
  deadlineMs: number,
  assertProgress: () => void,
): Promise<void> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  await pollUntil({ deadlineMs, description: 'default service account' }, async () => {
    assertProgress();
    const response = await admin.request({ method: 'GET', path });
    return response.status === 200 ? true : undefined;
  });
}

function observerRole(): unknown {
  return {
    metadata: { name: OBSERVER_ROLE },
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: READ_ONLY },
      { nonResourceURLs: ['*'], verbs: ['get'] },
    ],
  };
}

function observerBinding(): unknown {
  return {
    metadata: { name: OBSERVER_ROLE },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: OBSERVER_ROLE },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: userNameOf('observer') },
    ],
  };
}
