/** What `--since` of mutation testing takes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { areaNamed } from '../../mutation/areas.ts';
import { sourceFor } from '../../mutation/changed-files.ts';

const core = areaNamed('core');
const watcher = areaNamed('watcher');

describe('what a change may have weakened', () => {
  it('is a file of the core itself', () => {
    assert.equal(sourceFor('src/core/model/state.ts', core), 'src/core/model/state.ts');
  });

  it('is the file that a changed test mirrors', () => {
    assert.equal(sourceFor('test/unit/core/plan/plan.test.ts', core), 'src/core/plan/plan.ts');
    assert.equal(sourceFor('test/property/core/plan/plan.test.ts', core), 'src/core/plan/plan.ts');
    assert.equal(
      sourceFor('test/unit/core/model/identifiers.test.ts', core),
      'src/core/model/identifiers.ts',
    );
  });

  it('is a file of the area that was asked for, without the entries of programs', () => {
    assert.equal(sourceFor('src/watcher/lease/lease.ts', watcher), 'src/watcher/lease/lease.ts');
    assert.equal(
      sourceFor('test/unit/watcher/outbox/sending.test.ts', watcher),
      'src/watcher/outbox/sending.ts',
    );
    assert.equal(sourceFor('src/watcher/main.ts', watcher), undefined);
    assert.equal(sourceFor('src/core/plan/plan.ts', watcher), undefined);
  });

  it('is nothing for what lies elsewhere', () => {
    assert.equal(sourceFor('src/app/ingest/batch.ts', core), undefined);
    assert.equal(sourceFor('test/unit/app/ingest/batch.test.ts', core), undefined);
    assert.equal(sourceFor('src/core/tsconfig.json', core), undefined);
  });
});
