/**
 * What the command `local-cluster` is asked for: its arguments as values, or why they cannot be.
 *
 * Unknown arguments are refused by name; nothing is guessed.
 */
import { parseArgs } from 'node:util';

/** What to start. */
export interface CommandOptions {
  readonly nodesCount: number;
  /** 0: a free one. */
  readonly port: number;
  readonly kubeconfigFile: string;
  readonly dataDirectory: string | undefined;
}

/** The arguments, as far as they can be followed. */
export type ParsedCommand =
  | { readonly kind: 'run'; readonly options: CommandOptions }
  | { readonly kind: 'help' }
  | { readonly kind: 'refused'; readonly message: string };

/** Beyond it a laptop is busy with heartbeats alone. */
const NODES_MAX = 1000;
const PORT_MAX = 65_535;

/** The text of `--help`. */
export const HELP = `usage: local-cluster [options]

A Kubernetes control plane for tests, in this process, on 127.0.0.1: API server, controllers, scheduler, and nodes whose
containers are simulated. Ctrl-C stops it.

  --nodes N          how many nodes (default 3, at most ${NODES_MAX})
  --port P           port of the API server (default: a free one)
  --kubeconfig FILE  where the administrator's kubeconfig is written, for you alone (default local-cluster.kubeconfig)
  --data DIR         keep objects, certificates and tokens there between runs (default: in memory);
                     its nodes are those of the first start
  --help             this text
`;

/** Reads the arguments after the command's name. */
export function parseCommand(argv: readonly string[]): ParsedCommand {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...argv],
      options: {
        nodes: { type: 'string', default: '3' },
        port: { type: 'string', default: '0' },
        kubeconfig: { type: 'string', default: 'local-cluster.kubeconfig' },
        data: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }));
  } catch (cause) {
    // parseArgs names the argument, and nothing else.
    return { kind: 'refused', message: cause instanceof Error ? cause.message : String(cause) };
  }
  if (values.help) return { kind: 'help' };
  const nodesCount = wholeNumber(values.nodes, NODES_MAX);
  if (nodesCount === undefined) return refusal('--nodes', values.nodes, NODES_MAX);
  const port = wholeNumber(values.port, PORT_MAX);
  if (port === undefined) return refusal('--port', values.port, PORT_MAX);
  const options = {
    nodesCount,
    port,
    kubeconfigFile: values.kubeconfig,
    dataDirectory: values.data,
  };
  return { kind: 'run', options };
}

function wholeNumber(text: string, max: number): number | undefined {
  return /^\d{1,6}$/.test(text) && Number(text) <= max ? Number(text) : undefined;
}

function refusal(name: string, text: string, max: number): ParsedCommand {
  return { kind: 'refused', message: `${name} is a whole number up to ${max}, not "${text}"` };
}
