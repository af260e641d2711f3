/**
 * A value that begins with `--` is an option whose turn came too early: the value before it was forgotten.
 *
 * commander takes it for the value. For every option of a command that has one.
 */
import { InvalidArgumentError, type Command } from 'commander';

/** To be called once a command has all its options. */
export function refuseOptionsAsValues(command: Command): void {
  for (const option of command.options) {
    if (!option.required && !option.optional) continue;
    const { parseArg } = option;
    option.argParser((value: string, previous: unknown) => {
      // A manifest may begin with `---`.
      if (/^--(?!-)/.test(value)) {
        throw new InvalidArgumentError('A value is missing before it.');
      }
      return parseArg === undefined ? value : parseArg(value, previous);
    });
  }
}
