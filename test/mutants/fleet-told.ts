/**
 * Bugs in what others are told of fleets: a mirror that says more than is known, events that are lost in silence (issue 18, ADR 0068).
 */
import type { PlantedBug } from './planted-bug.ts';

const AUDIENCE_TEST = 'test/unit/app/fleet/notify/fleet-audience.test.ts';
const SHOW = 'src/app/fleet/notify/mirror-show.ts';
const WRITE = 'src/app/fleet/notify/mirror-show.ts';
const MIRROR_TEST = 'test/unit/infra/fleet-mirror.test.ts';

/** All of them. */
export const FLEET_TOLD_BUGS: Readonly<Record<string, PlantedBug>> = {
  'told-older-record-wins': {
    bug: 'a process that is late shows an older record over a later one (18.7)',
    file: WRITE,
    before: "return isOurs && typeof version === 'number' && version > record.version;",
    after: "return isOurs && typeof version === 'number' && version < 0;",
    killedBy: { file: AUDIENCE_TEST, title: 'leaves what another process showed' },
  },
  'told-write-without-a-fence': {
    bug: 'a mirror is written over what somebody else wrote since it was read (18.7)',
    file: WRITE,
    before: "return typeof resourceVersion === 'string'",
    after: "return typeof resourceVersion === 'number'",
    killedBy: { file: AUDIENCE_TEST, title: 'loses to whoever writes in between' },
  },
  'told-outage-never-pauses': {
    bug: 'a management cluster that is down is asked for every fleet and every minute (18.7)',
    file: SHOW,
    before: 'if (this.#isPaused(record, nowMs)) return;',
    after: '',
    killedBy: { file: AUDIENCE_TEST, title: 'tried less and less often' },
  },
  'told-frozen-is-written': {
    bug: 'a mirror is written into a frozen cluster (18.5)',
    file: SHOW,
    before: 'if (registration.isFrozen) {',
    after: 'if (registration.id === undefined) {',
    killedBy: { file: AUDIENCE_TEST, title: 'is not tried in a frozen cluster' },
  },
  'told-lost-in-silence': {
    bug: 'events that the bus never took are neither counted nor logged (18.7)',
    file: 'src/app/fleet/notify/fleet-audience.ts',
    before: "metrics.count('FleetEvents', { outcome: 'lost', by: lost.length });",
    after: '',
    killedBy: { file: AUDIENCE_TEST, title: 'gives up after a bound' },
  },
  'told-stale-status-is-healthy': {
    bug: 'Argo CD shows the status of an older release as healthy (Argo CD #29410)',
    file: 'infra/mirror/argocd/health.lua',
    before: 'obj.status.observedGeneration ~= obj.metadata.generation',
    after: 'obj.status.observedGeneration == nil',
    killedBy: { file: MIRROR_TEST, title: 'never shows as healthy what was not observed' },
  },
  'told-others-may-write': {
    bug: 'whoever may write FleetDaemonSets may say that a fleet is ready (18.7)',
    file: 'infra/mirror/admission.yaml',
    before: "expression: request.?subResource.orValue('') == ''",
    after: "expression: 'true'",
    killedBy: {
      file: 'test/conformance/fleet-mirror/fleet-mirror.test.ts',
      title: 'lets nobody else write a spec or a status',
    },
  },
  'told-images-are-markup': {
    bug: 'the name of an image is a mention, a link or a cell of a comment (18.7)',
    file: 'src/cli/fleet/render-plan.ts',
    before: ".replaceAll('|', '\\\\|')",
    after: '',
    killedBy: {
      file: 'test/unit/cli/fleet/markdown-plan.test.ts',
      title: 'lets no image become a link',
    },
  },
  'told-twice-by-one-process': {
    bug: 'each decision is put on the bus twice',
    file: 'src/app/fleet/notify/fleet-audience.ts',
    before: '.filter(({ id }) => !told.has(id))',
    after: '',
    killedBy: {
      file: 'test/unit/app/fleet/notify/fleet-audience.test.ts',
      title: 'puts once what it is asked for twice',
    },
  },
  'told-mirror-left-behind': {
    bug: 'a mirror whose removal failed stays for ever',
    file: 'src/app/fleet/step/step-fleets.ts',
    before: "if ((await audience.hide(known)) === 'later') return 'leaving';",
    after: 'await audience.hide(known);',
    killedBy: {
      file: 'test/unit/app/fleet/step/step-fleet.test.ts',
      title: 'leaves nothing once its mirror is removed',
    },
  },
  'told-hide-never-pauses': {
    bug: 'a cluster that is away is asked each minute to remove a mirror',
    file: 'src/app/fleet/notify/mirror-show.ts',
    before: "if ((pauses.get(own)?.untilMs ?? 0) > nowMs) return 'later';",
    after: '',
    killedBy: {
      file: 'test/unit/app/fleet/notify/fleet-audience.test.ts',
      title: 'tries less and less often',
    },
  },
};
