/**
 * Commands that order something of a rollout, of a DaemonSet and of a fleet alike: one table of orders for each.
 *
 * The home of a rollout says which it knows, how it is named on a command line, and how an order is given and followed.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { OrderAsk } from '../../app/orders/keep-order.ts';
import { parseSeconds, parseWhy } from '../command-line/cluster-arguments.ts';
import {
  defineCommand,
  flagOption,
  numberOption,
  textOption,
} from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
  OptionRow,
  OptionTable,
} from '../command-line/command-module.ts';

/** Options of orders. */
export interface OrderOptions {
  readonly watch?: true;
  readonly timeout?: number;
  readonly why?: string;
  readonly yes?: true;
  readonly step?: number;
  readonly gate?: number;
}

/** What is ordered, and how to go on. */
export interface Ordering<Ask, Options> {
  readonly args: readonly string[];
  readonly options: Options;
  readonly ask: Ask;
}

export interface OrderRow<Ask> {
  readonly kind: string;
  readonly summary: string;
  readonly about?: readonly string[];
  readonly options?: OptionTable;
  readonly ask: (options: OrderOptions) => Ask;
}

export const WATCH_EXITS = {
  held: 'with --watch: the rollout is halted, paused or undone',
  timedOut: 'with --watch: the time is up',
  stopped: 'nothing acts there now',
};

/** Whose orders they are. */
interface OrderHome<Ask, Options> {
  readonly of: 'rollout' | 'fleet';
  /** When an order is refused. */
  readonly refusedIf: string;
  /** Arguments as an example has them. */
  readonly sample: string;
  readonly args: readonly (readonly [name: string, about: string])[];
  readonly options: OptionTable;
  readonly give: (
    ordering: Ordering<Ask, Options>,
    context: CommandContext,
  ) => Promise<CommandResult>;
}

/** The commands of a table of orders. */
export function orderCommands<Ask, Options extends OrderOptions>(
  { of, refusedIf, sample, args: names, options: common, give }: OrderHome<Ask, Options>,
  rows: readonly OrderRow<Ask>[],
): readonly CommandModule[] {
  return rows.map(({ kind, summary, about, options: own, ask }) =>
    defineCommand<OptionTable>({
      path: [of, kind],
      summary,
      ...defined({ about }),
      documents: [of === 'rollout' ? 'RolloutStatus' : 'FleetStatus'],
      exits: { ...WATCH_EXITS, refused: refusedIf },
      examples: [`${of} ${kind} ${sample}`],
      interruption: 'orderly',
      args: names,
      options: { ...common, ...own },
      // Each order reads those of its own row.
      run: ({ args, options }, context) => {
        const read = options as unknown as Options;
        return give({ args, options: read, ask: ask(read) }, context);
      },
    }),
  );
}

/** A pause. */
export function pauseRow(summary: string, about: readonly string[]): OrderRow<OrderAsk> {
  return { kind: 'pause', summary, about, ask: () => ({ kind: 'pause' }) };
}

/** A resume, which overrules a halt with both options. */
export function resumeRow(summary: string, about: readonly string[]): OrderRow<OrderAsk> {
  return {
    kind: 'resume',
    summary,
    about,
    options: {
      why: textOption('--why <text>', 'the reason why a halted rollout may go on (required there)'),
      yes: flagOption(
        '--yes',
        'confirm that a halt is overruled, or an order given although a fleet holds the rollout',
      ),
    },
    ask: ({ why, yes }) => {
      const reason = parseWhy(why ?? '');
      const overrules = yes === true && reason !== '' ? reason : undefined;
      return { kind: 'resume', ...defined({ overrules }) };
    },
  };
}

/** An approval, of what waits or of the step or gate with that index. */
export function approveRow(
  summary: string,
  options: OptionTable,
  about: readonly string[],
): OrderRow<OrderAsk> {
  return {
    kind: 'approve',
    summary,
    about,
    options,
    ask: ({ step, gate }) => ({ kind: 'approve', ...defined({ stepIndex: step ?? gate }) }),
  };
}

/** An undo. */
export function undoRow(
  summary: string,
  options: OptionTable,
  about: readonly string[],
): OrderRow<OrderAsk> {
  return { kind: 'undo', summary, about, options, ask: () => ({ kind: 'undo' }) };
}

/** Whether it is watched, and for how long. */
export function watchOptions(
  until: string,
  timeoutSeconds: number,
): { readonly watch: OptionRow<true>; readonly timeout: OptionRow<number> } {
  return {
    watch: flagOption('--watch', `follow the rollout until it is ${until}, and print what changes`),
    timeout: numberOption(
      '--timeout <seconds>',
      `with --watch: give up after this time (default: ${String(timeoutSeconds)})`,
      parseSeconds,
    ),
  };
}
