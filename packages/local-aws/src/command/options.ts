/**
 * What the command `local-aws` is asked for: its arguments as values, or why they cannot be.
 *
 * Unknown arguments are refused by name; nothing is guessed.
 */
import { parseArgs } from 'node:util';

/** What to start. */
export interface CommandOptions {
  /** 0: a free one. */
  readonly port: number;
  readonly region: string;
  readonly dataDirectory: string | undefined;
}

/** The arguments, as far as they can be followed. */
export type ParsedCommand =
  | { readonly kind: 'run'; readonly options: CommandOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'refused'; readonly message: string };

const PORT_MAX = 65_535;

/** The text of `--help`. */
export const HELP = `usage: local-aws [options]

An SQS server for tests, in this process, on 127.0.0.1: standard and FIFO queues, dead letters, long polls, as clients of
today speak (AWS JSON 1.0). Signatures are not checked. Ctrl-C stops it.

  --port P      port (default: a free one)
  --region R    region of ARNs and queues (default us-east-1)
  --data DIR    keep queues and messages there between runs (default: in memory); it must exist
  --help        this text
`;

/** Reads the arguments after the command's name. */
export function parseCommand(argv: readonly string[]): ParsedCommand {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: {
        port: { type: 'string', default: '0' },
        region: { type: 'string', default: 'us-east-1' },
        data: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (cause) {
    // parseArgs names the argument, and nothing else.
    return { kind: 'refused', message: cause instanceof Error ? cause.message : String(cause) };
  }
  const { port, region, data, help } = values;
  if (help) return { kind: 'help' };
  if (!/^\d{1,5}$/.test(port) || Number(port) > PORT_MAX) {
    const message = `--port is a whole number up to ${PORT_MAX}, not "${port}"`;
    return { kind: 'refused', message };
  }
  if (!/^[a-z]{2}(-[a-z]+)+-\d$/.test(region)) {
    return { kind: 'refused', message: `--region is one like us-east-1, not "${region}"` };
  }
  return { kind: 'run', options: { port: Number(port), region, dataDirectory: data } };
}
