/** Citations: which numbers a document has, and which mentions of them lead nowhere. */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { anchorsOf, checkCitations } from '../../../../scripts/tidy/citations.ts';
import type { Repository } from '../../../../scripts/tidy/repository.ts';

const TABLE = [
  '| `protocol 4` | [protocol.md](../protocol.md) | rules |',
  '| `row 2`, `faults 2` | [faults.md](faults.md) | rows |',
  '| `S1` | [promise.md](../promise.md) | promises |',
  '| `A.7`, `14 A.5` | [findings.md](findings.md) | findings |',
  '| `ADR 0030` | [adr/](../adr/README.md) | decisions |',
].join('\n');

const DOCUMENTS = {
  'docs/spec/README.md': TABLE,
  'docs/protocol.md': '# Rules\n### 1. One\n### 4. Four\n### 5. Five\n',
  'docs/spec/faults.md': '## 7. Upstream\n| 1 | crash |\n| 2 | stale |\n',
  'docs/promise.md': '| **S1** | one pod |\n',
  'docs/spec/findings.md': '| A.7 | names |\n| 14 A.5 | bounds |\n',
  'docs/adr/README.md': '| 0030 | names |\n',
};

function findingsOf(text: string, path = 'src/a.ts'): readonly string[] {
  const files = Object.entries({ ...DOCUMENTS, [path]: text }).map(([name, content]) => ({
    path: name,
    text: content,
  }));
  const repository: Repository = { directory: '/', files, sources: [] };
  return checkCitations(repository).map((found) => `${found.line} ${found.message}`);
}

describe('numbers of a document', () => {
  it('begin headings, items of lists in their chapter, steps of items, and rows of tables', () => {
    const text =
      '## 2.3 One\n## 3. Two\n### Steps\n1. a\n2. b\n   - c. d\n## Loose\n4. e\n| **S1** | f |\n';
    const { chapters, rows } = anchorsOf(text);
    assert.deepEqual([...chapters], ['2.3', '3', '3.1', '3.2', '3.2c', '4']);
    assert.deepEqual([...rows], ['S1']);
  });

  it('do not begin a chapter that is one of a list without number', () => {
    assert.deepEqual([...anchorsOf('## The loop\n4. a\n   - c. d\n').chapters], ['4', '4c']);
  });
});

describe('citations', () => {
  for (const text of [
    'protocol 4',
    'protocol 4, 5',
    'protocol 4–5',
    'protocol.md rule 4',
    'rows 1, 2 and S1',
    'spec faults 2',
    'faults §7',
    'A.7, and 14 A.5',
    'ADR 0030',
    'row 2, #14528',
    '5 protocols',
    'an arrow 9',
    'the S3-compatible store',
  ]) {
    it(`lead somewhere: ${text}`, () => {
      assert.deepEqual(findingsOf(text), []);
    });
  }

  for (const [text, finding] of [
    ['protocol 6', '1 docs/protocol.md has no 6'],
    ['protocol 4, 6', '1 docs/protocol.md has no 6'],
    ['a\n * protocol\n * 6', '2 docs/protocol.md has no 6'],
    ['rows 1 and 3', '1 docs/spec/faults.md has no 3'],
    ['faults §2', '1 docs/spec/faults.md has no §2'],
    ['(S9)', '1 docs/promise.md has no S9'],
    ['A.8', '1 docs/spec/findings.md has no A.8'],
    ['13 A.7', '1 docs/spec/findings.md has no 13 A.7'],
    ['ADR 0031', '1 docs/adr/README.md has no 0031'],
    ['spec worlds-of-others 3', '1 there is no specification worlds-of-others'],
    ['../shared/spec/faults.md', '1 a document outside of the repository'],
    ['shared/design.md', '1 a document outside of the repository'],
    ['docs/lost.md', '1 docs/lost.md does not exist'],
  ] as const) {
    it(`lead nowhere: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(findingsOf(text), [finding]);
    });
  }

  it('leave modules of a folder with that name alone', () => {
    assert.deepEqual(findingsOf("import { a } from '../shared/names.ts';"), []);
  });

  it('of a form that the table cannot mean are told', () => {
    const path = 'docs/spec/README.md';
    const text = `${TABLE}\n| \`see below\` | [faults.md](faults.md) | ? |`;
    assert.deepEqual(findingsOf(text, path), ['6 cannot read see below']);
  });
});
