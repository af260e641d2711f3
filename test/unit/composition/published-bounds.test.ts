/**
 * What the documents publish in numbers is what is deployed (14 A.4): each bound once, in the words of its page.
 *
 * The sentence is composed from the value, so either side that changes alone fails. What such a bound rests on, and what
 * rests on it, is in dependent-bounds.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { CONNECT_TIMEOUT_MS } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { OBJECT_READ_TIMEOUT_MS } from '../../../src/adapters/kubernetes/api/cluster-access.ts';
import {
  DEFAULT_TOKEN_SECONDS,
  TOKEN_SECONDS_MIN,
} from '../../../src/adapters/kubernetes/settings/renew-settings.ts';
import { CROWD_KEYS_MIN } from '../../../src/adapters/sqs/queue-ids.ts';
import { BODY_LENGTH_MAX } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { SNAPSHOT_PATIENCE_MS } from '../../../src/app/checks/judge-view.ts';
import { defaultIngestOptions } from '../../../src/app/ingest/process/dependencies.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { defaultResyncOptions, WALK_RESERVE_MS } from '../../../src/app/resync/dependencies.ts';
import { RETRY_TABLE } from '../../../src/core/retry/retry-table.ts';
import { breakerPolicy } from '../../../src/core/model/breaker.ts';
import {
  FUNCTION_MAX_MS,
  REQUEST_TIMEOUT_MS,
  RUN_MAX_MS,
  requestLifeMs,
} from '../../../src/core/pod/request-life.ts';
import { TOMBSTONE_KEPT_MS } from '../../../src/core/pod/tombstones.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../../src/watcher/session/options.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const KIB = 1024;
const WORDS: Readonly<Record<number, string>> = {
  1: 'one',
  2: 'two',
  3: 'three',
  6: 'six',
  8: 'eight',
  10: 'ten',
};

const seconds = (ms: number): string => String(ms / SECOND_MS);
const minutes = (ms: number): string => String(ms / MINUTE_MS);
const hours = (ms: number): string => String(ms / HOUR_MS);
/** The number in words, as a text has it; a number that nobody has written a word for stays one, and is not found. */
const words = (value: number): string => WORDS[value] ?? String(value);
/** How often something comes. */
const share = (ms: number): string =>
  ms === 15 * MINUTE_MS ? 'every quarter of an hour' : `every ${minutes(ms)} minutes`;

const CODES = 'docs/reference/codes.md';
const SETTINGS = 'docs/reference/settings.md';
const OPERATIONS = 'docs/operations.md';
const PROMISE = 'docs/promise.md';
const SCALE = 'docs/scale.md';
const MODES = 'docs/modes.md';
const LANES = 'docs/adr/0019-clusters-apart.md';
const { flush, lease, heartbeat } = DEFAULT_WATCHER_OPTIONS;
const reconcile = defaultReconcileOptions;

/** A sentence of a document, with the deployed values in it. */
const PUBLISHED: readonly (readonly [file: string, sentence: string])[] = [
  [CODES, `Nothing was heard of the cluster for ${minutes(reconcile.silenceBoundMs)} minutes`],
  [CODES, `of its pods for ${seconds(reconcile.podsFreshMs)} seconds, where a delete`],
  [
    OPERATIONS,
    `nothing was heard of it for ${minutes(defaultResyncOptions.silenceBoundMs)} minutes`,
  ],
  [
    CODES,
    `sent again after ${seconds(RETRY_TABLE.key.firstMs)} s to ${minutes(RETRY_TABLE.key.maxMs)} min`,
  ],
  [CODES, `its limit of ${reconcile.burstPodsMax} creates or deletes`],
  [CODES, `larger than ${BODY_LENGTH_MAX / KIB / KIB} MiB`],
  [SETTINGS, `86,400; default ${DEFAULT_TOKEN_SECONDS.toLocaleString('en-US')}`],
  [SETTINGS, `long a token shall live, ${TOKEN_SECONDS_MIN.toLocaleString('en-US')} to`],
  [PROMISE, `heard of within ${seconds(reconcile.podsFreshMs)} seconds, counted from the`],
  [PROMISE, `name is not used again within ${words(TOMBSTONE_KEPT_MS / MINUTE_MS)} minutes`],
  [PROMISE, `or by resync within ${words(defaultResyncOptions.hintEveryMs / HOUR_MS)} hours`],
  [PROMISE, `comes by itself every ${words(DEFAULT_WATCHER_OPTIONS.snapshotMs / HOUR_MS)} hours`],
  [PROMISE, `cluster that begins to hang adds ${seconds(OBJECT_READ_TIMEOUT_MS)} s, once`],
  [PROMISE, `watcher's Lease (${words(lease.renewMs / SECOND_MS)} seconds)`],
  [SCALE, `look at the due times of ten keys ${share(defaultResyncOptions.overdueEveryMs)}`],
  [SCALE, `hint of every ${words(defaultResyncOptions.hintEveryMs / HOUR_MS)} hours`],
  [SCALE, `| ${seconds(RUN_MAX_MS - WALK_RESERVE_MS)} s of a walk of the directory in a minute`],
  [SCALE, `${words(defaultResyncOptions.concurrentClustersMax)} clusters side by side`],
  [SCALE, `a heartbeat every ${words(heartbeat.idleMs / MINUTE_MS)} minutes`],
  [
    SCALE,
    `waits ${flush.intervalMsPerSlice} ms for each slice that a flush touched, and ${flush.intervalMsPerObject} ms for each object in it, up to ${words(flush.intervalMsMax / SECOND_MS)} seconds`,
  ],
  [SCALE, `A flush every ${flush.intervalMs} ms`],
  [SCALE, `in slow-start batches of at most ${reconcile.burstPodsMax}`],
  ['docs/operations.md', `Runs under way end within ${seconds(RUN_MAX_MS)} s`],
  [MODES, `left behind is watched for ${seconds(lease.durationMs)} s`],
  [MODES, `twice the time-out of a request, ${seconds(requestLifeMs(REQUEST_TIMEOUT_MS))} s`],
  [MODES, `a turn of \`fleet\` may go on for ${seconds(FUNCTION_MAX_MS)} s`],
  [MODES, `waits ${seconds(FUNCTION_MAX_MS + requestLifeMs(REQUEST_TIMEOUT_MS))} s (a turn of`],
  [
    'docs/reference/findings.md',
    `did not come within ${words(SNAPSHOT_PATIENCE_MS / MINUTE_MS)} minutes`,
  ],
  [LANES, `A crowd of hints, more than ${CROWD_KEYS_MIN - 1} sent together`],
  [LANES, `${words(breakerPolicy.failuresToOpen).replace('t', 'T')} failing runs in a row open it`],
  [
    LANES,
    `It is open for ${seconds(breakerPolicy.openFirstMs)} s, doubling to ${seconds(breakerPolicy.openMaxMs)} s`,
  ],
  [LANES, `open within ${words(breakerPolicy.calmMs / MINUTE_MS)} minutes`],
  [
    LANES,
    `Connecting has ${seconds(CONNECT_TIMEOUT_MS)} s, reading one object ${seconds(OBJECT_READ_TIMEOUT_MS)} s, all else ${seconds(REQUEST_TIMEOUT_MS)} s`,
  ],
  [
    'docs/adr/0079-how-changes-travel.md',
    `a heartbeat goes each ${seconds(heartbeat.rolloutMs)} s during a rollout`,
  ],
  [
    'docs/adr/0079-how-changes-travel.md',
    `after the usual deferral of ${seconds(reconcile.deferralMaxMs)} s`,
  ],
  [
    'docs/adr/0024-watcher-process.md',
    `waits up to ${seconds(lease.durationMs)} s for its own Lease`,
  ],
  [
    'docs/operations.md',
    `differed, twice within ${defaultIngestOptions.hashSnapshotEveryMs === HOUR_MS ? 'an hour' : hours(defaultIngestOptions.hashSnapshotEveryMs)}`,
  ],
];

describe('a published bound is the deployed one', () => {
  for (const [file, sentence] of PUBLISHED) {
    const title = sentence.replaceAll('\n', ' ');
    it(`${file}: ${title}`, () => {
      const text = readFileSync(path.join(repositoryRoot, file), 'utf8');
      const isThere = text.replaceAll(/\s+/g, ' ').includes(title);
      assert.ok(isThere, `${file} does not say: ${title}`);
    });
  }
});
