/**
 * Whoever is called once is called again for the next one: CloudWatch acts when an alarm's state changes, and never while it lasts.
 *
 * The functions' own code runs over a simulated fleet, and the deployed alarms are played on what it writes.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { actionsOf } from '../../support/template/alarm-clock.ts';
import { deployedAlarms } from '../../support/template/alarm-situations.ts';
import { TroubledFleet, type Condition } from '../../support/template/troubled-fleet.ts';

const ALARMS = deployedAlarms();
const DAY = 24 * 60;
const FROM = 30;
/** A sender that is refused is known for a day; troubles of clusters are forgotten sooner. */
const LATER = DAY + 240;

function actions(name: string, { data, minute }: TroubledFleet): readonly number[] {
  const alarm = ALARMS.get(name);
  assert.ok(alarm !== undefined, `${name} is no alarm`);
  return actionsOf(alarm, data, minute);
}

/** What may stand for a day, the alarm that tells it, and the minutes until it does. */
const STANDING: readonly (readonly [Condition, string, number])[] = [
  ['silent', 'silent-clusters', 18],
  ['never-heard', 'never-heard-clusters', 63],
  ['incomplete', 'incomplete-views', 33],
  ['hangs', 'silent-api-servers', 20],
  ['forbidden', 'cluster-refusals', 20],
  ['no-token', 'token-faults', 20],
  ['private-endpoint', 'egress-refusals', 8],
  ['refused-messages', 'ingest-refusals', 3],
];

/** Of these there is no harmless beginning. */
const AT_ONCE: readonly Condition[] = ['private-endpoint', 'refused-messages'];

/** Plays one fleet in which each condition of STANDING has so many clusters; `isOn`: whether the nth of them has it. */
async function playAll(
  minutes: number,
  clustersOfEach: number,
  isOn: (nth: number, minute: number) => boolean,
): Promise<TroubledFleet> {
  const fleet = new TroubledFleet(STANDING.length * clustersOfEach);
  await fleet.play(minutes, (index, minute) => {
    const [condition = 'well'] = STANDING[Math.floor(index / clustersOfEach)] ?? [];
    return isOn(index % clustersOfEach, minute) ? condition : 'well';
  });
  return fleet;
}

describe('an alarm on clusters', () => {
  it('calls for a second cluster though the first has stood for a day', async () => {
    const second = DAY + 17;
    const begins = [FROM, second];
    const fleet = await playAll(DAY + 120, 2, (nth, minute) => minute >= (begins[nth] ?? Infinity));
    for (const [, name, withinMinutes] of STANDING) {
      const called = actions(name, fleet);
      const firstCalls = called.filter((minute) => minute < second);
      const secondCalls = called.filter((minute) => minute >= second);
      assert.equal(firstCalls.length, 1, `${name}, the first: ${called.join()}`);
      assert.equal(secondCalls.length, 1, `${name}, the second: ${called.join()}`);
      assert.ok(Number(firstCalls[0]) <= FROM + withinMinutes, `${name}: ${called.join()}`);
      assert.ok(Number(secondCalls[0]) <= second + withinMinutes, `${name}: ${called.join()}`);
    }
  });

  it('calls no more for one cluster that comes and goes, and all the same for the next one', async () => {
    const second = 12 * 60;
    // Long enough to count, each time.
    const isBack = (minute: number): boolean => minute >= FROM && minute % 75 < 70;
    const fleet = await playAll(second + 90, 2, (nth, minute) =>
      nth === 0 ? isBack(minute) : minute >= second,
    );
    for (const [, name, withinMinutes] of STANDING) {
      const called = actions(name, fleet);
      assert.equal(called.length, 2, `${name}: ${called.join()}`);
      const calledMinute = Number(called[1]);
      assert.ok(calledMinute >= second && calledMinute <= second + withinMinutes, name);
    }
  });

  it('calls anew for a cluster that was well for long', async () => {
    const fleet = await playAll(2 * LATER, 1, (_, minute) => {
      const sinceMinute = minute % LATER;
      return sinceMinute >= 120 && sinceMinute < 240;
    });
    for (const [, name] of STANDING) assert.equal(actions(name, fleet).length, 2, name);
  });

  it('calls once for each, however the schedule fires: twice at once, late, or not for a while', async () => {
    const fleet = new TroubledFleet(6);
    // Every cluster has its hour; between its schedules resync is away for up to ten minutes.
    const walks = (minute: number): number => [2, 1, 3, 0, 0, 1, 0][minute % 7] ?? 1;
    await fleet.play(
      600,
      (index, minute) => (minute >= 60 * (index + 1) ? 'silent' : 'well'),
      // And once for two hours.
      (minute) => (minute % 50 < 10 || (minute > 400 && minute < 520) ? 0 : walks(minute)),
    );
    assert.equal(actions('silent-clusters', fleet).length, 6);
    const counted = fleet.data.filter(({ name }) => name === 'ClusterTroubles');
    assert.equal(
      counted.reduce((sum, { value }) => sum + value, 0),
      6,
    );
  });

  it('calls nobody for what a tenant filled up, nor for ten minutes of anything', async () => {
    const conditions: readonly Condition[] = [
      'quota-full',
      ...STANDING.map(([condition]) => condition).filter((one) => !AT_ONCE.includes(one)),
    ];
    const fleet = new TroubledFleet(conditions.length);
    await fleet.play(300, (index, minute) => {
      const condition = conditions[index] ?? 'well';
      const isOn = condition === 'quota-full' || (minute >= 60 && minute < 70);
      return isOn ? condition : 'well';
    });
    for (const name of ALARMS.keys()) {
      if (name.endsWith('-stopped')) continue;
      assert.deepEqual(actions(name, fleet), [], name);
    }
  });

  it('says when a share of the fleet is in trouble: five clusters at least, and more than 2 %', async () => {
    const shareOf = async (clusters: number, troubled: number): Promise<number> => {
      const fleet = new TroubledFleet(clusters);
      await fleet.play(90, (index, minute) =>
        index < troubled && minute >= FROM ? (index % 2 === 0 ? 'silent' : 'incomplete') : 'well',
      );
      return actions('troubled-clusters', fleet).length;
    };
    const calls = await Promise.all([
      shareOf(10, 1),
      shareOf(10, 4),
      shareOf(10, 5),
      shareOf(250, 5),
      shareOf(250, 6),
    ]);
    assert.deepEqual(calls, [0, 0, 1, 0, 1]);
  });
});
