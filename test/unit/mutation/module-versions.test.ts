/** What is loaded again for a mutant that runs while its module loads. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { ModuleVersions } from '../../mutation/module-versions.ts';

describe('a source that is loaded again', () => {
  let versions = new ModuleVersions();
  beforeEach(() => {
    versions = new ModuleVersions();
    versions.noteLoads('src/a/bounds.ts', 'src/core/text.ts');
    versions.noteLoads('src/a/rule.ts', 'src/a/bounds.ts');
    versions.noteLoads('test/support/world.ts', 'src/a/rule.ts');
    versions.noteLoads('test/rule.test.ts', 'test/support/world.ts');
    versions.noteLoads('test/other.test.ts', 'src/core/text.ts');
    versions.begin(['src/a/bounds.ts']);
  });

  it('takes those with it that load it, by whatever way, and no others', () => {
    const anew = ['src/a/bounds.ts', 'src/a/rule.ts', 'test/support/world.ts', 'test/rule.test.ts'];
    assert.deepEqual(
      [...anew, 'src/core/text.ts', 'test/other.test.ts'].filter((file) => versions.isAnew(file)),
      anew,
    );
  });

  it('is what its own loaders see, and not those that were loaded before', () => {
    const anew = versions.of('test/rule.test.ts');
    assert.equal(versions.of('src/a/bounds.ts', anew), anew);
    assert.equal(versions.of('src/a/bounds.ts', 0), 0);
    assert.equal(versions.of('src/core/text.ts', anew), 0);
  });

  it('goes back to what was there, and never comes again under the same address', () => {
    const first = versions.of('src/a/bounds.ts');
    versions.end();
    assert.equal(versions.of('src/a/bounds.ts'), 0);
    versions.begin(['src/a/bounds.ts']);
    assert.notEqual(versions.of('src/a/bounds.ts'), first);
  });

  it('is replaced for good when everything is loaded again', () => {
    const before = versions.of('src/a/bounds.ts');
    versions.beginAll();
    const kept = versions.of('src/core/text.ts');
    assert.ok(kept > before);
    versions.begin(['src/a/bounds.ts']);
    versions.end();
    assert.equal(versions.of('src/a/bounds.ts'), kept);
  });
});
