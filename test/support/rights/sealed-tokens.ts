/** Clusters of a function world that are reached by a bound token, and what their renewers send. */
import assert from 'node:assert/strict';
import { encodeCredentialMessage } from '../../../src/adapters/sqs/schema/credential-message-schema.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { subjectOf, type TokenPurpose } from '../../../src/ports/stores/credential-store.ts';
import { serviceAccountToken } from '../service-account-token.ts';
import { WATCHER_ROLE, type FunctionWorld } from './function-world.ts';

/** The world's one sender is renewer, too. */
export const BOUND_TOKEN = { kind: 'bound-token', renewerRoleId: WATCHER_ROLE } as const;

const CREDENTIALS = 'rollcall-local-credentials';
const LIFETIME_S = 3600;

/** A message as the cluster's renewer sends it; the token has the form that the API server there knows. */
export async function sealedMessage(
  { seal }: Pick<FunctionWorld, 'seal'>,
  { id, clusterUid }: ClusterRegistration,
  purpose: TokenPurpose = 'act',
): Promise<string> {
  const nowS = Math.floor(Date.now() / 1000);
  const token = serviceAccountToken(
    { sub: subjectOf(purpose), iat: nowS, exp: nowS + LIFETIME_S },
    id,
  );
  const sealed = await seal.seal(token, { cluster: id, clusterUid, purpose });
  assert.ok(sealed.kind === 'sealed');
  return encodeCredentialMessage({
    schema: 1,
    cluster: id,
    clusterUid,
    purpose,
    ciphertext: sealed.ciphertext,
    issuedAtMs: nowS * 1000,
    expiresAtMs: (nowS + LIFETIME_S) * 1000,
  });
}

/** Has the function take in the tokens of this cluster. */
export async function sealToken(world: FunctionWorld, cluster: ClusterRegistration): Promise<void> {
  const records = [
    { body: await sealedMessage(world, cluster) },
    { body: await sealedMessage(world, cluster, 'ask') },
  ];
  const { failed } = await world.deliver('credential', CREDENTIALS, records);
  assert.deepEqual(failed, []);
}

/** Registers a cluster that is reached by a bound token, and has one sent. */
export async function sealedCluster(
  world: FunctionWorld,
  change: Partial<ClusterRegistration> = {},
  name?: string,
): Promise<ClusterRegistration> {
  const cluster = await world.newCluster({ ...change, authentication: BOUND_TOKEN }, name);
  await sealToken(world, cluster);
  return cluster;
}
