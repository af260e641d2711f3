// Who is told of fleets: what reaches the bus and the mirror, what it costs when nothing happens, and what when they fail.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';
import {
  createFleetNotifier,
  PUTS_MAX,
} from '../../../../../src/app/fleet/notify/fleet-notifier.ts';
import {
  createMirrorMemory,
  LOOK_AGAIN_MS,
} from '../../../../../src/app/fleet/notify/mirror-show.ts';
import { NO_MIRROR, type FleetMirror } from '../../../../../src/core/fleet/told/fleet-mirror.ts';
import type { LogItem } from '../../../../../src/core/model/log-entry.ts';
import type { ConnectRefusal } from '../../../../../src/ports/cluster/cluster-access.ts';
import type { BusEntry, PutOutcome } from '../../../../../src/ports/fleet-notifier.ts';
import type { FleetNotifier } from '../../../../../src/ports/fleet-notifier.ts';
import { fleetDecision, fleetRecord, standing } from '../../../../support/fleet-record-samples.ts';
import { RegistryInProcess } from '../../../../support/registry-in-process.ts';
import { MemoryMirrors } from '../../../../support/memory-mirrors.ts';
import { MemoryViewStore } from '../../../../support/memory-view-store.ts';
import { MemoryMetrics } from '../../../../support/memory-metrics.ts';
import { MemoryRegistryStore } from '../../../../support/memory-registry-store.ts';
import { registrationOf } from '../../../../support/store-suite.ts';

const NAME = 'monitoring/agent';

class Place {
  readonly clock = new VirtualClock();
  readonly log = new MemoryLog();
  readonly metrics = new MemoryMetrics();
  readonly puts: (readonly BusEntry[])[] = [];
  readonly mirrors = new MemoryMirrors();
  readonly setting = new RegistryInProcess().mirrors;
  readonly registry = new MemoryRegistryStore();
  readonly memory = createMirrorMemory();
  readonly view = new MemoryViewStore();
  readonly registration = registrationOf('management');
  answer: (entries: readonly BusEntry[]) => readonly PutOutcome[] = (entries) =>
    entries.map(() => ({ kind: 'put' }));
  refusal: ConnectRefusal | undefined;
  connections = 0;

  async setMirror(changes: Partial<FleetMirror> = {}): Promise<void> {
    const mirror = { ...NO_MIRROR, cluster: this.registration.id, setBy: 'ann', ...changes };
    await this.setting.writeMirror(mirror);
    await this.registry.writeCluster(this.registration, 0);
  }

  get notifier(): FleetNotifier {
    const { clock, log, metrics, setting, registry, memory, view } = this;
    return createFleetNotifier({
      process: { clock, log, metrics },
      logItems: { view, memory },
      bus: {
        ...{ stackName: 'rollcall-test', memory },
        bus: {
          put: (entries) => {
            this.puts.push(entries);
            return Promise.resolve(this.answer(entries));
          },
        },
      },
      mirror: {
        mirrors: setting,
        registry,
        memory,
        connector: {
          connectMirror: () => {
            this.connections += 1;
            return Promise.resolve(
              this.refusal === undefined
                ? { kind: 'connected', mirrors: this.mirrors }
                : { kind: 'refused', refusal: this.refusal },
            );
          },
        },
      },
    });
  }

  get mirror(): JsonObject | undefined {
    return this.mirrors.objects.get(NAME);
  }

  status(name: string): unknown {
    return jsonMember(this.mirror?.['status'], name);
  }
}

async function loggedItems({ view }: Place): Promise<readonly LogItem[]> {
  const { atMs } = fleetDecision();
  const day = new Date(atMs).toISOString().slice(0, 10);
  return (await view.listLogItems(undefined, { day, nowMs: atMs })).items;
}

let place: Place;
beforeEach(() => {
  place = new Place();
});

describe('createFleetNotifier', () => {
  it('tells the log alone where neither bus nor mirror is configured', async () => {
    const { clock, log, metrics, view, memory } = place;
    const logItems = { view, memory };
    const nobody = createFleetNotifier({ process: { clock, log, metrics }, logItems });
    await nobody.tell([fleetDecision()]);
    await nobody.show(fleetRecord());
    await nobody.hide(fleetRecord());
    assert.deepEqual([log.lines, metrics.names], [[], []]);
    assert.equal((await loggedItems(place)).length, 1);
  });

  it('gives each decision one entry of the log, whoever tells it, and however often', async () => {
    const decision = fleetDecision();
    await place.notifier.tell([decision]);
    await place.notifier.tell([decision]);
    place.memory.logged.clear();
    await place.notifier.tell([decision]);
    const { kind, atMs, message, record } = decision;
    const [item, ...others] = await loggedItems(place);
    assert.deepEqual(others, []);
    const { namespace, name } = record;
    assert.deepEqual(item?.subject, { kind: 'name', namespace, name });
    assert.deepEqual(item.entries, [{ kind: 'fleet', atMs, decision: kind, message }]);
  });

  it('tells the bus although the log cannot be written, and the log with the next telling', async () => {
    place.view.hooks = { before: () => Promise.reject(new Error('no table')) };
    await place.notifier.tell([fleetDecision()]);
    assert.equal(place.metrics.sum('FleetNotifierFailures', 'log'), 1);
    assert.equal(place.puts.length, 1);
    place.view.hooks = {};
    await place.notifier.tell([fleetDecision()]);
    assert.equal((await loggedItems(place)).length, 1);
  });

  it('never rejects: a table that fails is counted and logged, and a rollout goes on', async () => {
    place.setting.readMirror = () => Promise.reject(new Error('no table'));
    await place.notifier.show(fleetRecord());
    assert.equal(place.metrics.sum('FleetNotifierFailures', 'show'), 1);
    assert.equal(place.log.lines.length, 1);
  });
});

describe('tell', () => {
  it('puts each decision as a CloudEvent, and asks no bus for none', async () => {
    await place.notifier.tell([]);
    await place.notifier.tell([fleetDecision(), fleetDecision({ id: 'b', kind: 'halted' })]);
    assert.equal(place.puts.length, 1);
    const [first, second] = place.puts[0] ?? [];
    assert.equal(first?.type, 'dev.rollcall.fleet.stage-opened');
    assert.equal((JSON.parse(second?.detail ?? '') as JsonObject)['id'], 'b');
    assert.equal(place.metrics.sum('FleetEvents', 'put'), 2);
  });

  it('puts once what it is asked for twice, and a process that just began puts it again under the same id', async () => {
    await place.notifier.tell([fleetDecision()]);
    await place.notifier.tell([fleetDecision(), fleetDecision({ id: 'b' })]);
    const ids = (): readonly unknown[] =>
      place.puts.flat().map(({ detail }) => (JSON.parse(detail) as JsonObject)['id']);
    assert.deepEqual(ids(), [fleetDecision().id, 'b']);
    place.memory.told.clear();
    await place.notifier.tell([fleetDecision()]);
    assert.deepEqual(ids(), [fleetDecision().id, 'b', fleetDecision().id]);
  });

  it('puts again with the next step what the bus did not take', async () => {
    place.answer = (entries) => entries.map(() => ({ kind: 'refused', code: 'InvalidArgument' }));
    await place.notifier.tell([fleetDecision()]);
    place.answer = (entries) => entries.map(() => ({ kind: 'put' }));
    await place.notifier.tell([fleetDecision()]);
    assert.equal(place.puts.length, 2);
    assert.equal(place.metrics.sum('FleetEvents', 'put'), 1);
  });

  it('puts again what was not taken, and only that, under the same id', async () => {
    place.answer = (entries) =>
      entries.map(({ detail }, index) =>
        place.puts.length === 1 && index === 1 && detail.includes('"b"')
          ? { kind: 'retry', code: 'ThrottlingException' }
          : { kind: 'put' },
      );
    const told = place.notifier.tell([fleetDecision(), fleetDecision({ id: 'b' })]);
    await settle();
    await place.clock.advance(1000);
    await told;
    assert.equal(place.puts.length, 2);
    assert.deepEqual(place.puts[1], [place.puts[0]?.[1]]);
    assert.equal(place.metrics.sum('FleetEvents', 'put'), 2);
    assert.deepEqual(place.log.lines, []);
  });

  it('gives up after a bound, with one line and a count', async () => {
    place.answer = (entries) => entries.map(() => ({ kind: 'retry', code: 'InternalFailure' }));
    const told = place.notifier.tell([fleetDecision(), fleetDecision({ id: 'b' })]);
    await settle();
    await place.clock.advance(10_000);
    await told;
    assert.equal(place.puts.length, PUTS_MAX);
    assert.equal(place.metrics.sum('FleetEvents', 'lost'), 2);
    assert.equal(place.log.lines.length, 1);
    assert.equal(place.log.lines[0]?.fields['code'], 'InternalFailure');
  });

  it('does not repeat what is refused, nor take a missing answer for success', async () => {
    place.answer = () => [{ kind: 'refused', code: 'AccessDeniedException' }];
    const told = place.notifier.tell([fleetDecision(), fleetDecision({ id: 'b' })]);
    await settle();
    await place.clock.advance(10_000);
    await told;
    assert.deepEqual(
      place.puts.map((entries) => entries.length),
      [2, 1],
    );
    assert.equal(place.metrics.sum('FleetEvents', 'lost'), 2);
  });
});

describe('show', () => {
  it('shows nothing, and reads the setting once a minute, where no cluster is named', async () => {
    for (let walk = 0; walk < 4; walk += 1) {
      await place.notifier.show(fleetRecord());
      await place.clock.advance(30_000);
    }
    const reads = place.setting.calls.filter(({ isWrite }) => !isWrite);
    assert.equal(reads.length, 2);
    assert.equal(place.connections, 0);
  });

  it('writes the object, then its status under the generation that it has', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    assert.deepEqual(place.mirrors.writes, ['object', 'status']);
    assert.equal(place.status('observedGeneration'), 1);
    assert.equal(jsonMember(place.mirror?.['spec'], 'generation'), 3);
  });

  it('costs nothing while the record stays as it is', async () => {
    await place.setMirror();
    for (let walk = 0; walk < 3; walk += 1) await place.notifier.show(fleetRecord());
    assert.equal(place.connections, 1);
    assert.equal(place.mirrors.calls.length, 3);
  });

  it('writes nothing in a process that just began, where all is shown', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    const { mirrors } = place;
    place.memory.shown.clear();
    await place.clock.advance(5000);
    await place.notifier.show(fleetRecord());
    assert.deepEqual(mirrors.writes, ['object', 'status']);
  });

  it('writes the status alone while the release is the same', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    await place.notifier.show({ ...standing('halted'), version: 8 });
    assert.deepEqual(place.mirrors.writes, ['object', 'status', 'status']);
    assert.equal(place.status('state'), 'Halted');
  });

  it('writes nothing for a record that only falls due later', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    await place.clock.advance(60_000);
    await place.notifier.show(fleetRecord({ version: 8, dueAtMs: Infinity }));
    assert.deepEqual(place.mirrors.writes, ['object', 'status']);
  });

  it('raises the generation with a new release, so that no old status passes for it', async () => {
    await place.setMirror();
    const record = fleetRecord();
    await place.notifier.show(record);
    place.mirrors.fault = ({ verb }) =>
      verb === 'status' ? { kind: 'unavailable', message: 'no answer' } : undefined;
    const release = { ...record.release, generation: 4, contentHash: 'content-4' };
    await place.notifier.show({ ...record, version: 8, release });
    assert.equal(jsonMember(place.mirror?.['metadata'], 'generation'), 2);
    assert.equal(place.status('observedGeneration'), 1);
  });

  it('puts back what somebody removed, within an hour', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    place.mirrors.objects.clear();
    await place.clock.advance(LOOK_AGAIN_MS);
    await place.notifier.show(fleetRecord());
    assert.ok(place.mirror !== undefined);
  });

  it('fills in an object that somebody made without a spec', async () => {
    await place.setMirror();
    const metadata = { namespace: 'monitoring', name: 'agent', labels: { owner: 'argocd' } };
    place.mirrors.put({ metadata }, 'object');
    await place.notifier.show(fleetRecord());
    assert.equal(place.status('observedGeneration'), 2);
    assert.deepEqual(jsonMember(place.mirror?.['metadata'], 'labels'), { owner: 'argocd' });
  });

  it('leaves what another process showed of a later record', async () => {
    await place.setMirror();
    await place.notifier.show({ ...standing('done'), version: 9 });
    place.memory.shown.clear();
    await place.notifier.show(fleetRecord({ version: 8 }));
    assert.equal(place.status('state'), 'Completed');
  });

  it('shows a FleetDaemonSet that was made anew, whatever version its record begins with', async () => {
    await place.setMirror();
    await place.notifier.show({ ...standing('done'), version: 9 });
    await place.notifier.show(fleetRecord({ uid: 'another', version: 1 }));
    assert.equal(place.status('recordVersion'), 1);
  });

  it('loses to whoever writes in between, and looks again with the next walk', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    let isFirst = true;
    place.mirrors.beforeWrite = () => {
      if (isFirst) place.mirrors.put({ ...place.mirror }, 'status');
      isFirst = false;
    };
    const next = { ...standing('halted'), version: 8 };
    await place.notifier.show(next);
    assert.equal(place.status('recordVersion'), 7);
    await place.notifier.show(next);
    assert.equal(place.status('recordVersion'), 8);
    assert.deepEqual(place.log.lines, []);
  });

  it('follows when another cluster is named', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    const other = registrationOf('other');
    await place.registry.writeCluster(other, 0);
    await place.setting.writeMirror({ ...(await place.setting.readMirror()), cluster: other.id });
    await place.clock.advance(60_000);
    await place.notifier.show(fleetRecord());
    assert.equal(place.connections, 2);
  });
});

describe('a mirror that cannot be written', () => {
  it('is told once in the log and in the item, counted each time, and tried less and less often', async () => {
    await place.setMirror();
    place.refusal = { kind: 'unavailable', message: 'connect ETIMEDOUT' };
    const walks = 60;
    for (let walk = 0; walk < walks; walk += 1) {
      await place.notifier.show(fleetRecord());
      await place.notifier.show(fleetRecord({ name: 'other' }));
      await place.clock.advance(60_000);
    }
    // After 0, 1, 3, 7, 15, then every 15 minutes.
    assert.equal(place.connections, 7);
    assert.equal(place.metrics.sum('FleetMirrors', 'not-connected'), 7);
    assert.equal(place.log.lines.length, 1);
    const { trouble } = await place.setting.readMirror();
    assert.equal(trouble?.code, 'not-connected');
    assert.match(trouble.message, /management cannot be reached: connect ETIMEDOUT/);
    assert.equal(trouble.sinceMs, place.clock.nowMs() - walks * 60_000);
  });

  it('is shown as soon as it can be, and the trouble ends', async () => {
    await place.setMirror();
    place.refusal = { kind: 'no-credential' };
    await place.notifier.show(fleetRecord());
    place.refusal = undefined;
    await place.clock.advance(60_000);
    await place.notifier.show(fleetRecord());
    assert.ok(place.mirror !== undefined);
    assert.equal((await place.setting.readMirror()).trouble, undefined);
    assert.deepEqual(
      place.log.lines.map(({ level }) => level),
      ['warn', 'info'],
    );
  });

  it('holds back no other fleet where one object is refused', async () => {
    await place.setMirror();
    place.mirrors.fault = ({ name }) =>
      name === NAME ? { kind: 'refused', message: 'namespaces "monitoring" not found' } : undefined;
    await place.notifier.show(fleetRecord());
    await place.notifier.show(fleetRecord({ namespace: 'ops' }));
    assert.ok(place.mirrors.objects.has('ops/agent'));
    const { trouble } = await place.setting.readMirror();
    assert.equal(trouble?.fleet, NAME);
  });

  it('is not tried in a frozen cluster, nor in one that is gone', async () => {
    await place.setMirror();
    const stored = await place.registry.readCluster(place.registration.id);
    await place.registry.writeCluster(
      { ...place.registration, isFrozen: true },
      stored?.configVersion ?? 0,
    );
    await place.notifier.show(fleetRecord());
    assert.equal(place.connections, 0);
    assert.equal((await place.setting.readMirror()).trouble?.code, 'frozen');
  });

  it('costs no more lines in processes that just began', async () => {
    await place.setMirror();
    place.refusal = { kind: 'no-credential' };
    for (let process = 0; process < 5; process += 1) {
      place.memory.pauses.clear();
      delete place.memory.setting;
      await place.notifier.show(fleetRecord());
    }
    assert.equal(place.log.lines.length, 1);
  });
});

describe('hide', () => {
  it('removes what was shown, and again nothing', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    await place.notifier.hide(fleetRecord());
    await place.notifier.hide(fleetRecord());
    assert.equal(place.mirror, undefined);
    assert.equal(place.metrics.sum('FleetMirrors', 'shown'), 3);
  });

  it('leaves the mirror of one that was made anew under the name', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord({ uid: 'another' }));
    await place.notifier.hide(fleetRecord());
    assert.ok(place.mirror !== undefined);
  });

  it('is attempted in a pause of others, too', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    place.refusal = { kind: 'no-credential' };
    await place.notifier.show(fleetRecord({ version: 8 }));
    place.refusal = undefined;
    assert.equal(await place.notifier.hide(fleetRecord()), 'hidden');
    assert.equal(place.mirror, undefined);
  });

  it('asks to be asked again where it could not remove it, and tries less and less often', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    place.refusal = { kind: 'no-credential' };
    const before = place.connections;
    for (let minute = 0; minute < 60; minute += 1) {
      assert.equal(await place.notifier.hide(fleetRecord()), 'later');
      await place.clock.advance(60_000);
    }
    assert.ok(place.connections - before <= 9, String(place.connections - before));
    assert.equal(place.log.lines.length, 1);
    place.refusal = undefined;
    await place.clock.advance(900_000);
    assert.equal(await place.notifier.hide(fleetRecord()), 'hidden');
    assert.equal(place.mirror, undefined);
  });

  it('is over where nobody names a cluster any more, and where that is not registered', async () => {
    await place.setMirror();
    await place.notifier.show(fleetRecord());
    place.registry.readCluster = () => Promise.resolve(undefined);
    assert.equal(await place.notifier.hide(fleetRecord()), 'hidden');
    const other = new Place();
    assert.equal(await other.notifier.hide(fleetRecord()), 'hidden');
    other.setting.readMirror = () => Promise.reject(new Error('no table'));
    await other.clock.advance(120_000);
    assert.equal(await other.notifier.hide(fleetRecord()), 'later', 'nobody knows');
  });
});
