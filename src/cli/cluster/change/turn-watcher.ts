/**
 * The one change in a cluster that is moved: its watcher (and renewer) send to another stack.
 *
 * Applied with the person's kubeconfig, or printed for them. Applying is harmless when it is so already:
 * the pod template carries the queue's address as an annotation, so the watcher is restarted once for each
 * change of it. No other object is touched, and no pod but Rollcall's own.
 */
import type {
  Transport,
  TransportAnswer,
} from '../../../adapters/kubernetes/transport/transport.ts';
import { jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { failure } from '../../process/exit-codes.ts';
import type { Stack } from '../../reach/stack.ts';

/** Where the watcher shall send, and as whom. */
export interface WatcherTarget {
  readonly stack: Pick<Stack, 'outputs' | 'aws'>;
  /** True if a bound token is renewed there. */
  readonly hasRenewer: boolean;
  /** Of the roles in that stack, for web identity; absent: as it is. */
  readonly roleArn?: string;
  readonly renewerRoleArn?: string;
  /** Distinguishes a turn there from an earlier one: each restarts the watcher once. */
  readonly turnId: string;
}

const NAMESPACE = '/api/v1/namespaces/rollcall-system';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/rollcall-system/deployments';
const CRON_JOBS = '/apis/batch/v1/namespaces/rollcall-system/cronjobs';
const JOBS = '/apis/batch/v1/namespaces/rollcall-system/jobs';
const ROLE_ANNOTATION = 'eks.amazonaws.com/role-arn';
const TURN_ANNOTATION = 'rollcall.dev/sends-to';

interface Patch {
  readonly path: string;
  /** As kubectl names it. */
  readonly object: string;
  readonly body: JsonObject;
}

/** What is to be merged into which object, in order: the restart last. */
function patchesOf(target: WatcherTarget): readonly Patch[] {
  const { stack, hasRenewer, roleArn, renewerRoleArn, turnId } = target;
  const { outputs, aws } = stack;
  const watcherData = {
    ROLLCALL_EVENTS_QUEUE_URL: outputs.EventsQueueUrl,
    AWS_REGION: aws.region,
  };
  const renewerData = {
    ROLLCALL_CREDENTIALS_QUEUE_URL: outputs.CredentialsQueueUrl,
    ROLLCALL_CREDENTIALS_KEY_ARN: outputs.CredentialsKeyArn,
    AWS_REGION: aws.region,
  };
  const restart = { [TURN_ANNOTATION]: `${outputs.EventsQueueUrl} ${turnId}` };
  return [
    configuration('rollcall-watcher', watcherData),
    ...(roleArn === undefined ? [] : [roleOf('rollcall-watcher', roleArn)]),
    ...(hasRenewer ? [configuration('rollcall-renewer', renewerData)] : []),
    ...(renewerRoleArn === undefined ? [] : [roleOf('rollcall-renewer', renewerRoleArn)]),
    {
      path: `${DEPLOYMENTS}/rollcall-watcher`,
      object: 'deployment rollcall-watcher',
      body: { spec: { template: { metadata: { annotations: restart } } } },
    },
  ];
}

function configuration(name: string, data: JsonObject): Patch {
  return { path: `${NAMESPACE}/configmaps/${name}`, object: `configmap ${name}`, body: { data } };
}

function roleOf(name: string, arn: string): Patch {
  return {
    path: `${NAMESPACE}/serviceaccounts/${name}`,
    object: `serviceaccount ${name}`,
    body: { metadata: { annotations: { [ROLE_ANNOTATION]: arn } } },
  };
}

/** The same for a person: kubectl commands. */
export function describeTurn(target: WatcherTarget): readonly string[] {
  const commands = patchesOf(target).map(
    ({ object, body }) =>
      `kubectl -n rollcall-system patch ${object} --type merge -p '${JSON.stringify(body)}'`,
  );
  const renew =
    'kubectl -n rollcall-system create job rollcall-renewer-now --from cronjob/rollcall-renewer';
  return target.hasRenewer ? [...commands, renew] : commands;
}

/** Applies it. Throws CommandError when the API server refuses; run it again then. */
export async function turnWatcher(
  transport: Pick<Transport, 'send'>,
  target: WatcherTarget,
): Promise<void> {
  for (const patch of patchesOf(target)) {
    const answer = await transport.send({
      method: 'PATCH',
      path: patch.path,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify(patch.body),
    });
    requireDone(answer, `patching ${patch.object}`);
  }
  if (target.hasRenewer) await renewNow(transport, target.turnId);
}

/** The renewer's next run may be hours away: one run now, under a name of this turn. */
async function renewNow(transport: Pick<Transport, 'send'>, turnId: string): Promise<void> {
  const path = `${CRON_JOBS}/rollcall-renewer`;
  const found = requireDone(await transport.send({ method: 'GET', path }), `reading ${path}`);
  const spec = jsonMember(jsonMember(jsonMember(found, 'spec'), 'jobTemplate'), 'spec');
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: `rollcall-renewer-${turnId}`, namespace: 'rollcall-system' },
    spec: spec ?? null,
  };
  const body = JSON.stringify(job);
  const answer = await transport.send({ method: 'POST', path: JOBS, body });
  if (answer.kind === 'answered' && answer.status === STATUS_CONFLICT) return;
  requireDone(answer, 'starting the renewer');
}

const STATUS_CONFLICT = 409;
const STATUS_REFUSED = 400;

function requireDone(answer: TransportAnswer, what: string): Json | undefined {
  if (answer.kind === 'answered' && answer.status < STATUS_REFUSED) return answer.body;
  const text = answer.kind === 'answered' ? jsonMember(answer.body, 'message') : answer.message;
  const detail = typeof text === 'string' ? text : 'the API server refused it';
  throw failure(
    `The watcher could not be turned: ${what}: ${detail}.`,
    'The cluster stays frozen in both stacks. Repeat the command when that is mended; without --kubeconfig and --context it prints what to do by hand.',
  );
}
