/**
 * Ends a run whose cluster cannot be used: back-off, and for an endpoint that turned out to be another
 * cluster a refusal (row 90, S6). An endpoint that is not permitted is no outage: it waits for somebody
 * to register it differently (row 66). Nothing is sent to any API server from here.
 */
import { backOffRun } from './defer.ts';
import type { EndContext } from '../run/context.ts';
import type { FoundSubject } from '../run/exit.ts';
import type { ReconcileResult } from '../run/result.ts';

/** Why the cluster cannot be used, as the end of the run. */
export async function endUnavailable(
  message: string,
  context: EndContext,
  subject: FoundSubject,
): Promise<ReconcileResult> {
  const { refusal } = subject.access;
  const input = { context, subject };
  switch (refusal?.kind) {
    case 'wrong-cluster': {
      // Nothing is written until the cluster is registered again (row 90, S6).
      const text = `the endpoint is cluster ${refusal.foundUid}, not the registered one`;
      await backOffRun({ code: 'no-access', message: text, holdsCreates: true }, input);
      return { kind: 'refused', reason: 'wrong-cluster', message: text };
    }
    case 'egress-refused': {
      const text = `the endpoint is not permitted: ${refusal.field} (${refusal.reason})`;
      return backOffRun({ code: 'no-access', message: text, holdsCreates: false }, input);
    }
    case 'no-credential': {
      const text = 'there is no credential for the cluster';
      return backOffRun({ code: 'no-access', message: text, holdsCreates: false }, input);
    }
    case 'no-token': {
      const text = `there is no usable token for the cluster: ${refusal.fault}`;
      return backOffRun({ code: 'no-access', message: text, holdsCreates: false }, input);
    }
    case 'unavailable':
    case undefined: {
      const { retryAfterMs } = refusal ?? {};
      const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
      const text = refusal?.message ?? message;
      const reason = { code: 'cluster-unavailable' as const, message: text, holdsCreates: false };
      return backOffRun({ ...reason, ...asked }, input);
    }
  }
}
