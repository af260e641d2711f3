/**
 * Rules of Amazon EventBridge, switched: whether one is on, on, off (docs/operations.md, stop everything).
 *
 * Rules of the default bus alone, which is where schedules are. A rule that does not exist is said, not thrown; what AWS refuses is thrown
 * under AWS's own name for it. Nothing is repeated here: each of the three may be asked again.
 */
import * as v from 'valibot';
import { errorCodeOf } from './event-bus.ts';
import { sendToEvents, type EventsOptions } from './signed-request.ts';

/** As the service names them. */
export type RuleState = 'ENABLED' | 'DISABLED' | 'missing';

/** The requests to it. */
export interface RuleControl {
  read(rule: string): Promise<RuleState>;
  turn(rule: string, to: 'on' | 'off'): Promise<void>;
}

/** AWS's other answer; it has AWS's name, by which callers tell it. */
class EventsRefusedError extends Error {
  override readonly name: string;
  readonly $metadata: { readonly httpStatusCode: number };

  constructor(code: string, what: { readonly action: string; readonly status: number }) {
    super(`EventBridge refused ${what.action}: ${code}`);
    this.name = code;
    this.$metadata = { httpStatusCode: what.status };
  }
}

const NOT_FOUND = 'ResourceNotFoundException';
/** `ENABLED_WITH_…` are kinds of it. */
const RuleSchema = v.object({ State: v.string() });

/** Rules, by the caller's own credentials. */
export function createRuleControl(options: EventsOptions): RuleControl {
  const call = async (action: string, rule: string): Promise<string | undefined> => {
    const body = JSON.stringify({ Name: rule });
    const { status, text } = await sendToEvents(action, body, options);
    if (status === 200) return text;
    const code = errorCodeOf(text, status);
    if (code === NOT_FOUND) return undefined;
    throw new EventsRefusedError(code, { action, status });
  };
  return {
    read: async (rule) => {
      const text = await call('DescribeRule', rule);
      if (text === undefined) return 'missing';
      const { State } = v.parse(RuleSchema, JSON.parse(text));
      return State.startsWith('ENABLED') ? 'ENABLED' : 'DISABLED';
    },
    turn: async (rule, to) => {
      await call(to === 'on' ? 'EnableRule' : 'DisableRule', rule);
    },
  };
}
