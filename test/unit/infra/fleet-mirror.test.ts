// What Argo CD and Flux read off a mirror, by the shipped health script in a real Lua and by the rules of kstatus; and what infra/mirror ships.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { mirrorObject, mirrorStatus } from '../../../src/core/fleet/told/fleet-facts.ts';
import type { FleetRecord } from '../../../src/core/fleet/rollout/fleet-record.ts';
import { goodOf } from '../../support/fleet-records.ts';
import {
  AT_MS,
  BREACH,
  STANDINGS,
  fleetRecord,
  largestRecord,
  standing,
} from '../../support/fleet-record-samples.ts';
import { expectPlainLua, openHealthScript } from '../../support/health-script.ts';
import type { Health, HealthScript } from '../../support/health-script.ts';
import { kstatusOf } from '../../support/kstatus.ts';

const read = (file: string): string =>
  readFileSync(path.join(repositoryRoot, 'infra/mirror', file), 'utf8');
const SCRIPT = read('argocd/health.lua');
const CRD = parse(read('crd.yaml'), { merge: true }) as JsonObject;

/** By sample: what Argo CD shows, what kstatus computes. */
const TABLE: Readonly<Record<string, readonly [string, string]>> = {
  updating: ['Progressing', 'InProgress'],
  soaking: ['Progressing', 'InProgress'],
  next: ['Progressing', 'InProgress'],
  window: ['Progressing', 'InProgress'],
  approval: ['Suspended', 'InProgress'],
  frozen: ['Suspended', 'InProgress'],
  'no-evidence': ['Suspended', 'InProgress'],
  refused: ['Suspended', 'InProgress'],
  invalid: ['Degraded', 'Failed'],
  paused: ['Suspended', 'InProgress'],
  'paused while it rolls': ['Suspended', 'InProgress'],
  halted: ['Degraded', 'Failed'],
  'halted and paused': ['Degraded', 'Failed'],
  'rolling back': ['Degraded', 'InProgress'],
  'rolled back': ['Degraded', 'Failed'],
  undone: ['Degraded', 'Failed'],
  overruled: ['Progressing', 'InProgress'],
  done: ['Healthy', 'Current'],
};

function mirrorOf(record: FleetRecord, generation = 2): JsonObject {
  const at = { former: [], observedGeneration: 2, nowMs: AT_MS };
  const { metadata, ...object } = mirrorObject(record);
  const { status } = mirrorStatus(record, at);
  return { ...object, metadata: { ...(metadata as object), generation }, status: status ?? null };
}

/** One that somebody made, before Rollcall wrote it: with the status that the kind gives it. */
function untouched(): JsonObject {
  const { properties } = schemaOf('openAPIV3Schema') as { readonly properties: JsonObject };
  const status = jsonMember(properties['status'], 'default') ?? null;
  return { metadata: { namespace: 'monitoring', name: 'agent', generation: 1 }, status };
}

function schemaOf(name: string): JsonObject {
  const { versions } = CRD['spec'] as { readonly versions: readonly JsonObject[] };
  return jsonMember(versions[0]?.['schema'], name) as JsonObject;
}

describe('the health script for Argo CD', () => {
  let script: HealthScript;
  before(async () => {
    script = await openHealthScript(SCRIPT);
  });
  after(() => {
    script.close();
  });
  const healthOf = (object: JsonObject): Promise<Health> => script.healthOf(object);

  it('has a row for each sample', () => {
    assert.deepEqual(Object.keys(TABLE).sort(), Object.keys(STANDINGS).sort());
  });

  for (const [name, [expected]] of Object.entries(TABLE)) {
    it(`shows a fleet that is ${name} as ${expected}, and says why`, async () => {
      const { status, message } = await healthOf(mirrorOf(standing(name)));
      assert.equal(status, expected);
      assert.notEqual(message, '');
    });
  }

  it('says of a halted fleet what halted it', async () => {
    assert.equal((await healthOf(mirrorOf(standing('halted')))).message, BREACH.message);
  });

  it('never shows as healthy what was not observed: an older status, none, or half of one', async () => {
    const done = mirrorOf(standing('done'));
    const { status: _status, ...withoutStatus } = done;
    const { spec: _spec, ...withoutSpec } = done;
    const conditions = jsonMember(done['status'], 'conditions') as readonly JsonObject[];
    const without = (type: string): JsonObject => ({
      ...done,
      status: {
        ...(done['status'] as JsonObject),
        conditions: conditions.filter((one) => one['type'] !== type),
      },
    });
    const objects = [
      mirrorOf(standing('done'), 3),
      withoutStatus,
      withoutSpec,
      untouched(),
      { ...done, status: {} },
      without('Ready'),
      without('Succeeded'),
    ];
    for (const object of objects) {
      assert.equal((await healthOf(object)).status, 'Progressing', JSON.stringify(object));
    }
  });

  it('is what the snippet for argocd-cm holds', () => {
    const { data } = parse(read('argocd/argocd-cm.yaml')) as { readonly data: JsonObject };
    assert.equal(data['resource.customizations.health.rollcall.dev_FleetDaemonSet'], SCRIPT);
  });

  it('uses nothing that Lua 5.1 has not', () => {
    expectPlainLua(SCRIPT);
  });
});

describe('a mirror by the rules of kstatus', () => {
  for (const [name, [, expected]] of Object.entries(TABLE)) {
    it(`is ${expected} while the fleet is ${name}`, () => {
      assert.equal(kstatusOf(mirrorOf(standing(name))), expected);
    });
  }

  it('is in progress while the status is of an older release, and before the first', () => {
    assert.equal(kstatusOf(mirrorOf(standing('done'), 3)), 'InProgress');
    assert.equal(kstatusOf(untouched()), 'InProgress');
  });
});

describe('infra/mirror', () => {
  it('has a kind whose schema knows every field that is written, and no other', () => {
    const unknown: string[] = [];
    const known = new Set<string>();
    const walk = (value: Json | undefined, schema: JsonObject | undefined, at: string): void => {
      if (schema === undefined) {
        unknown.push(at);
        return;
      }
      known.add(at);
      if (Array.isArray(value)) {
        for (const item of value as readonly Json[])
          walk(item, schema['items'] as JsonObject | undefined, `${at}[]`);
      } else if (typeof value === 'object' && value !== null) {
        const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
        for (const [name, member] of Object.entries(value)) {
          walk(member, properties[name], `${at}.${name}`);
        }
      }
    };
    const properties = jsonMember(schemaOf('openAPIV3Schema'), 'properties');
    for (const record of [
      ...Object.values(STANDINGS),
      largestRecord(),
      fleetRecord({ good: [goodOf('content', 2)] }),
    ]) {
      const { spec, status } = mirrorOf(record);
      walk(spec, jsonMember(properties, 'spec') as JsonObject, 'spec');
      walk(status, jsonMember(properties, 'status') as JsonObject, 'status');
    }
    assert.deepEqual(unknown, []);
    const written = fieldsOf(jsonMember(properties, 'status') as JsonObject, 'status');
    assert.deepEqual(
      written.filter((field) => !known.has(field)),
      [],
      'declared, and never written',
    );
  });

  it('gives the functions the mirrors and the identity of the cluster, nothing else', () => {
    const rules = parseAllDocuments(read('rbac.yaml'))
      .map(
        (document) =>
          document.toJS() as { kind: string; metadata: { name: string }; rules?: unknown },
      )
      .filter(
        ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'rollcall-mirror',
      );
    assert.deepEqual(rules[0]?.rules, [
      {
        apiGroups: ['rollcall.dev'],
        resources: ['fleetdaemonsets'],
        verbs: ['get', 'create', 'patch', 'delete'],
      },
      { apiGroups: ['rollcall.dev'], resources: ['fleetdaemonsets/status'], verbs: ['patch'] },
      {
        apiGroups: [''],
        resources: ['namespaces'],
        resourceNames: ['kube-system'],
        verbs: ['get'],
      },
    ]);
  });
});

function fieldsOf(schema: JsonObject, at: string): readonly string[] {
  const items = schema['items'] as JsonObject | undefined;
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>;
  return [
    at,
    ...(items === undefined ? [] : fieldsOf(items, `${at}[]`)),
    ...Object.entries(properties).flatMap(([name, member]) => fieldsOf(member, `${at}.${name}`)),
  ];
}
