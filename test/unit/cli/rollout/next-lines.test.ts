/** The commands that a halt or a wait proposes are ones that there are, with their options. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { nextLines } from '../../../../src/cli/rollout/render-status.ts';
import { COMMANDS } from '../../../../src/cli/commands.ts';
import { nextStepsOf } from '../../../../src/core/status/next-steps.ts';
import type { NextHome, NextSubject } from '../../../../src/core/status/next-steps.ts';
import { PHASES } from '../../../../src/core/rollout/gate-words.ts';

const HOMES: readonly NextHome[] = [
  { kind: 'rollout', cluster: 'a', key: 'ops/agent', mode: 'takeover' },
  { kind: 'rollout', cluster: 'a', key: 'ops/agent', mode: 'copilot', fleet: 'ops/agent' },
  { kind: 'fleet', key: 'ops/agent' },
];
const CAUSES = [
  'StartFailure',
  'NodesFailed',
  'ApiServerSlow',
  'KnownBad',
  'ReturnFailed',
] as const;
const FLEET_CAUSES = ['ClustersFailed', 'ClustersSilent', 'NodesFailed', 'KnownBad'] as const;

function* proposed(): Generator<string> {
  for (const home of HOMES) {
    for (const cause of home.kind === 'fleet' ? FLEET_CAUSES : CAUSES) {
      for (const kind of Object.keys(PHASES)) {
        const gate = { kind, cluster: 'a', fleet: 'ops/agent', stepIndex: 1 };
        const breach = { cause, members: ['m'], isOfPlace: false };
        // Every kind with every cause: more than the types allow.
        const subject = { home, gate, breach, back: 'revision x', orders: {} };
        for (const { command } of nextStepsOf(subject as unknown as NextSubject)) yield command;
      }
    }
  }
}

function problemOf(line: string): string | undefined {
  const words = line.split(' ').slice(1);
  const module = COMMANDS.find(({ path }) => path.every((word, at) => words[at] === word));
  if (module === undefined) return `no command: ${line}`;
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  module.configure(command);
  try {
    command.parse(words.slice(module.path.length), { from: 'user' });
    return undefined;
  } catch (error) {
    return `${line}: ${String(error)}`;
  }
}

describe('next steps', () => {
  it('are commands that there are', () => {
    const lines = [...new Set(proposed())].filter((line) => line.startsWith('rollcall '));
    assert.ok(lines.length > 12, lines.join('\n'));
    assert.deepEqual(
      lines.map(problemOf).filter((problem) => problem !== undefined),
      [],
    );
  });

  it('are lines to copy, and steer no terminal', () => {
    const steps = [
      { command: 'rollcall log', about: 'look' },
      { command: 'rollcall log a', about: 'at\u001b[2Jit' },
    ];
    assert.deepEqual(nextLines(steps), [
      'next:',
      '  rollcall log    # look',
      '  rollcall log a  # at [2Jit',
    ]);
    assert.deepEqual(nextLines([]), []);
  });
});
