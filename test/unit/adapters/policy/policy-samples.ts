/**
 * Policies for the tests of the reader and of the published schema: one with every field, and what is refused.
 */

/** Every field has another value than its default. */
export const EVERY_FIELD = `
paused: true
maxUnavailable: 10
partition: 50%
order:
  - {label: topology.kubernetes.io/zone, values: [eu-1a, eu-1b]}
  - {label: node-role.kubernetes.io/control-plane, last: true}
canary: {nodes: 5%, spread: [kubernetes.io/arch]}
soak: 1h30m
approval: after-canary
progressDeadline: 2h
window:
  - {days: [mon-fri, sun], from: "22:00", to: "4:00", timeZone: Europe/Berlin}
  - {days: [Sat], timeZone: UTC}
onHalt: rollback
exclude:
  matchLabels: {pinned: "yes"}
  matchExpressions: [{key: spot, operator: Exists}]
budget: attributed
removalGuard: 35%
`;

/**
 * What is refused, the text, the field that is named, and `reader` where only the reader can tell: JSON Schema does not.
 */
export const REFUSED_POLICIES: readonly (readonly [
  what: string,
  text: string,
  field: string,
  by?: 'reader',
])[] = [
  ['a count in quotes, as intstr refuses it', 'maxUnavailable: "10"', 'maxUnavailable'],
  ['a fraction', 'maxUnavailable: 1.5', 'maxUnavailable'],
  ['a fraction of a percent', 'maxUnavailable: 1.5%', 'maxUnavailable'],
  ['a percentage with a blank', 'maxUnavailable: 20 %', 'maxUnavailable'],
  ['more than all', 'maxUnavailable: 101%', 'maxUnavailable'],
  ['a maxUnavailable of nothing, which holds for ever', 'maxUnavailable: 0', 'maxUnavailable'],
  ['a maxUnavailable of 0 %', 'maxUnavailable: 0%', 'maxUnavailable'],
  ['a count below zero', 'partition: -1', 'partition'],
  ['no number', 'partition: .nan', 'partition'],
  ['infinity', 'partition: .inf', 'partition'],
  ['a count beyond 32 bits', 'partition: 4294967296', 'partition'],
  ['a field without a value', 'maxUnavailable:', 'maxUnavailable'],
  ['a word of YAML 1.1', 'paused: on', 'paused'],
  ['a word of YAML 1.1, yes', 'paused: yes', 'paused'],
  ['a canary of nobody', 'canary: {nodes: 0%}', 'canary.nodes'],
  ['a canary that is a number', 'canary: 3', 'canary'],
  ['a canary that is a list', 'canary: []', 'canary'],
  [
    'a canary by number and selector',
    'canary: {nodes: 1, selector: {matchLabels: {a: b}}}',
    'canary',
    'reader',
  ],
  ['a selector of all', 'canary: {selector: {}}', 'canary.selector', 'reader'],
  ['an exclusion of all', 'exclude: {matchLabels: {}}', 'exclude', 'reader'],
  ['a label with a number', 'exclude: {matchLabels: {a: 1}}', 'exclude.matchLabels'],
  ['a key that is none', 'order: [{label: "a b"}]', 'order[0].label'],
  [
    'an unknown operator',
    'exclude: {matchExpressions: [{key: a, operator: in, values: [b]}]}',
    'exclude.matchExpressions[0].operator',
  ],
  ['a soak without a unit', 'soak: "600"', 'soak'],
  ['a soak of nothing written', 'soak: ""', 'soak'],
  ['a soak of more than a month', 'soak: 721h', 'soak', 'reader'],
  ['a soak in days, which Go does not know', 'soak: 1d', 'soak'],
  ['a deadline under a minute', 'progressDeadline: 59s', 'progressDeadline', 'reader'],
  [
    'a deadline that each soak would miss',
    'soak: 10m\nprogressDeadline: 10m',
    'progressDeadline',
    'reader',
  ],
  [
    'a deadline that the default soak would miss',
    'progressDeadline: 5m',
    'progressDeadline',
    'reader',
  ],
  ['an unknown word', 'onHalt: stop', 'onHalt'],
  ['a removal guard that is a count', 'removalGuard: 20', 'removalGuard'],
  ['a removal guard of nothing', 'removalGuard: 0%', 'removalGuard'],
  ['half a window', 'window: {from: "22:00", timeZone: UTC}', 'window', 'reader'],
  [
    'a window that is never open',
    'window: {from: "22:00", to: "22:00", timeZone: UTC}',
    'window',
    'reader',
  ],
  [
    'a window of 14 minutes',
    'window: {from: "23:50", to: "00:04", timeZone: UTC}',
    'window',
    'reader',
  ],
  ['a window of no days', 'window: {days: [], timeZone: UTC}', 'window.days'],
  ['a minute that is none', 'window: {from: "22:60", to: "23:30", timeZone: UTC}', 'window.from'],
  ['24:00 as a start', 'window: {from: "24:00", to: "04:00", timeZone: UTC}', 'window.from'],
  ['a list at the top', '[]', ''],
  ['a text at the top', 'pause', ''],
  ['comments alone', '# nothing yet', ''],
  ['a zone that is nowhere', 'window: {timeZone: Mars/Olympus}', 'window.timeZone', 'reader'],
  [
    'In without values',
    'exclude: {matchExpressions: [{key: a, operator: In}]}',
    'exclude.matchExpressions[0]',
    'reader',
  ],
  [
    'a label whose value is none',
    'exclude: {matchLabels: {a: "b c"}}',
    'exclude.matchLabels',
    'reader',
  ],
  ['an unknown field', 'sidecar: 1', 'sidecar'],
  ['an unknown field inside', 'canary: {sidecar: 1}', 'canary.sidecar'],
  ['a rule without its label', 'order: [{last: true}]', 'order[0].label'],
  ['a window without its zone', 'window: [{days: [mon]}]', 'window[0].timeZone'],
];
