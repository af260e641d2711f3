/** docs/reference.md names every public code, metric, reading and variable of the watcher that the source has. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { processReadings } from '../../../src/adapters/system/prometheus-metrics.ts';
import { epoch } from '../../../src/core/model/identifiers.ts';
import type { Health } from '../../../src/watcher/process/health.ts';
import { watcherReadings } from '../../../src/watcher/process/readings.ts';
import { Vitals } from '../../../src/watcher/process/vitals.ts';
import type { WatcherStatus } from '../../../src/watcher/session/watcher.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** Of a watcher that is in the middle of it, so that every reading is there that can be. */
const STATUS: WatcherStatus = {
  state: 'running',
  epoch: epoch('7'),
  session: {
    phase: 'steady',
    seq: 1,
    marks: {},
    objects: { Node: 0, Pod: 0, DaemonSet: 0, ControllerRevision: 0 },
    waiting: 0,
    sliceCount: 1,
    hasRollout: false,
    lastAcceptedMs: 0,
  },
};
const HEALTH: Health = { notLive: [], notReady: [] };

const ROOT = new URL('../../../', import.meta.url).pathname;
const reference = readFileSync(path.join(ROOT, 'docs/reference.md'), 'utf8');

/** Unions whose members users see: file, and the name of the type. */
const UNIONS: readonly (readonly [string, string])[] = [
  ['src/core/model/verdict.ts', 'Placement'],
  ['src/core/model/verdict.ts', 'PlacementReason'],
  ['src/core/model/verdict.ts', 'NodeCode'],
  ['src/core/model/verdict.ts', 'GuardCode'],
  ['src/core/model/effects.ts', 'RefusalCode'],
  ['src/ports/cluster/cluster-access.ts', 'EgressRefusalReason'],
  ['src/adapters/sqs/schema/refused-body.ts', 'MessageRefusalCode'],
  ['src/adapters/kubeconfig/refusal.ts', 'KubeconfigRefusalCode'],
  ['src/app/ingest/message/result.ts', 'IngestRefusalCode'],
  ['src/app/ingest/message/result.ts', 'LossReason'],
  ['src/app/reconcile/run/result.ts', 'DeferralCode'],
  ['src/app/reconcile/run/result.ts', 'RefusalReason'],
  ['src/engine/engine-refusal.ts', 'EngineRefusalCode'],
];

/** Members of a union that are code texts; `kind` and type names around them are left out. */
function membersOf(file: string, type: string): string[] {
  const source = readFileSync(path.join(ROOT, file), 'utf8');
  const start = source.indexOf(`export type ${type} =`);
  assert.notEqual(start, -1, `${type} is no longer in ${file}`);
  const declaration = source.slice(start).split(/\n\n|\n(?=export )/, 1)[0] ?? '';
  const withoutKinds = declaration.replaceAll(/readonly kind: [^;]*;/g, '');
  return [...withoutKinds.matchAll(/'([A-Za-z-]+)'/g)].map((match) => match[1] ?? '');
}

function metricNames(): string[] {
  const names = new Set<string>();
  for (const file of globSync('{src,functions,packages/*/src}/**/*.ts', { cwd: ROOT })) {
    const source = readFileSync(path.join(ROOT, file), 'utf8');
    for (const match of source.matchAll(/metrics\s*\.(?:count|record)\(\s*'([A-Za-z_]+)'/g)) {
      names.add(match[1] ?? '');
    }
  }
  return [...names];
}

describe('docs/reference.md', () => {
  for (const [file, type] of UNIONS) {
    it(`names every member of ${type}`, () => {
      const members = membersOf(file, type);
      assert.ok(members.length > 0);
      const missing = members.filter((member) => !reference.includes(`\`${member}\``));
      assert.deepEqual(missing, [], `add them to docs/reference.md: ${missing.join(', ')}`);
    });
  }

  it('names every metric, and no other', () => {
    const names = metricNames();
    assert.ok(names.length > 10);
    const missing = names.filter((name) => !reference.includes(`\`${name}\``));
    assert.deepEqual(missing, [], `add them to docs/reference.md: ${missing.join(', ')}`);
    const section = reference.split('## Metrics')[1]?.split('\n## ')[0] ?? '';
    const listed = [...section.matchAll(/^\| (`[^|]+) \|/gm)]
      .flatMap((match) => (match[1] ?? '').split(', '))
      .map((name) => name.replaceAll('`', ''));
    const stale = listed.filter((name) => !names.includes(name));
    assert.deepEqual(stale, [], `remove them from docs/reference.md: ${stale.join(', ')}`);
  });

  it('names every reading and every variable of the watcher', () => {
    const files = globSync('src/adapters/kubernetes/settings/{watch,program}-settings.ts', {
      cwd: ROOT,
    });
    const settings = files.map((file) => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
    const variables = [...settings.matchAll(/'(ROLLCALL_[A-Z_]+)'/g)].map((match) => match[1]);
    assert.ok(new Set(variables).size >= 11);
    const readings = watcherReadings(
      { signs: new Vitals(new VirtualClock()).signs(), status: STATUS, health: HEALTH },
      0,
    );
    const names = [...readings, ...processReadings()].map(({ name }) => name);
    assert.ok(names.length > 20);
    const missing = [...variables, ...names].filter((name) => !reference.includes(`\`${name}\``));
    assert.deepEqual([...new Set(missing)], []);
  });
});
