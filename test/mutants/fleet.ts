/** Planted bugs of fleets and their documents (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const FLEET_BUGS: PlantedBugs = {
  'fleet-octal-taken': {
    bug: 'a mode of 0644 is 644, and opens a file to others (18.1)',
    at: 'src/adapters/policy/manifest-reader.ts#MANIFEST_RULES',
    to: "{ depthMax: 32, leadingZeros: 'taken' }",
    killedBy: 'test/unit/adapters/policy/fleet/fleet-reader.test.ts: reads as octal',
  },
  'fleet-first-cluster-alone': {
    bug: 'by default one cluster opens the next stage by its word alone',
    at: 'src/adapters/policy/fleet/fleet-schema.ts#strategy',
    change: "name: 'canary', clusters: 2, nodes: 1",
    to: "name: 'canary', clusters: 1, nodes: 1",
    killedBy: 'test/unit/core/fleet/plan-fleet.test.ts: from one node of each of two clusters',
  },
  'rollback-unasked': {
    bug: 'a policy that says nothing of breaches rolls back (17.2)',
    at: 'src/adapters/policy/policy-schema.ts#policySchema',
    change: "'rollback', 'pause')",
    to: "'rollback', 'rollback')",
    killedBy:
      'test/unit/adapters/policy/policy-reader.test.ts: a policy that says nothing has every default',
  },
  'unknown-fields-one-at-a-time': {
    bug: 'of several unknown fields only the first is told (17.2)',
    at: 'src/adapters/policy/problems.ts#toProblems',
    change: '.filter((key) => !known.includes(key))',
    to: '.filter((key) => key === last.key)',
    killedBy: 'test/unit/adapters/policy/policy-reader.test.ts: says no more than ten problems',
  },
  'policy-of-the-first-document': {
    bug: 'of two YAML documents the second, which pauses, is passed over (17.2)',
    at: 'src/adapters/policy/read-yaml.ts#OPTIONS',
    change: "logLevel: 'error'",
    to: "logLevel: 'silent'",
    killedBy: 'test/unit/adapters/policy/policy-reader.test.ts: a second document',
  },
  'policy-says-it-twice': {
    bug: 'of a field that is given twice the last one counts (17.2)',
    at: 'src/adapters/policy/read-yaml.ts#plainMap',
    change: 'if (entries.has(name)) problems.push',
    to: 'if (entries.size < 0) problems.push',
    killedBy: 'test/unit/adapters/policy/policy-reader.test.ts: a key that is given twice',
  },
  'aliases-in-a-policy': {
    bug: 'anchors are read over: a policy that is short may be long (17.2)',
    at: 'src/adapters/policy/read-yaml.ts#whyRefused',
    change: 'if (node.anchor !== undefined)',
    to: 'if (depth < 0)',
    killedBy:
      'test/unit/adapters/policy/policy-reader.test.ts: anchors, aliases and tags, each at its field',
  },
  'problems-quote-the-policy': {
    bug: 'a problem quotes what was written, secrets too (17.2, S11)',
    at: 'src/adapters/policy/schema-parts.ts#oneOf',
    change: "return v.picklist(words, `must be one of ${words.join(', ')}`);",
    to: 'return v.picklist(words, (issue) => issue.message);',
    killedBy:
      'test/unit/adapters/policy/policy-reader.test.ts: is no value of it, whatever is wrong',
  },
  'copilot-rolls-everywhere': {
    bug: 'a release that a copilot cluster rolls everywhere at once is stored',
    at: 'src/app/fleet/apply-fleet.ts#renderPlaced',
    change: 'renderForMode(renderFor(registration), registration.mode)',
    to: 'renderFor(registration)',
    killedBy:
      'test/unit/cli/fleet/fleet-commands.test.ts: keeps RollingUpdate from clusters in copilot',
  },
  'apply-dry-run-stores': {
    bug: '--dry-run=server stores the release',
    at: 'src/app/fleet/apply-fleet.ts#storeFleet',
    change: 'if (isDryRun) return applied;',
    to: '',
    killedBy: 'test/unit/cli/fleet/server-check.test.ts: asks and stores nothing',
  },
  'check-rights-of-a-person': {
    bug: 'whoever may not ask a cluster may release nothing',
    at: 'src/app/fleet/check/ask-clusters.ts#verdictOf',
    change: 'return isRight ?',
    to: 'return status < 0 ?',
    killedBy: 'test/unit/app/fleet/check/verdict.test.ts: a right that whoever asks does not have',
  },
  'rights-of-every-fleet': {
    bug: 'a cluster grants what is placed elsewhere',
    at: 'src/app/fleet/find-fleet.ts#fleetsOn',
    change: 'compilePlacement(placement)(cluster)',
    to: 'compilePlacement(placement)(cluster) || true',
    killedBy:
      'test/unit/cli/fleet/rights-command.test.ts: names all that are placed there and no other',
  },
  'fleet-batch-of-forty': {
    bug: 'forty clusters are given something between two looks at freeze and orders (18.5)',
    at: 'src/app/fleet/observe/dependencies.ts#GIVEN_AT_ONCE',
    to: '40',
    killedBy:
      'test/unit/app/fleet/step/step-fleets.test.ts: between two batches end the second one',
  },
  'fleet-looks-of-before': {
    bug: 'what was seen before all were well lets the next stage open',
    at: 'src/app/fleet/observe/looks.ts#Looks.constructor',
    change: 'Math.max(wellSinceMs, clock.nowMs() - OPENS_MS)',
    to: 'Math.max(0 * wellSinceMs, clock.nowMs() - OPENS_MS)',
    killedBy: 'test/simulation/fleet-thousands.test.ts: by what was seen before it soaked',
  },
  'fleet-looks-without-end': {
    bug: 'a step looks at all clusters of a stage, however many they are',
    at: 'src/app/fleet/observe/looks.ts#Looks.mayLook',
    change: 'const isOver = this.#clock',
    to: 'const isOver = this.#count < 0 && this.#clock',
    killedBy:
      'test/simulation/fleet-thousands.test.ts: without an invocation that runs out of time',
  },
  'fleet-looks-lose-their-place': {
    bug: 'what a step found is forgotten with it',
    at: 'src/app/fleet/observe/looks.ts#Looks.write',
    change: 'this.#ends === undefined || this.#count === 0',
    to: 'this.#ends === undefined || this.#count >= 0',
    killedBy:
      'test/simulation/fleet-thousands.test.ts: without an invocation that runs out of time',
  },
  'fleet-rebuilt-makes-room': {
    bug: 'a cluster that was rebuilt before its answer was heard makes room for one more (18.2)',
    at: 'src/app/fleet/observe/observe-clusters.ts#judge',
    change: 'const again = isRebuilt ? undefined : againOf(',
    to: 'const again = isRebuilt && record.version < 0 ? undefined : againOf(',
    killedBy: 'test/unit/app/fleet/step/step-fleets.test.ts: make no room for others',
  },
  'fleet-pool-compares-across-order': {
    bug: 'regions that the order sends first are compared with those that it sends later (18.4)',
    at: 'src/app/fleet/observe/observe-pool.ts#observePool',
    change: '[poolStratumOf(node, found.registration), ...turn]',
    to: '[poolStratumOf(node, found.registration)]',
    killedBy:
      'test/unit/app/fleet/observe/observe-pool.test.ts: that the order sends one after the other',
  },
  'fleet-nodes-of-before': {
    bug: 'a cluster whose nodes a release selects no more is empty, and no failure (18.4, Reddit 2023-03-14)',
    at: 'src/app/fleet/step/give-clusters.ts#applying',
    change: ': { nodes };',
    to: ': {};',
    killedBy: 'test/simulation/fleet-incidents.test.ts: Reddit 2023-03-14',
  },
  'fleet-way-back-waits-for-approval': {
    bug: 'a cluster that never completed what the others go back to waits for a person and a window',
    at: 'src/app/fleet/step/go-back.ts#giftOf',
    change: '!isThere && rendering.isGatedFor(registration)',
    to: 'isThere && rendering.isGatedFor(registration)',
    killedBy:
      'test/simulation/fleet-way-back.test.ts: brings a cluster that never had what the others go back to',
  },
  'fleet-undo-waits-for-a-look': {
    bug: 'clusters that go back wait for a look at the stage that they leave',
    at: 'src/app/fleet/step/make-step.ts#Step.make',
    change:
      'const isHeld = freeze !== undefined || returnTargetOf(record, fleet.strategy) !== undefined;',
    to: 'const isHeld = freeze !== undefined;',
    killedBy: 'test/simulation/fleet-thousands.test.ts: goes back at once when somebody orders it',
  },
  'fleet-diff-shows-tokens': {
    bug: 'values of environment variables are printed (S11)',
    at: 'src/cli/fleet/plan-commands.ts#HIDDEN',
    to: '/\\.(args|command|annotations)\\b/',
    killedBy: 'test/unit/cli/fleet/fleet-commands.test.ts: values only where they are no secrets',
  },
  'fence-denies-nothing': {
    bug: 'the fence of fleets is printed, and refuses nothing',
    at: 'src/cli/fleet/rights-command.ts#fleetFence',
    change: "validationActions: ['Deny']",
    to: "validationActions: ['Audit']",
    killedBy: 'test/conformance/rights/fence.test.ts: is refused, created and changed',
  },
  'fence-forgets-the-release-before': {
    bug: 'a fence that is printed for a file refuses the way back to what was applied before it',
    at: 'src/cli/fleet/rights-command.ts#fleetRightsCommand',
    change: 'const documents = [...every, ...added];',
    to: 'const documents = [...others, ...added];',
    killedBy: 'test/unit/cli/fleet/rights-command.test.ts: by the one before it as well',
  },
  'a-shut-window-hides-who-rolls': {
    bug: 'clusters that still roll when their window shuts are told as waiting for it, and are looked at every ten minutes',
    at: 'src/core/rollout/judge-step.ts#judgeMembers',
    change:
      "return rolling > 0 ? { kind: 'updating', pendingNodes: waiting } : closed(windows, nowMs);",
    to: 'return closed(windows, nowMs);',
    killedBy:
      'test/unit/core/fleet/rollout/judge-stage.test.ts: tells of clusters that roll in spite of a window',
  },
  'resumed-way-back-tries-nobody': {
    bug: 'clusters that failed on a way back are not tried again once it is resumed',
    at: 'src/core/fleet/rollout/way-back.ts#placeOfFailed',
    change: 'undo?.atMs ?? 0, resumed?.breach.atMs ?? 0',
    to: 'undo?.atMs ?? 0',
    killedBy:
      'test/unit/core/fleet/rollout/way-back.test.ts: keeps those that were given it, also those that failed',
  },
  'fleet-retry-after-ignored': {
    bug: 'an API server that answers an apply with 429 is asked again before its Retry-After',
    at: 'src/app/fleet/step/give-clusters.ts#noteAnswer',
    change: 'Math.max(waitMs, answer.retryAfterMs ?? 0)',
    to: 'waitMs',
    killedBy:
      'test/unit/app/fleet/step/give-clusters.test.ts: asks a busy API server again no sooner',
  },
  'a-freeze-by-name-between-batches': {
    bug: 'a freeze of the fleet by name does not stop the batches that its step has begun',
    at: 'src/app/fleet/step/give-clusters.ts#stands',
    change: 'freezeOf(freeze, record) === undefined',
    to: 'freeze.all === undefined',
    killedBy:
      'test/unit/app/fleet/step/step-fleets.test.ts: between two batches end the second one',
  },
  'applied-again-past-one-cluster': {
    bug: 'the same content, applied once more, goes on past a halt for what one cluster showed',
    at: 'src/core/fleet/rollout/begin-rollout.ts#beginAgain',
    change: "breach?.grounds === 'place' ? undefined : breach",
    to: 'breach?.grounds !== undefined ? undefined : breach',
    killedBy:
      'test/unit/core/fleet/rollout/begin-rollout.test.ts: begins the same content anew where clusters alone',
  },
};
