/**
 * What Rollcall costs the API server: one DaemonSet is created on many nodes, and everything that the functions asked
 * for meanwhile is judged in counts (request-counts.ts). Where requests are not recorded, the pods that came and went
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
import { judgeTry } from './request-counts.ts';
import { openStage, type Stage } from './stage.ts';

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
