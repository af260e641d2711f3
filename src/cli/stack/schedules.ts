/**
 * The schedules of a stack's functions: rules of EventBridge, switched for `rollcall stack stop` and `resume`.
 *
 * A rule that is off calls nobody; a turn that it missed is made up for by the next one. AWS may let one more turn begin within the
 * minute. A deployment leaves a rule off, unless it changes it.
 */
import type { RuleControl } from '../../adapters/eventbridge/rule-control.ts';
import type { StackOutputs } from '../reach/stack.ts';
import type { KnownTrigger, TriggerControl } from './triggers.ts';

/** Functions that are called by schedules, and the outputs that name their rules; serverless.yml declares them, and a test compares. */
const SCHEDULE_OUTPUTS = {
  fleet: 'FleetScheduleName',
  resync: 'ResyncScheduleName',
} as const satisfies Readonly<Record<string, keyof StackOutputs>>;

/** Functions that are called by schedules. */
export const SCHEDULED_FUNCTIONS: readonly string[] = Object.keys(SCHEDULE_OUTPUTS);

/** The rules that the outputs name. */
export function openSchedules(
  rules: RuleControl,
  stackName: string,
  outputs: Readonly<Partial<StackOutputs>>,
): TriggerControl {
  const ruleOf = new Map(
    Object.entries(SCHEDULE_OUTPUTS).map(([name, output]) => [
      `${stackName}-${name}`,
      outputs[output] ?? '',
    ]),
  );
  return {
    list: async (functionName): Promise<readonly KnownTrigger[]> => {
      const source = ruleOf.get(functionName) ?? '';
      const found = source === '' ? 'missing' : await rules.read(source);
      if (found === 'missing') return [];
      const state = found === 'ENABLED' ? 'Enabled' : 'Disabled';
      return [{ kind: 'schedule', id: source, functionName, source, state }];
    },
    turn: ({ source }, to) => rules.turn(source, to === 'Enabled' ? 'on' : 'off'),
    close: () => undefined,
  };
}
