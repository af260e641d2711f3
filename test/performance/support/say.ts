/** Progress of a benchmark, on standard error: figures alone go to standard output. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
