/**
 * The deployed handlers, loaded into this process by the names that serverless.yml gives them.
 *
 * They are imported only when their environment stands. The engine replaces nothing in them but the
 * sinks of logs and metrics, and the credentials, which Lambda would give each function by itself.
 */
import { useCredentials, type CredentialsOf } from '../../functions/composition.ts';
import { useSinks, type Sinks } from '../../functions/middleware.ts';
import type { LambdaHandler } from '@rollcall/local-aws/event-source-mapping/invocation.ts';

export async function loadHandlers(seams: {
  readonly sinks: Sinks;
  readonly credentialsOf: CredentialsOf;
}): Promise<Readonly<Record<string, LambdaHandler>>> {
  useSinks(seams.sinks);
  useCredentials(seams.credentialsOf);
  const [ingest, reconcile, requeue, resync, fleet, credential, deadLetter] = await Promise.all([
    import('../../functions/ingest/handler.ts'),
    import('../../functions/reconcile/handler.ts'),
    import('../../functions/requeue/handler.ts'),
    import('../../functions/resync/handler.ts'),
    import('../../functions/fleet/handler.ts'),
    import('../../functions/credential/handler.ts'),
    import('../../functions/dead-letter/handler.ts'),
  ]);
  return {
    ingest: ingest.handler,
    reconcile: reconcile.handler,
    requeue: requeue.handler,
    resync: resync.handler,
    fleet: fleet.handler,
    credential: credential.handler,
    'dead-letter': deadLetter.handler,
  };
}
