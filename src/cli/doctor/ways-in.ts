/**
 * The ways into a cluster that the doctor has: the registered credential, and the user's own kubeconfig.
 *
 * A question is put to each in turn until one answers, or says that there is nothing.
 */
import type { InspectedBy } from '../../app/doctor/facts.ts';
import { unchecked } from '../../app/doctor/finding.ts';
import type { ClusterInspection, Inspected } from '../../ports/cluster/cluster-inspection.ts';

/** One way into a cluster, or why there is none. */
export type WayIn = { readonly inspection: ClusterInspection } | { readonly why: string };

/** The ways into one cluster. */
export interface WaysIn {
  readonly registration: WayIn;
  readonly kubeconfig: WayIn;
}

/** Why there is no answer, in words. */
export function whyNot<T>(answer: Exclude<Inspected<T>, { kind: 'answered' }>): string {
  switch (answer.kind) {
    case 'missing':
      return 'the API server does not know it (404)';
    case 'refused':
      return answer.status === 401
        ? 'the credential is not accepted (401)'
        : 'the credential may not look (403)';
    case 'failed':
      return answer.why;
  }
}

/** Asks each way in turn until one answers or says that there is nothing. */
export async function ask<T>(
  ways: WaysIn,
  question: (inspection: ClusterInspection) => Promise<Inspected<T>>,
): Promise<
  | { readonly kind: 'answered'; readonly value: T; readonly by: InspectedBy }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unchecked'; readonly why: string }
> {
  const reasons: string[] = [];
  for (const by of ['registration', 'kubeconfig'] as const) {
    const way = ways[by];
    if ('why' in way) {
      reasons.push(way.why);
      continue;
    }
    const answer = await question(way.inspection);
    if (answer.kind === 'answered') return { ...answer, by };
    if (answer.kind === 'missing') return answer;
    reasons.push(`by the ${by}: ${whyNot(answer)}`);
  }
  return unchecked([...new Set(reasons)].join('; '));
}
