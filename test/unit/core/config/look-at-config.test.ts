// One look at the content of a revision: what counts, what changed, and that ignorance changes nothing (ADR 0061).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ABSENT_HASH, hashTogether, scopeOf } from '../../../../src/core/config/content-hash.ts';
import { lookAtConfig } from '../../../../src/core/config/look-at-config.ts';
import type { ConfigInput, ConfigLook } from '../../../../src/core/config/look-at-config.ts';
import type { ConfigObservation, ObservedConfig } from '../../../../src/core/model/projections.ts';
import type { ConfigRecord } from '../../../../src/core/model/rollout-record.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';
import { LOOKED_MS, recordOf } from '../../../support/rollout-records.ts';

const SETTINGS = { kind: 'ConfigMap', name: 'settings' } as const;
const TOKEN = { kind: 'Secret', name: 'token' } as const;
const SETTINGS_A = { ...SETTINGS, hash: 'a' };
const TOKEN_B = { ...TOKEN, hash: 'b' };

function input(changes: Partial<ConfigInput> = {}): ConfigInput {
  return {
    selection: { kind: 'referenced' },
    daemonSet: setWith({ isOptional: false }),
    templateHash: 'new',
    observed: told(SETTINGS_A, TOKEN_B),
    rollout: recordOf(),
    isStaged: true,
    nowMs: LOOKED_MS,
    ...changes,
  };
}

function setWith({ isOptional }: { readonly isOptional: boolean }): ConfigInput['daemonSet'] {
  return daemonSet({
    spec: {
      template: {
        spec: {
          containers: [{ envFrom: [{ configMapRef: { name: 'settings' } }] }],
          volumes: [{ name: 't', secret: { secretName: 'token', optional: isOptional } }],
        },
      },
    },
  });
}

function told(...objects: readonly ConfigObservation[]): ObservedConfig {
  return { key: 'key-1', objects };
}

/** The record after a first look, and the look. */
function first(changes: Partial<ConfigInput> = {}): ConfigLook & { readonly config: ConfigRecord } {
  const look = lookAtConfig(input(changes));
  assert.ok(look.config !== undefined);
  return { ...look, config: look.config };
}

function next(before: ConfigLook, changes: Partial<ConfigInput> = {}): ConfigLook {
  const { rollout, config } = before;
  assert.ok(rollout !== undefined && config !== undefined);
  return lookAtConfig(input({ rollout: { ...rollout, config }, ...changes }));
}

describe('lookAtConfig without a selection', () => {
  it('names the revision by its template alone, and tells nothing', () => {
    assert.deepEqual(lookAtConfig(input({ selection: undefined, rollout: undefined })), {
      config: undefined,
      changed: [],
      problems: [],
      leftOutCount: 0,
      rollout: undefined,
      revision: 'new',
      state: 'off',
    });
  });

  it('drops what a record says of content: turning it off restarts nothing', () => {
    const { rollout, config, revision } = first();
    assert.ok(rollout !== undefined);
    const look = lookAtConfig(input({ selection: undefined, rollout: { ...rollout, config } }));
    assert.equal(rollout.hash, revision);
    assert.equal(look.rollout?.hash, 'new');
    assert.equal(look.rollout.config, undefined);
  });
});

describe('a first look', () => {
  it('takes what it finds as what pods run', () => {
    const look = first();
    const objects = [SETTINGS_A, TOKEN_B];
    assert.deepEqual(look.config, {
      template: 'new',
      key: 'key-1',
      scope: scopeOf('key-1', objects),
      hash: hashTogether(objects),
      baseline: hashTogether(objects),
      objects,
    });
    assert.deepEqual([look.changed, look.problems, look.state], [[], [], 'known']);
  });

  it('names the revision that is rolled out as it is now: turning it on begins no rollout', () => {
    const look = first();
    assert.equal(look.revision, `new+${look.config.hash}`);
    assert.equal(look.rollout?.hash, look.revision);
    assert.equal(look.rollout.startedAtMs, recordOf().startedAtMs);
  });

  it('leaves the record of another template as it is', () => {
    for (const hash of ['old', 'newer', 'newer+x']) {
      const look = first({ rollout: recordOf({ hash }) });
      assert.equal(look.rollout?.hash, hash);
    }
  });

  it('has no record to name where no rollout was', () => {
    assert.equal(first({ rollout: undefined }).rollout, undefined);
  });

  it('knows nothing before the watcher told of a key', () => {
    const unknown = lookAtConfig(input({ observed: undefined }));
    assert.deepEqual(
      [unknown.config, unknown.state, unknown.revision],
      [undefined, 'unknown', 'new'],
    );
    const keyless = lookAtConfig(input({ observed: { objects: [] } }));
    assert.deepEqual(
      [keyless.config, keyless.state, keyless.revision],
      [undefined, 'no-key', 'new'],
    );
  });

  it('counts what is beyond the bound', () => {
    const configMaps = Array.from({ length: 40 }, (_, index) => `m${String(index)}`);
    const selection = { kind: 'listed', configMaps, secrets: [] } as const;
    assert.equal(lookAtConfig(input({ selection })).leftOutCount, 8);
    assert.equal(lookAtConfig(input()).leftOutCount, 0);
  });
});

describe('a later look', () => {
  it('finds the objects whose hash is another one, and keeps the record that is rolled out', () => {
    const before = first();
    const look = next(before, { observed: told({ ...SETTINGS, hash: 'a2' }, TOKEN_B) });
    const hash = hashTogether([{ ...SETTINGS, hash: 'a2' }, TOKEN_B]);
    assert.deepEqual(look.changed, [SETTINGS]);
    assert.deepEqual(look.config?.changed, { atMs: LOOKED_MS, objects: [SETTINGS] });
    assert.deepEqual([look.config.hash, look.config.baseline], [hash, before.config.hash]);
    assert.equal(look.revision, `new+${hash}`);
    assert.equal(look.rollout?.hash, before.revision, 'the revision before is what was rolled out');
  });

  it('remembers the last change while nothing else changes', () => {
    const observed = told({ ...SETTINGS, hash: 'a2' }, TOKEN_B);
    const changed = next(first(), { observed });
    const later = next(changed, { observed, nowMs: LOOKED_MS + 60_000 });
    assert.deepEqual(later.changed, []);
    assert.deepEqual(later.config, changed.config);
  });

  it('changes nothing while an object cannot be read', () => {
    const before = first();
    for (const problem of ['forbidden', 'unread', 'missing'] as const) {
      const look = next(before, { observed: told({ ...SETTINGS, problem }, TOKEN_B) });
      assert.deepEqual(look.config, before.config, problem);
      assert.equal(look.revision, before.revision);
      assert.deepEqual(look.problems, [{ ...SETTINGS, problem }]);
    }
  });

  it('changes nothing while the watcher tells nothing, or has lost its key', () => {
    const before = first();
    const silent = next(before, { observed: undefined });
    assert.deepEqual([silent.config, silent.state], [before.config, 'known']);
    const keyless = next(before, { observed: { objects: [] } });
    assert.deepEqual([keyless.config, keyless.state], [before.config, 'no-key']);
  });

  it('begins anew under another key: hashes of two keys do not compare', () => {
    const before = first();
    const observed = {
      key: 'key-2',
      objects: [
        { ...SETTINGS, hash: 'z' },
        { ...TOKEN, hash: 'y' },
      ],
    };
    const look = next(before, { observed });
    assert.deepEqual([look.changed, look.config?.key], [[], 'key-2']);
    assert.equal(look.config?.baseline, look.config?.hash);
    assert.notEqual(look.revision, before.revision);
    assert.equal(look.rollout?.hash, look.revision, 'renamed, and not rolled out again');
  });

  it('does not take hashes of another key for an object that it cannot read now', () => {
    const look = next(first(), {
      observed: { key: 'key-2', objects: [{ ...SETTINGS, hash: 'z' }] },
    });
    assert.deepEqual(look.config?.objects, [{ ...SETTINGS, hash: 'z' }]);
  });

  it('takes one that becomes known for the first time as what pods run', () => {
    const before = first({ observed: told(SETTINGS_A) });
    const look = next(before, { observed: told(SETTINGS_A, TOKEN_B) });
    assert.deepEqual(look.changed, []);
    assert.equal(look.config?.baseline, look.config?.hash);
    assert.equal(look.rollout?.hash, look.revision, 'renamed, and not rolled out again');
  });

  it('rolls out a template that changes together with content as a new revision', () => {
    const before = first();
    const look = next(before, {
      templateHash: 'newer',
      observed: told({ ...SETTINGS, hash: 'a2' }, TOKEN_B),
    });
    assert.equal(look.config?.template, 'newer');
    assert.equal(look.rollout?.hash, before.revision);
    assert.notEqual(look.revision, before.revision);
  });
});

describe('content that pods do without', () => {
  const optional = setWith({ isOptional: true });

  it('counts as absent while it is missing, which is no problem', () => {
    const missing = { ...TOKEN, problem: 'missing' } as const;
    const look = first({ daemonSet: optional, observed: told(SETTINGS_A, missing) });
    assert.deepEqual(look.config.objects, [SETTINGS_A, { ...TOKEN, hash: ABSENT_HASH }]);
    assert.deepEqual(look.problems, []);
  });

  it('is not absent because it may not be read', () => {
    const forbidden = { ...TOKEN, problem: 'forbidden' } as const;
    const look = first({ daemonSet: optional, observed: told(SETTINGS_A, forbidden) });
    assert.deepEqual(look.config.objects, [SETTINGS_A]);
    assert.deepEqual(look.problems, [forbidden]);
  });

  it('is no content where a pod needs it and it is missing', () => {
    const missing = { ...TOKEN, problem: 'missing' } as const;
    const look = first({ observed: told(SETTINGS_A, missing) });
    assert.deepEqual(look.config.objects, [SETTINGS_A]);
    assert.deepEqual(look.problems, [missing]);
  });
});

describe('problems of objects', () => {
  it('are told of those that count alone', () => {
    const other = { kind: 'Secret', name: 'other', problem: 'forbidden' } as const;
    const look = first({ observed: told(SETTINGS_A, TOKEN_B, other) });
    assert.deepEqual(look.problems, []);
  });
});

describe('where pods are not made by Rollcall', () => {
  it('reports what changed, and stages nothing', () => {
    const before = first({ isStaged: false });
    assert.equal(before.revision, 'new');
    assert.equal(before.rollout?.hash, 'new');
    const observed = told({ ...SETTINGS, hash: 'a2' }, TOKEN_B);
    const look = next(before, { isStaged: false, observed });
    assert.deepEqual(look.changed, [SETTINGS]);
    assert.equal(look.revision, 'new');
    assert.equal(look.config?.baseline, look.config?.hash, 'ages tell what pods began with');
  });
});
