/** A terminal as a picture, and the picture of README.md. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { renderTerminal } from '../../../scripts/lib/terminal-svg.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';

describe('a terminal as a picture', () => {
  it('shows each line in its colours, and its markup as text', () => {
    const svg = renderTerminal('one', ['\u001b[31mHalted\u001b[0m <now> & here', '']);
    assert.match(svg, /<tspan fill="#ff7b72">Halted<\/tspan> &lt;now&gt; &amp; here<\/text>/);
    assert.equal(svg.split('<text ').length, 2);
  });

  it('wraps a long line at a space, and indents the rest', () => {
    const svg = renderTerminal('one', [`${'word '.repeat(30)}end`]);
    assert.match(svg, />(?:word ){22}<\/text>\n<text [^>]+> {4}(?:word ){8}end</);
  });
});

describe('docs/bad-release.svg', () => {
  const svg = readFileSync(path.join(repositoryRoot, 'docs/bad-release.svg'), 'utf8');

  it('shows a release that halts in its first cluster, and the way back', () => {
    for (const words of ['ClustersFailed', 'local-3  early   waiting', 'Returned', 'fleet undo']) {
      assert.ok(svg.includes(words), words);
    }
  });
});
