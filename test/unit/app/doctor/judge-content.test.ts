/** What the doctor says of content that policies have in their revisions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContentFact } from '../../../../src/app/doctor/facts.ts';
import { checked, unchecked } from '../../../../src/app/doctor/finding.ts';
import { judgeContent } from '../../../../src/app/doctor/judge-content.ts';

const told = (changes: Partial<ContentFact> = {}): ContentFact => ({
  name: 'ops/agent',
  state: 'told',
  objects: [],
  ...changes,
});

describe('the content of revisions', () => {
  it('is nothing where no policy asks for it, in order where all is read, and unknown where nobody could look', () => {
    assert.deepEqual(judgeContent({ content: checked([]) }), []);
    const [fine, ...more] = judgeContent({ content: checked([told(), told()]) });
    assert.equal(fine?.code, 'content-ok');
    assert.match(fine.seen, /^2 DaemonSets/);
    assert.deepEqual(more, []);
    const [unknown] = judgeContent({ content: unchecked('the view cannot be read') });
    assert.equal(unknown?.level, 'unknown');
  });

  it('tells of each thing that is wrong by itself, with objects and DaemonSets by name, five at most', () => {
    const objects = Array.from({ length: 7 }, (_, at) => ({
      text: `Secret token-${String(at)}`,
      trouble: 'forbidden' as const,
    }));
    const gone = { text: 'ConfigMap settings', trouble: 'missing' as const };
    const found = judgeContent({
      content: checked([
        told({ state: 'no-key' }),
        told({ name: 'ops/cni', objects: [...objects, gone] }),
      ]),
    });
    assert.deepEqual(
      found.map(({ code }) => code),
      ['content-no-key', 'content-forbidden', 'content-missing'],
    );
    assert.match(found[1]?.seen ?? '', /Secret token-4 of ops\/cni and 2 more$/);
    assert.match(found[2]?.seen ?? '', /ConfigMap settings of ops\/cni$/);
  });
});
