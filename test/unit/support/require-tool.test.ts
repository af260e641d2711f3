/** Missing toolchains: an error where CI is set, a skip with the reason elsewhere. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  compareVersions,
  MissingToolError,
  requireTool,
  skipWithoutTools,
  type ToolRequirement,
} from '../../support/require-tool.ts';

const node: ToolRequirement = {
  name: 'Node',
  command: [process.execPath, '--version'],
  versionPattern: /v(\d+(?:\.\d+)*)/,
  versionMin: '20',
  installLine: 'install node',
};
const absent: ToolRequirement = { ...node, name: 'Absent', command: ['no-such-tool-of-rollcall'] };

describe('requireTool', () => {
  it('tells the version of a tool that is there', () => {
    const version = process.versions.node;
    assert.deepEqual(requireTool(node), { status: 'present', version });
  });

  it('calls a tool missing that is absent, too old, unusable or silent', () => {
    const broken: readonly ToolRequirement[] = [
      absent,
      { ...node, versionMin: '999' },
      { ...node, command: [process.execPath, '-e', 'process.exit(3)'] },
      { ...node, command: [process.execPath, '-e', ''] },
    ];
    for (const requirement of broken) {
      const result = requireTool(requirement);
      assert.equal(result.status, 'missing');
      assert.equal(result.installLine, 'install node');
    }
  });
});

describe('skipWithoutTools', () => {
  it('skips nothing if all tools are there', () => {
    assert.equal(skipWithoutTools([node], { CI: 'true' }), false);
  });

  it('gives the reason and the install line outside CI', () => {
    const reason = skipWithoutTools([node, absent], {});
    assert.match(String(reason), /Absent not found: .*; run: install node/);
  });

  it('fails with the install line where CI is set', () => {
    assert.throws(() => skipWithoutTools([absent], { CI: 'true' }), {
      name: MissingToolError.name,
      message: /run: install node/,
    });
  });
});

describe('compareVersions', () => {
  it('compares by number, part by part', () => {
    assert.ok(compareVersions('1.9', '1.26') < 0);
    assert.ok(compareVersions('1.26.8', '1.26') > 0);
    assert.equal(compareVersions('17', '17.0.0'), 0);
  });
});
