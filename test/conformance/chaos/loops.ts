/**
 * Keeps the programs around the API server running, as a node agent would: a controller manager, a scheduler or fake
 * kubelets that start just before their API server is killed give up and end.
 *
 * That is nobody's fault that is judged here, and without them nothing ever settles. Faults ask while they hold the
 * API server, so that nobody else starts one at the same time.
 */
import { readFileSync } from 'node:fs';
import type { ControlPlane } from '../control-plane/control-plane.ts';

const LOOPS = ['controllerManager', 'scheduler', 'kwok'] as const;
const LAST_WORDS_CHARACTERS = 300;

/** Starts those that have ended; resolves to what is to be said about each. */
export async function startEndedLoops(controlPlane: ControlPlane): Promise<readonly string[]> {
  const said: string[] = [];
  for (const name of LOOPS) {
    if (controlPlane.pids()[name] !== undefined) continue;
    const words = readFileSync(controlPlane.logPathOf(name), 'utf8').slice(-LAST_WORDS_CHARACTERS);
    said.push(`${name} had ended and is started again; it said: ${words.trim()}`);
    await controlPlane.restart(name);
  }
  return said;
}
