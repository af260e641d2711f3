/**
 * What Rollcall costs the API server: one DaemonSet is created on many nodes, and everything that the functions asked
 * for meanwhile is judged in counts. Where requests are not recorded, the pods that came and went
 * are counted by the witness all the same.
 */
import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import { countBy, type AuditRecord } from '../control-plane/audit.ts';
import { plainNodes } from '../control-plane/nodes.ts';
import { countEligibleNodes } from '../control-plane/observer.ts';
import { removeAll } from '../rollouts/rolled.ts';
import { describeOnBackend } from './backends.ts';
import { daemonSetPath, testDaemonSet } from './daemon-set.ts';
import {
  daemonSetUid,
  expectNoDoublePlacement,
  expectPodsOn,
  expectStatus,
} from './expectations.ts';
import { openStage, type Stage } from './stage.ts';

/** What the functions asked for while one DaemonSet was made; events are left out. */
interface Try {
  readonly nodesCount: number;
  readonly requests: readonly AuditRecord[];
}

/** `again`: the view was behind, and what was read says nothing. */
type TryVerdict =
  | { readonly kind: 'passed' | 'again' }
  | { readonly kind: 'failed'; readonly why: readonly string[] };

/** For each pod, with all that is asked besides, such as status writes and a look at the DaemonSet for each batch. */
const REQUESTS_PER_POD_MAX = 1.1;
/** Of a small DaemonSet that is more than a tenth: batches and statuses do not become fewer in proportion. */
const BESIDES_MAX = 40;

function judgeTry(made: Try, tries: { readonly left: number }): TryVerdict {
  const writes = findWrongWrites(made);
  if (writes.length > 0) return { kind: 'failed', why: writes };
  const lagged = made.requests.filter(isLiveRead);
  if (lagged.length > 0 && tries.left > 0) return { kind: 'again' };
  const why = [
    ...(lagged.length > 0
      ? [`${String(lagged.length)} live reads: the view lagged in each try`]
      : []),
    ...findWrongReads(made),
  ];
  return why.length > 0 ? { kind: 'failed', why } : { kind: 'passed' };
}

function findWrongWrites({ nodesCount, requests }: Try): readonly string[] {
  const created = requests.filter((one) => isCreate(one) && one.code < 300);
  const deletes = requests.filter(({ verb, resource }) => verb === 'delete' && resource === 'pods');
  const writes = requests.filter(({ verb }) => !READING.has(verb));
  return [
    ...(created.length === nodesCount ? [] : [`${String(created.length)} pods were created`]),
    ...(deletes.length === 0 ? [] : [`${String(deletes.length)} pods were deleted`]),
    ...(writes.length <= requestsMax(nodesCount) ? [] : [`${String(writes.length)} writes`]),
  ];
}

function findWrongReads({ nodesCount, requests }: Try): readonly string[] {
  const lists = requests.filter(
    ({ verb, resource }) => verb === 'list' && (resource === 'nodes' || resource === 'pods'),
  );
  const firstCreateAtMs = Math.min(...requests.filter(isCreate).map((one) => one.receivedAtMs));
  const isEarlyListOfPods = ({ resource, completedAtMs }: AuditRecord): boolean =>
    resource === 'pods' && completedAtMs <= firstCreateAtMs;
  const uris = lists.map(({ requestUri }) => requestUri).join(' ');
  // One (protocol 9); a second where the first run lost the lock before it created anything.
  const isRight = (lists.length === 1 || lists.length === 2) && lists.every(isEarlyListOfPods);
  return [
    ...(isRight ? [] : [`LISTs other than one before the first pods: ${uris}`]),
    ...(requests.length <= requestsMax(nodesCount)
      ? []
      : [`${String(requests.length)} requests for ${String(nodesCount)} pods`]),
  ];
}

/** How many requests that many pods may cost. */
function requestsMax(nodesCount: number): number {
  return nodesCount + Math.max(BESIDES_MAX, Math.round(nodesCount * (REQUESTS_PER_POD_MAX - 1)));
}

const READING = new Set(['get', 'list', 'watch']);

function isCreate({ verb, resource }: AuditRecord): boolean {
  return verb === 'create' && resource === 'pods';
}

/** Nothing is deleted here, so pods and nodes are read one by one only where the view is not believed. */
function isLiveRead({ verb, resource }: AuditRecord): boolean {
  return verb === 'get' && (resource === 'pods' || resource === 'nodes');
}

/** Plays and judges; where the view was behind it may be tried so often in all. */
export type PlayRequests = (
  context: TestContext,
  options: { readonly triesMax: number },
) => Promise<void>;

interface Made {
  /** Undefined where requests are not recorded. */
  readonly requests: readonly AuditRecord[] | undefined;
  readonly podsSeen: number;
  readonly podsGone: number;
}

const FUNCTIONS_USER = 'system:serviceaccount:rollcall-system:rollcall-functions';
const SUITE_TIMEOUT_MS = 1_700_000;

/** Sets the stage on each backend; the test itself, with its title, is the caller's. */
export function describeRequests(nodesCount: number, define: (play: PlayRequests) => void): void {
  const title = `one DaemonSet on ${nodesCount.toLocaleString('en')} nodes`;
  describeOnBackend(title, { timeout: SUITE_TIMEOUT_MS }, (backend) => {
    let stage: Stage;

    before(async () => {
      const nodes = plainNodes(nodesCount);
      stage = await openStage({ backend, name: 'scenario-requests', nodes });
    });
    after(async () => {
      await (stage as Stage | undefined)?.close();
    });
    define(async (context, { triesMax }) => {
      await stage.observer.waitUntil((observer) => countEligibleNodes(observer) === nodesCount, {
        deadlineMs: 240_000,
        description: 'all nodes untainted',
      });
      for (let left = triesMax - 1; ; left -= 1) {
        const kind = await tryOnce(
          {
            stage,
            nodesCount,
            say: (text) => {
              context.diagnostic(text);
            },
          },
          left,
        );
        if (kind === 'passed') break;
        context.diagnostic(
          `the view lagged: ${String(left)} of ${String(triesMax)} tries are left`,
        );
        await removeAll(stage);
      }
      expectNoDoublePlacement(stage);
    });
  });
}

interface Setting {
  readonly stage: Stage;
  readonly nodesCount: number;
  readonly say: (text: string) => void;
}

/** Throws where something is wrong, whatever the view was like. */
async function tryOnce(
  { stage, nodesCount, say }: Setting,
  left: number,
): Promise<'passed' | 'again'> {
  const name = `everywhere-${String(left)}`;
  const { requests, podsSeen, podsGone } = await createEverywhere(stage, name, nodesCount);
  assert.deepEqual({ podsSeen, podsGone }, { podsSeen: nodesCount, podsGone: 0 });
  if (requests === undefined) {
    say('requests are not recorded here: only pods were counted');
    return 'passed';
  }
  const text = `${String(requests.length)} requests: ${describeCounts(requests)}`;
  say(text);
  const verdict = judgeTry({ nodesCount, requests }, { left });
  assert.ok(verdict.kind !== 'failed', `${JSON.stringify(verdict)} ${text}`);
  return verdict.kind;
}

function describeCounts(requests: readonly AuditRecord[]): string {
  const byVerb = countBy(
    requests,
    ({ verb, resource, subresource }) => `${verb} ${resource}/${subresource}`,
  );
  return JSON.stringify(Object.fromEntries(byVerb));
}

/** Creates one, waits until it has settled, and answers what was asked for and what came of it meanwhile. */
async function createEverywhere(stage: Stage, name: string, nodesCount: number): Promise<Made> {
  const { observer, cluster } = stage;
  const sinceMs = Date.now();
  const fromEvent = observer.events.length;
  await stage.admin.post(daemonSetPath({}), testDaemonSet({ name }));
  const uid = await daemonSetUid(stage, { namespace: 'default', name });
  const nodes = plainNodes(nodesCount).map(({ metadata }) => metadata.name);
  await expectPodsOn(stage, uid, { nodes, deadlineMs: 300_000 });
  await expectStatus(stage, uid, { numberAvailable: nodesCount });
  await observer.waitUntilQuiet({ quietMs: 3000, deadlineMs: 60_000 });
  const own = observer.events
    .slice(fromEvent)
    .filter(({ record }) => record.kind === 'Pod' && record.daemonSetUid === uid);
  const uidsOf = (isOne: (event: (typeof own)[number]) => boolean): number =>
    new Set(own.filter(isOne).map(({ record }) => record.uid)).size;
  return {
    podsSeen: uidsOf(() => true),
    podsGone: uidsOf(
      ({ type, record }) => type === 'DELETED' || (record.kind === 'Pod' && record.isDeleting),
    ),
    requests: await cluster.readAudit?.({
      user: FUNCTIONS_USER,
      sinceMs,
      where: ({ resource }) => resource !== 'events',
    }),
  };
}
