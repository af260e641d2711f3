// One manifest sent to one cluster: others who write between the read and the apply, deadlines, and answers that do not come.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { sendManifest } from '../../../../src/app/fleet/send-manifest.ts';
import type { Answer } from '../../../../src/app/fleet/send-manifest.ts';
import type { FleetManifest } from '../../../../src/core/fleet/fleet-daemon-set.ts';
import { fleetRenderer } from '../../../../src/core/fleet/render-fleet.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterConnector } from '../../../../src/ports/cluster/cluster-access.ts';
import { fleetOf, manifestOf } from '../../../support/fleet-samples.ts';
import { SimulatedCluster } from '../../../support/simulated-cluster.ts';
import { registrationOf } from '../../../support/simulation/registration.ts';

const KEY = { namespace: 'monitoring', name: 'agent' };
const UID = clusterUid('uid-of-kube-system');

function manifestWith(image: string): FleetManifest {
  const rendered = fleetRenderer(fleetOf({ template: manifestOf({}, image) }))({
    id: clusterId('a'),
    labels: {},
  });
  assert.equal(rendered.kind, 'rendered');
  return rendered.manifest;
}

class Place {
  readonly clock = new VirtualClock();
  readonly cluster = new SimulatedCluster(UID, this.clock);
  deadlineMs = 60_000;
  wallDeadlineMs = Infinity;

  send(image: string, isDryRun = false): Promise<Answer> {
    const connector: ClusterConnector = {
      connect: () => Promise.resolve({ kind: 'connected', access: this.cluster }),
      forget: () => undefined,
    };
    const { deadlineMs, wallDeadlineMs } = this;
    const limits = { deadlineMs, wallDeadlineMs };
    const registration = registrationOf(UID);
    const manifest = manifestWith(image);
    return sendManifest(
      { registration, manifest, isForced: false, isDryRun, limits },
      { connector },
    );
  }

  /** What is done once, after the DaemonSet was read and before the apply takes effect. */
  between(act: () => void): void {
    let isDone = false;
    this.cluster.hooks = {
      beforeApply: () => {
        if (!isDone) act();
        isDone = true;
        return undefined;
      },
    };
  }

  get text(): string {
    return JSON.stringify(this.cluster.find('daemonsets', KEY.name, KEY.namespace));
  }
}

/** A place that has image 1. */
async function withOne(): Promise<Place> {
  const place = new Place();
  assert.equal((await place.send('agent:1')).kind, 'applied');
  return place;
}

describe('sendManifest: others who write at the same time', () => {
  it('changes nothing over a write that came in between, and both stand after the next try', async () => {
    const place = await withOne();
    place.between(() => {
      place.cluster.manifests.editAs('helm', KEY, (set) => ({
        ...set,
        metadata: { ...set.metadata, labels: { team: 'edge' } },
      }));
    });
    const first = await place.send('agent:2');
    assert.deepEqual(first, {
      kind: 'unanswered',
      message: 'another client changed it at the same time',
    });
    assert.match(place.text, /agent:1/);
    assert.equal((await place.send('agent:2')).kind, 'applied');
    assert.match(place.text, /agent:2/);
    assert.match(place.text, /"team":"edge"/);
  });

  it('tells who has taken a field in between, with the next try, and never takes it', async () => {
    const place = await withOne();
    place.between(() => {
      place.cluster.manifests.applyAs('argocd', manifestWith('agent:9'), {
        isDryRun: false,
        isForced: true,
      });
    });
    assert.equal((await place.send('agent:2')).kind, 'unanswered');
    const next = await place.send('agent:2');
    assert.equal(next.kind, 'failed');
    assert.match(next.message, /^argocd owns .*image.*; nothing was changed$/);
    assert.match(place.text, /agent:9/);
  });

  it('makes nothing anew that was deleted in between, nor changes what took its name', async () => {
    const gone = await withOne();
    gone.between(() => {
      gone.cluster.remove('daemonsets', KEY.name, KEY.namespace);
    });
    assert.equal((await gone.send('agent:2')).kind, 'unanswered');
    assert.equal(gone.cluster.find('daemonsets', KEY.name, KEY.namespace), undefined);
    const other = await withOne();
    other.between(() => {
      other.cluster.remove('daemonsets', KEY.name, KEY.namespace);
      other.cluster.manifests.applyAs('somebody', manifestWith('agent:9'), {
        isDryRun: false,
        isForced: false,
      });
    });
    assert.equal((await other.send('agent:2')).kind, 'unanswered');
    assert.match(other.text, /agent:9/);
  });

  it('takes nothing from who made it between the read of none and the create', async () => {
    const place = new Place();
    place.between(() => {
      place.cluster.manifests.applyAs('helm', manifestWith('agent:9'), {
        isDryRun: false,
        isForced: false,
      });
    });
    const answer = await place.send('agent:2');
    assert.equal(answer.kind, 'failed');
    assert.match(answer.message, /^helm owns /);
    assert.match(place.text, /agent:9/);
  });
});

describe('sendManifest: deadlines', () => {
  for (const which of ['deadlineMs', 'wallDeadlineMs'] as const) {
    it(`sends nothing once ${which} has passed, be it while the DaemonSet is read`, async () => {
      const place = await withOne();
      const nowMs = which === 'deadlineMs' ? place.clock.monotonicMs() : place.clock.nowMs();
      place[which] = nowMs + 10_000;
      place.cluster.hooks = {
        onRead: async () => {
          await place.clock.advance(10_000);
          return undefined;
        },
      };
      const before = place.cluster.version;
      assert.equal((await place.send('agent:2')).kind, 'unanswered');
      assert.equal(place.cluster.version, before);
      assert.match(place.text, /agent:1/);
    });
  }

  it('is sent again after as long as a busy API server asks for', async () => {
    const place = await withOne();
    place.cluster.hooks = {
      beforeApply: () => ({ kind: 'unavailable', message: 'busy', retryAfterMs: 90_000 }),
    };
    assert.deepEqual(await place.send('agent:2'), {
      kind: 'unanswered',
      message: 'busy',
      retryAfterMs: 90_000,
    });
  });

  it('leaves what nobody heard to the next try, which changes nothing twice', async () => {
    const place = await withOne();
    place.cluster.hooks = { beforeApply: () => 'lose-answer' };
    assert.equal((await place.send('agent:2')).kind, 'unanswered');
    place.cluster.hooks = {};
    const before = place.cluster.version;
    assert.equal((await place.send('agent:2')).kind, 'applied');
    assert.equal(place.cluster.version, before);
  });
});

describe('sendManifest: a dry run', () => {
  it('changes nothing, and says what the cluster would refuse', async () => {
    const place = await withOne();
    const before = place.text;
    assert.equal((await place.send('agent:2', true)).kind, 'applied');
    const message = 'denied by admission';
    place.cluster.hooks = { beforeApply: () => ({ kind: 'refused', status: 403, message }) };
    assert.deepEqual(await place.send('agent:2', true), {
      kind: 'failed',
      cause: 'Refused',
      message,
      status: 403,
    });
    assert.equal(place.text, before);
  });

  it('says nothing where a webhook takes none', async () => {
    const place = await withOne();
    const message = 'admission webhook "w" does not support dry run';
    place.cluster.hooks = { beforeApply: () => ({ kind: 'refused', status: 400, message }) };
    assert.equal((await place.send('agent:2', true)).kind, 'unanswered');
    assert.equal((await place.send('agent:2')).kind, 'failed');
  });
});

describe('sendManifest: clusters that cannot be reached', () => {
  const refused = async (refusal: object): Promise<Answer> => {
    const connector = {
      connect: () => Promise.resolve({ kind: 'refused', refusal }),
      forget: () => undefined,
    } as unknown as ClusterConnector; // refusals as they are typed
    const limits = { deadlineMs: 60_000 };
    const sending = { registration: registrationOf(UID), manifest: manifestWith('a'), limits };
    return sendManifest({ ...sending, isForced: false, isDryRun: false }, { connector });
  };

  it('are tried again where an outage may pass, and fail where the registration is wrong', async () => {
    assert.equal((await refused({ kind: 'unavailable', message: 'no route' })).kind, 'unanswered');
    assert.equal((await refused({ kind: 'no-token', fault: 'throttled' })).kind, 'unanswered');
    const wrong = await refused({ kind: 'wrong-cluster', foundUid: 'other' });
    assert.deepEqual(wrong, {
      kind: 'failed',
      cause: 'Refused',
      message: 'another cluster answers at its address',
    });
  });
});
