/**
 * Process-level chaos on a real control plane (issue of the faults, build item 5).
 *
 * npm run test:chaos -- [--minutes 10] [--seed N] [--faults kill-watcher,cut-watcher-api]
 *                       [--nodes 40] [--settle-seconds 60] [--keep-logs] [--json]
 *
 * One line for each fault, then a summary. Exit codes: 0 passed, 1 failed, 2 usage, 130 interrupted. It
 * stops by itself, and leaves no process behind even when it is killed.
 */
import { parseArgs } from 'node:util';
import { runChaos, type ChaosOptions, type ChaosResult } from './chaos.ts';
import { FAULT_KINDS, type FaultKind } from './plan.ts';
import { failuresOf, replayCommand, summarize } from './report.ts';

const EXIT = { passed: 0, failed: 1, usage: 2, interrupted: 130 } as const;
const DEFAULTS = { minutes: 10, nodes: 40, settleSeconds: 60 } as const;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Request {
  readonly options: Omit<ChaosOptions, 'signal'>;
  readonly isJson: boolean;
}

function readRequest(commandLine: readonly string[]): Request {
  const { values } = parseArgs({
    args: [...commandLine],
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      faults: { type: 'string' },
      nodes: { type: 'string' },
      'settle-seconds': { type: 'string' },
      'keep-logs': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const settleSeconds = readNumber('settle-seconds', values['settle-seconds']);
  return {
    isJson: values.json,
    options: {
      seed: readNumber('seed', values.seed) ?? Math.floor(Math.random() * 1_000_000),
      minutes: readNumber('minutes', values.minutes) ?? DEFAULTS.minutes,
      kinds: readKinds(values.faults),
      nodesCount: readNumber('nodes', values.nodes) ?? DEFAULTS.nodes,
      settleMsMax: (settleSeconds ?? DEFAULTS.settleSeconds) * 1000,
      keepLogs: values['keep-logs'],
      say: (line) => {
        process.stderr.write(`${line}\n`);
      },
    },
  };
}

function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} ${text}: no number`);
  return value;
}

function readKinds(text: string | undefined): readonly FaultKind[] {
  if (text === undefined) return FAULT_KINDS;
  return text.split(',').map((name) => {
    const kind = FAULT_KINDS.find((one) => one === name);
    if (kind === undefined) {
      throw new UsageError(`there is no fault ${name}; there are ${FAULT_KINDS.join(', ')}`);
    }
    return kind;
  });
}

function toJson(result: ChaosResult, failures: readonly string[]): string {
  return JSON.stringify({ ...result, failures });
}

async function main(): Promise<number> {
  let request: Request;
  try {
    request = readRequest(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.usage;
  }
  const { options, isJson } = request;
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interrupted.abort();
    });
  }
  try {
    const result = await runChaos({ ...options, signal: interrupted.signal });
    const failures = failuresOf(result);
    process.stdout.write(`${isJson ? toJson(result, failures) : summarize(result)}\n`);
    if (failures.length > 0) {
      process.stderr.write(`the same plan again: ${replayCommand(result, options.minutes)}\n`);
    }
    return failures.length === 0 ? EXIT.passed : EXIT.failed;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    process.stderr.write('interrupted, everything is stopped\n');
    return EXIT.interrupted;
  }
}

process.exit(await main());
