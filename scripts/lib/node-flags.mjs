/**
 * Flags of Node for entries that need any. A process cannot give itself these, so who starts it does: launch.mjs, and the
 * benchmarks, which measure the engine as `npm start` runs it (docs/benchmarks.md, rollout).
 *
 * V8 begins with an old generation that is a little larger than what lives in it, and marks the whole heap again each time that it
 * fills: each half second in a rollout. What it may grow to first spares most of that. Its helper threads collect beside the main
 * one and take a core from other programs; on a machine that is busy they cost more than they gain.
 */

const ENGINE = ['--initial-old-space-size=256', '--single-threaded-gc'];

/** @type {Readonly<Record<string, readonly string[]>>} */
const FLAGS = { 'src/cli/main.ts': ENGINE };

/**
 * Flags for an entry, by its path from the root.
 *
 * @param {string} entry
 * @returns {readonly string[]}
 */
export function nodeFlagsOf(entry) {
  return FLAGS[entry] ?? [];
}
