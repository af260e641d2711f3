/**
 * Renews the node's Lease in kube-node-lease every 10 s: the heartbeat by which the node lifecycle
 * controller knows that the agent lives.
 *
 * A renewal is one PUT with the version of the last one; after a conflict the Lease is read, and made anew if it is gone.
 * Renewals of many agents spread by jitter. A renewal that fails is left to the next one.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, ObjectRef } from '../../objects/api-object.ts';
import { formatMicroTime } from '../../objects/timestamps.ts';
import { withJitter } from '../shared/agent-context.ts';
import type { AgentContext } from '../shared/agent-context.ts';

const RENEW_MS = 10_000;
const DURATION_SECONDS = 40;
const JITTER = 0.04;

/** Makes or renews the Lease at once, then renews it until stopped. Resolves when the first renewal is done. */
export async function startLease(context: AgentContext, node: ApiObject): Promise<Cancel> {
  const { clock, random } = context;
  let isStopped = false;
  let cancelTimer: Cancel = () => undefined;
  let lease: ApiObject | undefined;

  const renew = async (): Promise<void> => {
    lease = await renewLease(context, node, lease);
  };
  const schedule = (delayMs: number): void => {
    if (isStopped) return;
    cancelTimer = clock.after(delayMs, () => {
      void renew().then(() => {
        schedule(withJitter(random, RENEW_MS, JITTER));
      });
    });
  };
  await renew();
  schedule(Math.round(RENEW_MS * random.next()));
  return () => {
    isStopped = true;
    cancelTimer();
  };
}

/** Undefined when it could not be renewed: the next attempt reads it first. */
async function renewLease(
  context: AgentContext,
  node: ApiObject,
  latest: ApiObject | undefined,
): Promise<ApiObject | undefined> {
  const { client, machine, log } = context;
  const ref: ObjectRef = {
    resource: 'leases.coordination.k8s.io',
    namespace: 'kube-node-lease',
    name: machine.name,
  };
  if (latest !== undefined) {
    const renewed = await client.update(ref, { ...latest, spec: leaseSpec(context) });
    if (renewed.kind === 'ok') return renewed.object;
  }
  const current = await client.get(ref);
  const outcome =
    current.kind === 'ok'
      ? await client.update(ref, { ...current.object, spec: leaseSpec(context) })
      : await client.create(ref.resource, newLease(context, node));
  if (outcome.kind === 'ok') return outcome.object;
  log.warn('lease not renewed', { name: machine.name, because: outcome.status.message });
  return undefined;
}

function newLease(context: AgentContext, node: ApiObject): JsonObject {
  const { name, uid } = node.metadata;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: 'kube-node-lease',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }],
    },
    spec: leaseSpec(context),
  };
}

function leaseSpec({ machine, clock }: AgentContext): JsonObject {
  return {
    holderIdentity: machine.name,
    leaseDurationSeconds: DURATION_SECONDS,
    renewTime: formatMicroTime(clock.nowMs()),
  };
}
