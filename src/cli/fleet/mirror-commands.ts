/**
 * `rollcall fleet mirror …`: in which cluster fleets are shown as objects (ADR 0068). One
 * conditional write of one item; the function `fleet` obeys within two minutes, and finds whether
 * that cluster can be written to. Objects of a former mirror stay where they are.
 */
import { NO_MIRROR } from '../../core/fleet/told/fleet-mirror.ts';
import type { FleetMirror } from '../../core/fleet/told/fleet-mirror.ts';
import { BY_CHARACTERS_MAX } from '../../core/model/registration.ts';
import { boundedText } from '../../core/fleet/told/fleet-conditions.ts';
import { callerOf } from '../command-line/caller.ts';
import { parseClusterId, requireRegistration } from '../command-line/cluster-arguments.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { plainText, renderAge, renderFields } from '../command-line/text-table.ts';
import { refusal } from '../process/exit-codes.ts';

const setMirror: CommandModule = defineCommand<object>({
  path: ['fleet', 'mirror', 'set'],
  summary: 'show fleets as objects in this registered cluster; apply infra/mirror there first',
  interruption: 'orderly',
  configure: (command) => {
    command.argument('<cluster>', 'id of the cluster');
  },
  run: async ({ args }, context) => {
    const { registry } = await context.openStack();
    const { id } = await requireRegistration(registry, parseClusterId(args[0] ?? ''));
    return change(context, { cluster: id });
  },
});

const clearMirror: CommandModule = defineCommand<object>({
  path: ['fleet', 'mirror', 'clear'],
  summary: 'show fleets nowhere any more; objects that are there stay',
  interruption: 'orderly',
  run: (_invocation, context) => change(context, {}),
});

const getMirror: CommandModule = defineCommand<object>({
  path: ['fleet', 'mirror', 'get'],
  summary: 'where fleets are shown, and what is the matter with that',
  run: async (_invocation, context) => {
    const { mirrors } = await context.openStack();
    return present(await mirrors.readMirror(), 'FleetMirror', context.clock.nowMs());
  },
});

async function change(
  context: CommandContext,
  wanted: Pick<FleetMirror, 'cluster'>,
): Promise<CommandResult> {
  const stack = await context.openStack();
  const { mirrors } = stack;
  const nowMs = context.clock.nowMs();
  const stored = await mirrors.readMirror();
  if (stored.cluster === wanted.cluster) return present(stored, 'FleetMirrorChange', nowMs);
  const next: FleetMirror = {
    ...wanted,
    version: stored.version,
    setBy: boundedText(await callerOf(context, stack), BY_CHARACTERS_MAX),
    setAtMs: nowMs,
  };
  // The function notes trouble in the same item.
  if ((await mirrors.writeMirror(next)) === 'lost') {
    throw refusal('The mirror was changed by somebody else meanwhile.', 'Look at it, and repeat.');
  }
  return present({ ...next, version: next.version + 1 }, 'FleetMirrorChange', nowMs);
}

function present(mirror: FleetMirror, kind: string, nowMs: number): CommandResult {
  const { cluster, setBy, setAtMs, trouble } = mirror;
  const ago = (atMs: number): string => `${renderAge(Math.max(0, nowMs - atMs))} ago`;
  const isNever = mirror.version === NO_MIRROR.version;
  return {
    document: { kind, ...mirror },
    lines:
      cluster === undefined
        ? ['Fleets are shown in no cluster.']
        : renderFields([
            ['cluster', cluster],
            ['set', isNever ? undefined : plainText(`${ago(setAtMs)} by ${setBy}`)],
            ['fleet', trouble?.fleet],
            [
              'trouble',
              trouble && plainText(`${trouble.code}, ${ago(trouble.sinceMs)}: ${trouble.message}`),
            ],
          ]),
  };
}

/** The commands, in the order of --help. */
export const FLEET_MIRROR_COMMANDS: readonly CommandModule[] = [setMirror, clearMirror, getMirror];
