/** What clusters and the stack cost: arithmetic over counts, and constants that are declared elsewhere. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readService } from '@rollcall/local-aws/template/service.ts';
import { repositoryRoot } from '../../../../scripts/lib/run-tool.ts';
import {
  addMessage,
  addRun,
  messagesCounted,
  runsCounted,
} from '../../../../src/core/cost/counted.ts';
import { clusterMonth, totalOfMonth } from '../../../../src/core/cost/month.ts';
import {
  ALARM_METRICS,
  FUNCTION_MEGABYTES,
  STACK_DOLLARS,
} from '../../../../src/core/cost/stack-price.ts';

const NOW_MS = 20_000 * 86_400_000;
const DAY_HOURS = 24;
const NO_RUNS = { looks: 0, lookMs: 0, acts: 0, actMs: 0 };

describe('counted', () => {
  it('tells messages and what they changed', () => {
    const days = addMessage(addMessage(undefined, { atMs: NOW_MS, sliceUnits: 4 }), {
      atMs: NOW_MS,
      sliceUnits: 0,
    });
    assert.deepEqual(messagesCounted(days, NOW_MS)?.counts, { messages: 2, sliceUnits: 4 });
  });

  it('counts a run once, by its first write, and its time by each', () => {
    const part = { atMs: NOW_MS, durationMs: 10 } as const;
    let days = addRun(undefined, { ...part, kind: 'act', part: 'first' });
    days = addRun(days, { ...part, kind: 'act', part: 'further', durationMs: 30.4 });
    days = addRun(days, { ...part, kind: 'look', part: 'first' });
    assert.deepEqual(runsCounted(days, NOW_MS)?.counts, {
      ...{ looks: 1, lookMs: 10, acts: 1, actMs: 40 },
    });
  });
});

describe('clusterMonth', () => {
  it('is a month at the pace of the hours that were counted', () => {
    const messages = { counts: { messages: 24, sliceUnits: 0 }, hours: DAY_HOURS };
    const runs = [{ counts: { ...NO_RUNS, looks: 48 }, hours: 2 * DAY_HOURS }];
    const month = clusterMonth({ messages, runs, daemonSets: 1 });
    assert.deepEqual([month.messages, month.runs, month.hours], [730, 730, 2 * DAY_HOURS]);
  });

  it('takes less than an hour for one: a burst is no month', () => {
    const messages = { counts: { messages: 10, sliceUnits: 0 }, hours: 0.01 };
    assert.equal(clusterMonth({ messages, runs: [], daemonSets: 1 }).messages, 7_300);
  });

  it('knows what resync takes where nothing was counted', () => {
    const { dollars, hours } = clusterMonth({ messages: undefined, runs: [], daemonSets: 0 });
    assert.equal(hours, 0);
    assert.deepEqual(
      { ...dollars, idle: 0 },
      { messages: 0, changes: 0, acts: 0, looks: 0, idle: 0 },
    );
    assert.ok(dollars.idle > 0 && dollars.idle < 0.01);
  });

  it('costs more with more of anything, and never less than nothing', () => {
    const count = fc.nat({ max: 1e6 });
    const counts = fc.record({ messages: count, sliceUnits: count });
    const runs = fc.record({ looks: count, lookMs: count, acts: count, actMs: count });
    fc.assert(
      fc.property(counts, runs, fc.nat({ max: 200 }), (heard, ran, daemonSets) => {
        const priced = (extra: number): number =>
          totalOfMonth(
            clusterMonth({
              messages: { counts: { ...heard, messages: heard.messages + extra }, hours: 100 },
              runs: [{ counts: { ...ran, acts: ran.acts + extra }, hours: 100 }],
              daemonSets,
            }),
          );
        assert.ok(priced(0) > 0 && priced(1) > priced(0));
      }),
    );
  });
});

describe('the price of a stack', () => {
  it('is of the metrics that the deployed alarms look at, a query counted as one', () => {
    let metrics = 0;
    for (const file of ['clusters', 'functions', 'queues']) {
      const text = readFileSync(path.join(repositoryRoot, `infra/alarms/${file}.yml`), 'utf8');
      metrics += [...text.matchAll(/^ +(?:MetricName:|Expression: SELECT )/gm)].length;
    }
    assert.equal(metrics, ALARM_METRICS);
  });

  it('is of the memory that serverless.yml declares', () => {
    const { functions } = readService(path.join(repositoryRoot, 'serverless.yml'), 'prod');
    for (const [name, megabytes] of Object.entries(FUNCTION_MEGABYTES)) {
      const declared = functions.find((each) => each.name === name);
      assert.equal(declared?.memoryMegabytes, megabytes, name);
    }
  });

  it('is some thirty dollars, as docs/scale.md says', () => {
    const total = Object.values(STACK_DOLLARS).reduce((sum, part) => sum + part, 0);
    assert.ok(total > 30 && total < 31.5, String(total));
  });
});
