/**
 * Commands that order something of a rollout, of a DaemonSet and of a fleet alike: one table of orders for each.
 *
 * The home of a rollout says which it knows, how it is named on a command line, and how an order is given and followed.
 */
import { defined } from '@rollcall/base/defined.ts';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { OrderAsk } from '../../app/orders/order-home.ts';
import { parseSeconds, wholeNumber, parseWhy } from '../command-line/cluster-arguments.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';

/** Options of every command that tells how a rollout stands. */
export interface FollowOptions {
  readonly watch?: true;
  readonly timeout?: number;
}

/** Options of orders. */
export interface OrderOptions extends FollowOptions {
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

/** One order. */
export interface OrderRow<Ask> {
  readonly kind: string;
  readonly summary: string;
  readonly options?: readonly Option[];
  readonly ask: (options: OrderOptions) => Ask;
}

/** Whose orders they are. */
interface OrderHome<Ask, Options> {
  readonly of: 'rollout' | 'fleet';
  /** Arguments and options of all of them. */
  readonly declare: (command: Command) => void;
  readonly give: (
    ordering: Ordering<Ask, Options>,
    context: CommandContext,
  ) => Promise<CommandResult>;
}

/** The commands of a table of orders. */
export function orderCommands<Ask, Options extends OrderOptions>(
  { of, declare, give }: OrderHome<Ask, Options>,
  rows: readonly OrderRow<Ask>[],
): readonly CommandModule[] {
  return rows.map(({ kind, summary, options: own = [], ask }) =>
    defineCommand<Options>({
      path: [of, kind],
      summary,
      interruption: 'orderly',
      configure: (command) => {
        declare(command);
        for (const option of own) command.addOption(option);
      },
      run: ({ args, options }, context) => give({ args, options, ask: ask(options) }, context),
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
    options: [
      new Option('--why <text>', 'of a halt: why it may go on (required there)'),
      new Option(
        '--yes',
        'confirm: of a halt that it is overruled, of a rollout that a fleet holds (required there)',
      ),
    ],
    ask: ({ why, yes }) => {
      const reason = parseWhy(why ?? '');
      const overrules = yes === true && reason !== '' ? reason : undefined;
      return { kind: 'resume', ...defined({ overrules }) };
    },
  };
}

/** An approval, of what waits or of the step or gate with that index. */
export function approveRow(summary: string, options: readonly Option[]): OrderRow<OrderAsk> {
  return {
    kind: 'approve',
    summary,
    options,
    ask: ({ step, gate }) => ({ kind: 'approve', ...defined({ stepIndex: step ?? gate }) }),
  };
}

/** An undo. */
export function undoRow(summary: string, options: readonly Option[]): OrderRow<OrderAsk> {
  return { kind: 'undo', summary, options, ask: () => ({ kind: 'undo' }) };
}

/** An option with a whole number; `otherwise` says what to pass. */
export function numberOption(
  flags: string,
  about: string,
  { min, otherwise }: { readonly min: number; readonly otherwise: string },
): Option {
  return new Option(flags, about).argParser(wholeNumber(min, otherwise));
}

/** Declares how long it is watched, if at all. */
export function declareWatch(
  command: Command,
  { until, timeoutSeconds }: { readonly until: string; readonly timeoutSeconds: number },
): void {
  command
    .option('--watch', `go on until it is ${until}, and say what changes`)
    .option(
      '--timeout <seconds>',
      `for --watch: leave with 4 after so long (default: ${String(timeoutSeconds)})`,
      parseSeconds,
    );
}
