/**
 * Commands that order something of a rollout, of a DaemonSet and of a fleet alike: one table of orders for each.
 *
 * The home of a rollout says which it knows, how it is named on a command line, and how an order is given and followed.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { OrderAsk } from '../../app/orders/order-home.ts';
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
  readonly options?: OptionTable;
  readonly ask: (options: OrderOptions) => Ask;
}

/** Whose orders they are. */
interface OrderHome<Ask, Options> {
  readonly of: 'rollout' | 'fleet';
  readonly args: readonly (readonly [name: string, about: string])[];
  /** Of all of them. */
  readonly options: OptionTable;
  readonly give: (
    ordering: Ordering<Ask, Options>,
    context: CommandContext,
  ) => Promise<CommandResult>;
}

/** The commands of a table of orders. */
export function orderCommands<Ask, Options extends OrderOptions>(
  { of, args: names, options: common, give }: OrderHome<Ask, Options>,
  rows: readonly OrderRow<Ask>[],
): readonly CommandModule[] {
  return rows.map(({ kind, summary, options: own, ask }) =>
    defineCommand<OptionTable>({
      path: [of, kind],
      summary,
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
export function pauseRow(summary: string): OrderRow<OrderAsk> {
  return { kind: 'pause', summary, ask: () => ({ kind: 'pause' }) };
}

/** A resume, which overrules a halt with both options. */
export function resumeRow(summary: string): OrderRow<OrderAsk> {
  return {
    kind: 'resume',
    summary,
    options: {
      why: textOption('--why <text>', 'of a halt: why it may go on (required there)'),
      yes: flagOption(
        '--yes',
        'confirm: of a halt that it is overruled, of a rollout that a fleet holds (required there)',
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
export function approveRow(summary: string, options: OptionTable): OrderRow<OrderAsk> {
  return {
    kind: 'approve',
    summary,
    options,
    ask: ({ step, gate }) => ({ kind: 'approve', ...defined({ stepIndex: step ?? gate }) }),
  };
}

/** An undo. */
export function undoRow(summary: string, options: OptionTable): OrderRow<OrderAsk> {
  return { kind: 'undo', summary, options, ask: () => ({ kind: 'undo' }) };
}

/** Whether it is watched, and for how long. */
export function watchOptions(
  until: string,
  timeoutSeconds: number,
): { readonly watch: OptionRow<true>; readonly timeout: OptionRow<number> } {
  return {
    watch: flagOption('--watch', `go on until it is ${until}, and say what changes`),
    timeout: numberOption(
      '--timeout <seconds>',
      `for --watch: leave with 4 after so long (default: ${String(timeoutSeconds)})`,
      parseSeconds,
    ),
  };
}
