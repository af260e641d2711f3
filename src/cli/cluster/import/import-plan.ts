/**
 * The plan of an import: each cluster looked at, nothing written.
 *
 * A cluster that cannot be reached is a line of the plan with the reason, never the end of it.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { CommandError } from '../../process/exit-codes.ts';
import { explainAwsError } from '../../command-line/explain-aws-error.ts';
import type { AddContext } from '../add/add-context.ts';
import { examineCluster } from '../add/add-examine.ts';
import { standingOf } from '../add/add-registration.ts';
import type { Standing } from '../add/add-registration.ts';
import type { AddRequest } from '../add/add-request.ts';
import { collisionsOf } from './import-sources.ts';
import type { ImportEntry } from './import-sources.ts';

/** How a cluster stands before the import; `invalid`: its request cannot be used, or is one of two for it. */
export type PlannedState = Standing['kind'] | 'unreachable' | 'invalid';

/** One line of the plan. */
export interface PlannedCluster {
  readonly name: string;
  readonly id: string;
  readonly state: PlannedState;
  readonly detail: string;
  readonly clusterUid?: string;
  /** Only of what is to be added, or was. */
  readonly request?: AddRequest;
}

const CONCURRENCY_MAX = 8;

/** Looks at all clusters, several at a time. */
export async function planImport(
  entries: readonly ImportEntry[],
  context: AddContext,
): Promise<readonly PlannedCluster[]> {
  const planned = await sideBySide(entries, CONCURRENCY_MAX, (entry) => planOne(entry, context));
  const isLocal = context.stack.stage === 'local';
  return refuseShared(isLocal ? planned : refuseShared(planned, roleOf), clusterOf);
}

/** What two new clusters must not have in common, and how it is called. */
type SharedThing = (plan: PlannedCluster) => {
  readonly key: string | undefined;
  readonly what: string;
};

/** Two contexts may lead to one cluster. */
const clusterOf: SharedThing = ({ clusterUid }) => ({ key: clusterUid, what: 'the same cluster' });
/** Whoever has the role of two clusters could speak for both (S6). */
const roleOf: SharedThing = ({ request }) => ({
  key: request?.senderRoleId ?? request?.watcherRoleArn,
  what: 'the same role',
});

function refuseShared(
  planned: readonly PlannedCluster[],
  thing: SharedThing,
): readonly PlannedCluster[] {
  const keys = planned.map((plan) => (plan.state === 'new' ? thing(plan).key : undefined));
  const shared = collisionsOf(keys.filter((key) => key !== undefined));
  return planned.map((plan, place) => {
    const key = keys[place];
    if (key === undefined || !shared.has(key)) return plan;
    const others = planned.filter((_, other) => other !== place && keys[other] === key);
    const { request: _request, ...rest } = plan;
    const detail = `${thing(plan).what} as ${others.map(({ id }) => id).join(', ')}`;
    return { ...rest, state: 'invalid', detail };
  });
}

async function planOne(entry: ImportEntry, context: AddContext): Promise<PlannedCluster> {
  const { name, id, request } = entry;
  if (request instanceof CommandError) {
    return { name, id, state: 'invalid', detail: request.message };
  }
  try {
    const examined = await examineCluster(request, context);
    examined.connection?.transport.retire();
    const { clusterUid } = examined.facts;
    const standing = standingOf({ id, clusterUid }, await context.registrations());
    const state = standing.kind;
    const line = { name, id, state, clusterUid };
    switch (state) {
      case 'new':
        return { ...line, detail: examined.facts.server, request };
      case 'registered':
        return { ...line, detail: '', request };
      case 'rebuilt':
        return { ...line, detail: `rollcall cluster reset ${id}` };
      case 'elsewhere':
        return { ...line, detail: `registered as ${standing.registration.id}` };
    }
  } catch (error) {
    return { name, id, state: 'unreachable', detail: reasonOf(error) };
  }
}

/** What went wrong, for one line; a bug is thrown on. */
export function reasonOf(error: unknown): string {
  const known = error instanceof CommandError ? error : explainAwsError(error);
  if (known === undefined) throw error;
  return known.message;
}
