/** Looks for a canary in a process of its own: loader hooks are for a whole process. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import type { CanarySearch } from './find-canary.ts';

const TIMEOUT_MS = 300_000;
const run = promisify(execFile);

/** What came of the search; rejects when the canary could not be planted. */
export async function searchCanary(name: string): Promise<CanarySearch> {
  const program = path.join(import.meta.dirname, 'find-canary.ts');
  const { stdout } = await run(process.execPath, [program, name], { timeout: TIMEOUT_MS });
  return JSON.parse(stdout) as CanarySearch; // written by find-canary.ts
}
