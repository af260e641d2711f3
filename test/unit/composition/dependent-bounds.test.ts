/**
 * Bounds that rest on bounds (14 A.4): who changes one of them learns what counts on it.
 *
 * Each test is one argument that a module makes in words, about values that stand in different layers. The values of the
 * template are held to theirs by test/security/template; what is published, by published-bounds.test.ts.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { CONNECT_TIMEOUT_MS } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { OBJECT_READ_TIMEOUT_MS } from '../../../src/adapters/kubernetes/api/cluster-access.ts';
import { CALL_LIMITS } from '../../../src/adapters/aws/create-client.ts';
import { DEFAULT_TOKEN_SECONDS } from '../../../src/adapters/kubernetes/settings/renew-settings.ts';
import { CUT_AGE_BYTES_MAX, EVENT_BODY_BYTES_MAX } from '../../../src/adapters/sqs/event-queue.ts';
import { ITEM_BODY_BYTES_MAX } from '../../../src/adapters/dynamodb/item-codec.ts';
import { SNAPSHOT_PATIENCE_MS } from '../../../src/app/checks/judge-view.ts';
import { defaultIngestOptions } from '../../../src/app/ingest/process/dependencies.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { defaultResyncOptions, WALK_RESERVE_MS } from '../../../src/app/resync/dependencies.ts';
import { RETRY_TABLE } from '../../../src/core/retry/retry-table.ts';
import { breakerPolicy } from '../../../src/core/model/breaker.ts';
import { REQUEST_TIMEOUT_MS, RUN_MAX_MS } from '../../../src/core/pod/request-life.ts';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';
import { DEFAULT_WATCHER_OPTIONS } from '../../../src/watcher/session/options.ts';
import { RELEASE_MS } from '../../../src/watcher/session/watcher.ts';
import { at, textOf, type ValueMap } from '../../support/template/template.ts';

const service = readYamlFile(path.join(repositoryRoot, 'serverless.yml'));

function functionMs(name: string): number {
  return Number(at(service, 'functions', name, 'timeout')) * 1000;
}

const { heartbeat, lease, listWatch } = DEFAULT_WATCHER_OPTIONS;
const reconcile = defaultReconcileOptions;
/** An API server sends a bookmark about once a minute. */
const BOOKMARK_MS = 60_000;

describe('silence', () => {
  it('is judged alike by who decides and by who tells', () => {
    assert.equal(defaultResyncOptions.silenceBoundMs, reconcile.silenceBoundMs);
  });

  it('is not what a quiet cluster keeps, nor one whose last send had to be repeated (protocol 1)', () => {
    const quietMs = heartbeat.idleMs + 2 * DEFAULT_WATCHER_OPTIONS.sendBackoffCapMs;
    assert.ok(quietMs < reconcile.silenceBoundMs);
  });

  it('of pods is not what a rollout keeps: two beats, or a bookmark, and a message under way (S3)', () => {
    const way = CALL_LIMITS.watcher.requestTimeoutMs;
    assert.ok(2 * heartbeat.rolloutMs + way < reconcile.podsFreshMs);
    assert.ok(BOOKMARK_MS + way < reconcile.podsFreshMs);
  });

  it('of a stream is more than two bookmarks, and noticed twice before the cluster counts as silent', () => {
    assert.ok(2 * BOOKMARK_MS < listWatch.silenceMsMax);
    assert.ok(2 * listWatch.silenceMsMax < reconcile.silenceBoundMs);
  });

  it('of an epoch, which lets an older one back in, is no shorter than its heartbeat', () => {
    assert.ok(defaultIngestOptions.epochSilenceMs >= heartbeat.idleMs);
  });
});

describe('a snapshot', () => {
  it('is asked for again twice before the doctor calls its view stuck (protocol 17)', () => {
    assert.ok(2 * defaultResyncOptions.snapshotRequestEveryMs <= SNAPSHOT_PATIENCE_MS);
    assert.ok(2 * defaultIngestOptions.snapshotRequestEveryMs <= SNAPSHOT_PATIENCE_MS);
  });

  it('that was asked for is seen by the watcher before it is asked for again', () => {
    assert.ok(lease.renewMs < defaultIngestOptions.snapshotRequestEveryMs);
    assert.ok(lease.renewMs < defaultResyncOptions.snapshotRequestEveryMs);
  });

  it('comes by itself as often as every key is looked at (L2)', () => {
    assert.equal(DEFAULT_WATCHER_OPTIONS.snapshotMs, defaultResyncOptions.hintEveryMs);
    assert.equal(reconcile.memoLifeMs, defaultResyncOptions.hintEveryMs);
  });
});

describe('the Lease', () => {
  it('outlasts three renewals that failed', () => {
    assert.ok(3 * lease.renewMs < lease.durationMs);
  });
});

describe('a run of reconcile', () => {
  it('has time for two requests that are never answered, and for recording what came of them (ADR 0019)', () => {
    assert.ok(2 * REQUEST_TIMEOUT_MS + reconcile.recordReserveMs <= RUN_MAX_MS);
  });

  it('has time to record: a call that has to be tried twice', () => {
    const { requestTimeoutMs } = CALL_LIMITS.function;
    assert.ok(2 * requestTimeoutMs < reconcile.recordReserveMs);
  });

  it('gives up connecting before it gives up reading, and reading before a request is dead', () => {
    assert.ok(CONNECT_TIMEOUT_MS < OBJECT_READ_TIMEOUT_MS);
    assert.ok(OBJECT_READ_TIMEOUT_MS < REQUEST_TIMEOUT_MS);
  });
});

describe('an open breaker', () => {
  it('is not calm before resync looks again, so that an API server that flaps is told of (L3)', () => {
    // Its schedule's minute, which the packaged template is held to.
    assert.ok(breakerPolicy.calmMs > 60_000);
  });

  it('outlasts neither the probe of a run that lives as long as it may, nor a timer that hops', () => {
    assert.ok(breakerPolicy.probeMs >= RUN_MAX_MS);
    assert.ok(breakerPolicy.openMaxMs < RETRY_TABLE.key.maxMs);
  });

  it('needs three time-outs of one object, a few seconds: no longer than a cluster may take to come back', () => {
    assert.ok(breakerPolicy.failuresToOpen * OBJECT_READ_TIMEOUT_MS <= RUN_MAX_MS);
    assert.ok(breakerPolicy.calmMs > 2 * breakerPolicy.openMaxMs);
  });
});

describe('a walk of resync', () => {
  it('is over before its function is, and held until then by nobody else (ADR 0034)', () => {
    const walkMs = functionMs('resync') - WALK_RESERVE_MS;
    assert.ok(WALK_RESERVE_MS > CALL_LIMITS.function.requestTimeoutMs);
    assert.equal(walkMs, 25_000);
  });
});

describe('what is installed in a cluster', () => {
  const read = (file: string) => readYamlFile(path.join(repositoryRoot, file));
  const pod = ['spec', 'template', 'spec'] as const;

  it('stops a watcher no sooner than it has given its Lease back (ADR 0024)', () => {
    const graceS = at(
      read('infra/watcher/deployment.yaml'),
      ...pod,
      'terminationGracePeriodSeconds',
    );
    assert.ok(RELEASE_MS * 2 < Number(graceS) * 1000);
  });

  it('takes a watcher for dead that does not answer for a minute, and gives it twice what was measured', () => {
    const container = [...pod, 'containers', 0] as const;
    const deployment = read('infra/watcher/deployment.yaml');
    const { periodSeconds, failureThreshold } = at(
      deployment,
      ...container,
      'livenessProbe',
    ) as ValueMap;
    assert.equal(Number(periodSeconds) * Number(failureThreshold), 60);
    const limit = textOf(at(deployment, ...container, 'resources', 'limits', 'memory'));
    const measured = /at most (\d+) MiB .*; the limit is (\d+) MiB/.exec(
      readFileSync(path.join(repositoryRoot, 'docs/install.md'), 'utf8'),
    );
    assert.ok(measured !== null);
    assert.equal(limit, `${String(measured[2])}Mi`);
    assert.ok(Number.parseInt(limit, 10) >= 2 * Number(measured[1]));
  });

  it('renews a token four times in its life, so that two jobs that fail do no harm (ADR 0023)', () => {
    const cron = read('infra/renewer/cronjob.yaml');
    assert.match(textOf(at(cron, 'spec', 'schedule')), /^\d+ \* \* \* \*$/, 'once an hour');
    const settings = readFileSync(
      path.join(repositoryRoot, 'infra/renewer/configuration.yaml'),
      'utf8',
    );
    const seconds = Number(/ROLLCALL_TOKEN_SECONDS: '(\d+)'/.exec(settings)?.[1]);
    assert.equal(seconds, DEFAULT_TOKEN_SECONDS);
    assert.ok(seconds >= 4 * 3600);
    const jobS = Number(at(cron, 'spec', 'jobTemplate', 'spec', 'activeDeadlineSeconds'));
    const lateS = Number(at(cron, 'spec', 'startingDeadlineSeconds'));
    assert.ok(jobS + lateS < 3600, 'over before the next one');
  });
});

describe('sizes', () => {
  it('of a message leave room for its age beside it, and are what the queue takes', () => {
    assert.equal(DEFAULT_WATCHER_OPTIONS.messageBytesMax, EVENT_BODY_BYTES_MAX);
    assert.equal(EVENT_BODY_BYTES_MAX + CUT_AGE_BYTES_MAX, 256 * 1024);
  });

  it('of one object fit a message uncompressed, and a slice fits an item of 400 KB', () => {
    assert.ok(DEFAULT_WATCHER_OPTIONS.objectBytesMax < DEFAULT_WATCHER_OPTIONS.messageBytesMax);
    assert.ok(ITEM_BODY_BYTES_MAX < 400_000 * 0.8);
  });
});
