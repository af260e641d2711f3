/** What counts as killed: planted bugs in a small repository, and its tests really run. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { judgeRun, type Judgement } from '../../mutants/judge-run.ts';
import { tryBug } from '../../mutants/try-bug.ts';

const SOURCE = 'export const value: number = 1;\n';
const TEST = `import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { beforeEach, describe, it } from 'node:test';
import { value } from './value.ts';
describe('the value', () => {
  it('is one', () => { assert.equal(value, 1); });
  it('is below ten', () => { assert.ok(value < 10); });
  it('needs a tool', { skip: true }, () => undefined);
});
describe('after a hook', () => {
  beforeEach(() => { if (value === 2) throw new Error('no hook'); });
  it('begins', () => undefined);
});
it('stands in settings.yml', () => { assert.match(readFileSync('settings.yml', 'utf8'), /value: 1/); });
`;

describe('tryBug', () => {
  let directory = '';
  let copy = '';

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-try-bug-'));
    copy = path.join(directory, 'repository');
    mkdirSync(copy);
    writeFileSync(path.join(copy, 'value.ts'), SOURCE);
    writeFileSync(path.join(copy, 'settings.yml'), 'value: 1\n');
    writeFileSync(path.join(copy, 'value.test.ts'), TEST);
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const trial = async (title: string, to: string, at = 'value.ts#value'): Promise<Judgement> => {
    const groups: boolean[] = [];
    const judgement = await tryBug(
      {
        bug: 'another value',
        at,
        to,
        killedBy: `value.test.ts: ${title}`,
      },
      {
        directory: copy,
        timeoutMs: 60_000,
        signal: new AbortController().signal,
        onGroup: ({ isAlive }) => groups.push(isAlive),
      },
    );
    assert.deepEqual(groups, [true, false]);
    assert.equal(readFileSync(path.join(copy, 'value.ts'), 'utf8'), SOURCE);
    assert.ok(!existsSync(path.join(directory, 'tmp')));
    return judgement;
  };

  const assertSurvived = (judgement: Judgement, why: RegExp): void => {
    assert.equal(judgement.kind, 'survived');
    assert.match(judgement.kind === 'survived' ? judgement.why : '', why);
  };

  it('calls a bug killed when its test fails, or one in a suite of that title', async () => {
    assert.deepEqual(await trial('is one', '2'), { kind: 'killed' });
    assert.deepEqual(await trial('the value', '20'), { kind: 'killed' });
  });

  it('plants in what is no program alike', async () => {
    assert.deepEqual(await trial('settings.yml', '2', 'settings.yml#value'), { kind: 'killed' });
  });

  it('calls it survived when its test passes, whatever others do', async () => {
    assertSurvived(await trial('is below ten', '3'), /1 of its tests passed/);
  });

  it('does not take a file that cannot be loaded for a failed test', async () => {
    assertSurvived(await trial('is one', ''), /did not load/);
  });

  it('does not take a hook that fails, or a time-out, for a failed test', async () => {
    assertSurvived(await trial('begins', '2'), /did not come to its end: no hook/);
    assertSurvived(judgeRun({ kind: 'time-out', afterMs: 3000 }, 'begins'), /time-out after 3 s/);
  });

  it('does not take a skipped test, or none, for a failed one', async () => {
    assertSurvived(await trial('needs a tool', '2'), /skipped/);
    assertSurvived(await trial('is two', '2'), /no test of that title ran/);
  });
});
