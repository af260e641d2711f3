/**
 * The garbage collector's requests, each with its fences.
 *
 * Patches of owner references carry the dependent's UID, so that an object that was made again under the same name is
 * not touched. Deletions carry UID and resourceVersion: whoever added a solid owner meanwhile keeps the object.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClientOutcome, DeleteOptions, LocalClient } from '../../client/local-client.ts';
import type { ApiObject, ObjectRef, Owner } from '../../objects/api-object.ts';

/** How a request ended. */
export type RequestResult = 'done' | 'absent' | 'failed';

const ATTEMPTS_MAX = 5;

/** Deletes an object whose owners were judged at this state of it. */
export async function deleteJudged(
  client: LocalClient,
  of: {
    readonly ref: ObjectRef;
    readonly judged: ApiObject;
    readonly propagation: NonNullable<DeleteOptions['propagation']>;
  },
): Promise<RequestResult> {
  const { ref, judged, propagation } = of;
  const { uid, resourceVersion } = judged.metadata;
  const outcome = await client.delete(ref, { uid, resourceVersion, propagation });
  if (outcome.kind === 'ok' || outcome.status.code !== 409) return resultOf(outcome);
  const live = await client.get(ref);
  if (live.kind === 'refused') return resultOf(live);
  if (live.object.metadata.uid !== uid) return 'absent';
  const isJudgementValid = isDeepStrictEqual(
    live.object.metadata.ownerReferences,
    judged.metadata.ownerReferences,
  );
  if (!isJudgementValid) return 'failed';
  // It changed, but not its owners: rapid updates must not keep it alive.
  return resultOf(await client.delete(ref, { uid, propagation }));
}

/** Removes references to these owners from a dependent. */
export async function dropOwners(
  client: LocalClient,
  of: {
    readonly ref: ObjectRef;
    readonly dependentUid: string;
    readonly ownerUids: readonly string[];
  },
): Promise<RequestResult> {
  const ownerReferences = of.ownerUids.map((uid) => ({ $patch: 'delete', uid }));
  return patchOwners(client, { ...of, ownerReferences });
}

/** Makes a dependent's references non-blocking. */
export async function unblockOwners(
  client: LocalClient,
  of: { readonly ref: ObjectRef; readonly dependentUid: string; readonly owners: readonly Owner[] },
): Promise<RequestResult> {
  const ownerReferences = of.owners
    .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
    .map((owner) => ({ ...owner, blockOwnerDeletion: false }));
  return patchOwners(client, { ...of, ownerReferences });
}

async function patchOwners(
  client: LocalClient,
  of: {
    readonly ref: ObjectRef;
    readonly dependentUid: string;
    readonly ownerReferences: readonly JsonObject[];
  },
): Promise<RequestResult> {
  const { ref, dependentUid: uid, ownerReferences } = of;
  const body = { metadata: { uid, ownerReferences } };
  return resultOf(await client.patch(ref, { type: 'strategic', body }));
}

/** Removes a finalizer; done when it is not there. */
export async function removeFinalizer(
  client: LocalClient,
  of: { readonly ref: ObjectRef; readonly uid: string; readonly finalizer: string },
): Promise<RequestResult> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const live = await client.get(of.ref);
    if (live.kind === 'refused') return resultOf(live);
    const { uid, resourceVersion, finalizers = [] } = live.object.metadata;
    if (uid !== of.uid) return 'absent';
    if (!finalizers.includes(of.finalizer)) return 'done';
    const rest = finalizers.filter((finalizer) => finalizer !== of.finalizer);
    const outcome = await client.patch(of.ref, {
      type: 'merge',
      body: { metadata: { resourceVersion, finalizers: rest } },
    });
    if (outcome.kind === 'ok' || outcome.status.code !== 409) return resultOf(outcome);
  }
  return 'failed';
}

function resultOf(outcome: ClientOutcome): RequestResult {
  if (outcome.kind === 'ok') return 'done';
  return outcome.status.code === 404 ? 'absent' : 'failed';
}
