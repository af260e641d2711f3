/** What `--since` of mutation testing takes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { coreFileFor } from '../../mutation/changed-files.ts';

describe('what a change may have weakened', () => {
  it('is a file of the core itself', () => {
    assert.equal(coreFileFor('src/core/model/state.ts'), 'src/core/model/state.ts');
  });

  it('is the file that a changed test mirrors', () => {
    assert.equal(coreFileFor('test/unit/core/plan.test.ts'), 'src/core/plan.ts');
    assert.equal(coreFileFor('test/property/core/plan.test.ts'), 'src/core/plan.ts');
    assert.equal(
      coreFileFor('test/unit/core/model/identifiers.test.ts'),
      'src/core/model/identifiers.ts',
    );
  });

  it('is nothing for what lies elsewhere', () => {
    assert.equal(coreFileFor('src/app/ingest/batch.ts'), undefined);
    assert.equal(coreFileFor('test/unit/app/ingest/batch.test.ts'), undefined);
    assert.equal(coreFileFor('src/core/tsconfig.json'), undefined);
  });
});
