/** The figures of `/metrics`, word for word: dashboards are made of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { epoch } from '../../../../src/core/model/identifiers.ts';
import { watcherReadings } from '../../../../src/watcher/process/readings.ts';
import { Vitals } from '../../../../src/watcher/process/vitals.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const HEALTHY = { notLive: [], notReady: [] };

type Told = Readonly<Record<string, readonly [help: string, value: number]>>;

function told(readings: ReturnType<typeof watcherReadings>): Told {
  return Object.fromEntries(
    readings.map(({ name, labels, help, value }) => {
      const [[key, label] = []] = Object.entries(labels ?? {});
      return [key === undefined ? name : `${name}{${key}=${label}}`, [help, value]];
    }),
  );
}

function only(all: Told, part: string): readonly string[] {
  return Object.keys(all).filter((name) => name.includes(part));
}

describe('the figures of a watcher', () => {
  it('that has just begun are those that are known', () => {
    const clock = new VirtualClock();
    const all = told(
      watcherReadings(
        {
          signs: new Vitals(clock).signs(),
          status: { state: 'standby' },
          health: { notLive: [], notReady: ['not yet'] },
        },
        clock.monotonicMs(),
      ),
    );
    const what = 'What it does; standby: another watcher holds the Lease.';
    const lists = 'Lists begun, paged or as initial events.';
    assert.deepEqual(all, {
      rollcall_watcher_live: ['Nothing is wrong that a restart could mend (/livez).', 1],
      rollcall_watcher_ready: ['It watches and sends, or stands by (/readyz).', 0],
      'rollcall_watcher_state{state=starting}': [what, 0],
      'rollcall_watcher_state{state=standby}': [what, 1],
      'rollcall_watcher_state{state=running}': [what, 0],
      'rollcall_watcher_state{state=stopped}': [what, 0],
      rollcall_watcher_sends_failing_seconds: [
        'For how long every send has failed; 0 if the last one did not.',
        0,
      ],
      'rollcall_watcher_lists_total{kind=Node}': [lists, 0],
      'rollcall_watcher_lists_total{kind=Pod}': [lists, 0],
      'rollcall_watcher_lists_total{kind=DaemonSet}': [lists, 0],
      'rollcall_watcher_lists_total{kind=ControllerRevision}': [lists, 0],
    });
  });

  it('that works tell ages in seconds, and the figures of its session', async () => {
    const clock = new VirtualClock();
    const vitals = new Vitals(clock);
    vitals.noteLease();
    vitals.noteSent({ kind: 'accepted' }, false);
    vitals.noteSent({ kind: 'unsent', message: 'no' }, false);
    vitals.noteOpened('Pod', true);
    vitals.noteHeard('Pod');
    await clock.advance(2500);
    const objects = { Node: 1, Pod: 2, DaemonSet: 3, ControllerRevision: 4 };
    const session = { phase: 'steady', seq: 17, waiting: 5, sliceCount: 16, objects };
    const status = { state: 'running', epoch: epoch('99'), session } as never; // -- what is read of it
    const all = told(
      watcherReadings({ signs: vitals.signs(), status, health: HEALTHY }, clock.monotonicMs()),
    );
    const numbers = {
      rollcall_watcher_epoch: ['Its epoch: the version with which it took the Lease.', 99],
      rollcall_watcher_lease_age_seconds: ['Since the Lease was last read or written.', 2.5],
      rollcall_watcher_accepted_age_seconds: ['Since the queue last took a message.', 2.5],
      rollcall_watcher_sends_failing_seconds: [
        'For how long every send has failed; 0 if the last one did not.',
        2.5,
      ],
      'rollcall_watcher_stream_age_seconds{kind=Pod}': ['Since bytes of this kind last came.', 2.5],
      'rollcall_watcher_lists_total{kind=Pod}': ['Lists begun, paged or as initial events.', 1],
      rollcall_watcher_sequence: ['Number of the last message of this epoch.', 17],
      rollcall_watcher_outbox_objects: ['Objects whose newest state was not sent yet.', 5],
      rollcall_watcher_slices: ['Slices of each set in the last snapshot.', 16],
      'rollcall_watcher_objects{kind=Pod}': ['Objects that are kept.', 2],
      'rollcall_watcher_objects{kind=ControllerRevision}': ['Objects that are kept.', 4],
    };
    for (const [name, expected] of Object.entries(numbers))
      assert.deepEqual(all[name], expected, name);
    assert.equal(only(all, 'stream_age').length, 1, 'a kind that was never heard has no age');
    assert.equal(only(all, '_objects{').length, 4);
  });

  it('are gauges, but for the counts', () => {
    const clock = new VirtualClock();
    const readings = watcherReadings(
      { signs: new Vitals(clock).signs(), status: { state: 'starting' }, health: HEALTHY },
      0,
    );
    for (const { name, type } of readings) {
      assert.equal(type, name.endsWith('_total') ? 'counter' : 'gauge', name);
    }
  });
});
