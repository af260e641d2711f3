/** A number with its noun, so that no output says `1 nodes`. */

/** `1 node`, `2 nodes`; with another plural, or a verb: `counted(n, 'node waits', 'nodes wait')`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
