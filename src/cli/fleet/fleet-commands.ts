/**
 * `rollcall fleet …`: shows and forgets FleetDaemonSets; and the list of all its commands.
 *
 * These read and write tables, and ask no cluster: the function `fleet` rolls out what is applied.
 */
import { stringify } from 'yaml';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { listEveryFleet, findFleet } from '../../app/fleet/find-fleet.ts';
import { gatherClusters } from '../../app/fleet/gather-clusters.ts';
import { refuseFleet } from '../../app/fleet/refusals.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import { imagesOf } from '../../core/fleet/plan-cluster.ts';
import { planFleet } from '../../core/fleet/plan-fleet.ts';
import type { FleetHead } from '../../ports/stores/fleet-rollout-store.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type {
  CommandModule,
  CommandContext,
  CommandResult,
} from '../command-line/command-module.ts';
import { plainText, renderAge, renderFields, renderTextTable } from '../command-line/text-table.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import { applyFleetCommand, diffFleetCommand, planFleetCommand } from './plan-commands.ts';
import { FLEET_ARGUMENT, parseFleetKey } from './fleet-arguments.ts';
import { FLEET_ROLLOUT_COMMANDS, fleetHistoryCommand } from './rollout-commands.ts';
import { planDocument, renderPlan } from './render-plan.ts';
import { fleetRightsCommand } from './rights-command.ts';
import { NO_MIRROR } from '../../core/fleet/told/fleet-mirror.ts';
import type { FleetMirror } from '../../core/fleet/told/fleet-mirror.ts';
import { BY_CHARACTERS_MAX } from '../../core/model/registration.ts';
import { boundedText } from '../../core/fleet/told/fleet-conditions.ts';
import { callerOf } from '../command-line/caller.ts';
import { parseClusterId, requireRegistration } from '../command-line/cluster-arguments.ts';
import { refusal } from '../process/exit-codes.ts';

const setMirror: CommandModule = defineCommand({
  path: ['fleet', 'mirror', 'set'],
  documents: ['FleetMirrorChange'],
  summary: 'show every FleetDaemonSet as an object in this registered cluster',
  about: [
    'Apply infra/mirror there first.',
    'The function fleet obeys within two minutes.',
    'Objects of an earlier mirror stay where they are.',
  ],
  exits: { refused: 'another person changed it meanwhile' },
  examples: ['fleet mirror set tools-1'],
  interruption: 'orderly',
  args: [['<cluster>', 'id of the cluster']],
  run: async ({ args }, context) => {
    const { registry } = await context.openStack();
    const { id } = await requireRegistration(registry, parseClusterId(args[0] ?? ''));
    return change(context, { cluster: id });
  },
});

const clearMirror: CommandModule = defineCommand({
  path: ['fleet', 'mirror', 'clear'],
  documents: ['FleetMirrorChange'],
  summary: 'stop showing FleetDaemonSets in a cluster',
  about: ['Objects that are there stay as they are; delete them.'],
  examples: ['fleet mirror clear'],
  interruption: 'orderly',
  run: (_invocation, context) => change(context, {}),
});

const getMirror: CommandModule = defineCommand({
  path: ['fleet', 'mirror', 'get'],
  documents: ['FleetMirror'],
  summary: 'show which cluster mirrors the FleetDaemonSets, and what hinders it',
  examples: ['fleet mirror get'],
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
    throw refusal('Another operator changed the mirror meanwhile.', 'Look at it, and repeat.');
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
const FLEET_MIRROR_COMMANDS: readonly CommandModule[] = [setMirror, clearMirror, getMirror];

const get: CommandModule = defineCommand({
  path: ['fleet', 'get'],
  documents: ['FleetDaemonSetList', 'StoredFleetDaemonSet'],
  summary: 'list the FleetDaemonSets, or print one as it was applied',
  about: ['The output for one can be applied again.'],
  examples: ['fleet get', 'fleet get ops/agent > agent.yaml'],
  args: [['[fleet]', 'namespace/name of the FleetDaemonSet']],
  run: async ({ args }, context) => {
    const [name] = args;
    if (name === undefined) {
      const { fleets: store, clock } = await context.openStack();
      const fleets = await listEveryFleet(store);
      const rows = fleets.map((head) => rowOf(head, clock.nowMs()));
      return {
        document: { kind: 'FleetDaemonSetList', fleets },
        lines: rows.length === 0 ? [NO_FLEETS] : renderTextTable(HEADINGS, rows),
      };
    }
    const key = parseFleetKey(name);
    const { fleets } = await context.openStack();
    const stored = await fleets.readFleet(key);
    if (stored === undefined) throw errorOf(refuseFleet('unknown-fleet', key));
    const { head, document } = stored;
    return {
      document: { kind: 'StoredFleetDaemonSet', ...head, document },
      // A text of YAML escapes what could steer a terminal, but for line ends.
      lines: stringify(document).trimEnd().split('\n').map(plainText),
    };
  },
});

const HEADINGS = ['FLEET', 'GENERATION', 'APPLIED', 'BY'];
const NO_FLEETS = 'No FleetDaemonSets. Apply one with: rollcall fleet apply -f FILE';

function rowOf(head: FleetHead, nowMs: number): readonly string[] {
  const { generation, appliedAtMs, appliedBy } = head;
  const age = `${renderAge(Math.max(0, nowMs - appliedAtMs))} ago`;
  return [formatFleetKey(head), String(generation), age, appliedBy];
}

const describeFleet: CommandModule = defineCommand({
  path: ['fleet', 'describe'],
  documents: ['FleetDescription'],
  summary: 'show a FleetDaemonSet as it was applied: images, overrides, and its plan',
  examples: ['fleet describe ops/agent'],
  args: [FLEET_ARGUMENT],
  run: async ({ args }, context) => {
    const key = parseFleetKey(args[0] ?? '');
    const stack = await context.openStack();
    const { fleets, clock } = stack;
    const found = await findFleet(key, { fleets, reader: createFleetReader() });
    if (found.kind === 'refused') throw errorOf(found);
    const { fleet, head } = found;
    const nowMs = clock.nowMs();
    const { clusters, unreadable } = await gatherClusters(fleet, stack);
    const plan = planFleet(fleet, clusters, nowMs);
    const images = [...imagesOf(fleet.manifest)].map(([name, image]) => `${name}: ${image}`);
    const overrides = fleet.overrides.map(({ name }) => name);
    const { onHalt } = fleet.strategy;
    return {
      document: {
        kind: 'FleetDescription',
        ...head,
        images: Object.fromEntries(imagesOf(fleet.manifest)),
        overrides,
        onHalt,
        ...planDocument(plan),
        unreadable,
      },
      lines: [
        formatFleetKey(fleet),
        ...renderFields([
          ['generation', String(head.generation)],
          ['applied', `${new Date(head.appliedAtMs).toISOString()} by ${head.appliedBy}`],
          ['images', images.join(', ')],
          ['overrides', overrides.length === 0 ? undefined : overrides.join(', ')],
          ['on halt', onHalt],
        ]),
        '',
        ...renderPlan(plan),
        ...unreadable.map(({ id, reason }) => plainText(`! ${id} cannot be read: ${reason}`)),
        '',
        `How far it is: rollcall fleet status ${formatFleetKey(fleet)}`,
      ],
    };
  },
});

const remove: CommandModule = defineCommand({
  path: ['fleet', 'delete'],
  documents: ['FleetDeleted'],
  summary: 'forget a FleetDaemonSet, and leave the DaemonSets of its clusters as they are',
  about: ['The function fleet removes the record of its rollout and its mirror within a minute.'],
  exits: { refused: 'another person applied it meanwhile' },
  examples: ['fleet delete ops/agent'],
  interruption: 'orderly',
  args: [FLEET_ARGUMENT],
  run: async ({ args }, context) => {
    const key = parseFleetKey(args[0] ?? '');
    const { fleets } = await context.openStack();
    const stored = await fleets.readFleet(key);
    if (stored === undefined) throw errorOf(refuseFleet('unknown-fleet', key));
    const removed = await fleets.removeFleet(stored.head);
    if (removed === 'lost') throw errorOf(refuseFleet('changed', key));
    // The function removes the record of its rollout, and its mirror: it finds a record without a head.
    const { generation } = stored.head;
    return {
      document: { kind: 'FleetDeleted', ...key, generation },
      lines: [
        `${formatFleetKey(key)} is forgotten. The DaemonSets of its clusters stay as they are.`,
        'What is recorded of its rollout goes within a minute.',
      ],
    };
  },
});

/** The commands, in the order of --help. */
export const FLEET_COMMANDS: readonly CommandModule[] = [
  planFleetCommand,
  diffFleetCommand,
  applyFleetCommand,
  get,
  describeFleet,
  fleetRightsCommand,
  ...FLEET_ROLLOUT_COMMANDS,
  fleetHistoryCommand,
  remove,
  ...FLEET_MIRROR_COMMANDS,
];
