/** A rule about queues whose every delivery fails: the age of the oldest message does not show them (aws-rules F9). */
import { queueOfAlarm, ringsAt, type QueueMinute } from './alarm-model.ts';
import { ofType, type Identified, type Rule, type Template } from './template.ts';

const MINUTE_S = 60;
/** Somebody should look within this time. */
const MINUTES_MAX = 20;
const PLAYED_MINUTES = 60;

/** One message that is received once a minute, and never finished. */
const FAILING: readonly QueueMinute[] = Array.from({ length: PLAYED_MINUTES }, (_, minute) => ({
  nowS: minute * MINUTE_S,
  messages: [{ sentAtS: 0, receives: minute + 1, isInFlight: minute % 2 === 0 }],
  deleted: 0,
}));
/** A fleet at work: there is always something in flight, and it is finished. */
const BUSY: readonly QueueMinute[] = FAILING.map(({ nowS }) => ({
  nowS,
  messages: Array.from({ length: 50 }, () => ({ sentAtS: nowS, receives: 1, isInFlight: true })),
  deleted: 10_000,
}));
/** A fleet at rest: a message now and then. */
const QUIET: readonly QueueMinute[] = FAILING.map(({ nowS }, minute) => ({
  nowS,
  messages: [],
  deleted: minute % 10 === 0 ? 1 : 0,
}));

function alarmsOf(template: Template, queueId: string): readonly Identified[] {
  return ofType(template, 'AWS::CloudWatch::Alarm').filter(
    (alarm) => queueOfAlarm(alarm) === queueId,
  );
}

const failingIsSeen: Rule = {
  name: 'a queue whose every delivery fails calls somebody, and a busy or quiet one nobody (F9)',
  check: (template) =>
    ofType(template, 'AWS::SQS::Queue')
      .filter(({ properties }) => 'RedrivePolicy' in properties)
      .flatMap(({ id }) => {
        const alarms = alarmsOf(template, id);
        const inTime = alarms.filter(
          (alarm) => (ringsAt(alarm, FAILING) ?? Infinity) < MINUTES_MAX,
        );
        const noisy = alarms.filter((alarm) =>
          [BUSY, QUIET].some((minutes) => ringsAt(alarm, minutes) !== undefined),
        );
        return [
          ...(inTime.length > 0 ? [] : [`${id}: nobody sees that every delivery fails`]),
          ...noisy.map((alarm) => `${alarm.id} rings without a cause`),
        ];
      }),
};

/** All of them. */
export const stuckRules: readonly Rule[] = [failingIsSeen];
