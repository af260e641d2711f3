// No decision reads the log: in the core only its own room looks at the entries of a state.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { it } from 'node:test';

it('no room of the core but its own reads the log of a state', () => {
  const files = globSync('src/core/**/*.ts').filter((file) => !file.startsWith('src/core/log/'));
  assert.ok(files.length > 100);
  const readers = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    const isReading = /(?<!\bMath)\.log\b|[{,]\s*log\s*[,:}=]/.test(text);
    const isImporting = /from '[./]*\/log\//.test(text);
    return isReading || isImporting;
  });
  assert.deepEqual(readers, []);
});
