// Policies as users write them: what each means, and how what cannot be meant is refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPolicyReader } from '../../../../src/adapters/policy/policy-reader.ts';
import { EVERY_FIELD, REFUSED_POLICIES } from './policy-samples.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';

const reader = createPolicyReader();

function policyOf(text: string): RolloutPolicy {
  const reading = reader.read(text);
  assert.equal(reading.kind, 'policy', JSON.stringify(reading));
  return reading.policy;
}

/** Field and message of each problem. */
function problemsOf(text: string): readonly (readonly [string, string])[] {
  const reading = reader.read(text);
  if (reading.kind !== 'invalid') assert.fail(`read as ${JSON.stringify(reading)}`);
  return reading.problems.map(({ field, message }) => [field, message]);
}

function fieldsOf(text: string): readonly string[] {
  return problemsOf(text).map(([field]) => field);
}

/** What a policy is of which nothing is said. */
const DEFAULTS: RolloutPolicy = {
  isPaused: false,
  order: [],
  canary: {
    kind: 'share',
    share: { kind: 'count', count: 1 },
    spread: [
      'topology.kubernetes.io/zone',
      'kubernetes.io/arch',
      'node.kubernetes.io/instance-type',
    ],
  },
  soakMs: 300_000,
  approval: 'none',
  windows: [],
  onHalt: 'pause',
  returns: 'at-once',
  budget: 'parity',
  removalPercent: 20,
};

describe('createPolicyReader', () => {
  it('no annotation, or a blank one, is no policy', () => {
    for (const text of [undefined, '', ' \n\t ']) {
      assert.deepEqual(reader.read(text), { kind: 'none' });
    }
  });

  it('a policy that says nothing has every default', () => {
    assert.deepEqual(policyOf('{}'), DEFAULTS);
  });

  it('reads the example of issue 17', () => {
    const text = `
maxUnavailable: 20%
canary: {nodes: 3}
soak: 10m
order: [{label: topology.kubernetes.io/zone}]
onHalt: pause
`;
    assert.deepEqual(policyOf(text), {
      ...DEFAULTS,
      maxUnavailable: { kind: 'percent', percent: 20 },
      canary: { ...DEFAULTS.canary, share: { kind: 'count', count: 3 } },
      soakMs: 600_000,
      order: [{ label: 'topology.kubernetes.io/zone', values: [], isLast: false }],
    });
  });

  const everyField: RolloutPolicy = {
    isPaused: true,
    maxUnavailable: { kind: 'count', count: 10 },
    partition: { kind: 'percent', percent: 50 },
    order: [
      { label: 'topology.kubernetes.io/zone', values: ['eu-1a', 'eu-1b'], isLast: false },
      { label: 'node-role.kubernetes.io/control-plane', values: [], isLast: true },
    ],
    canary: {
      kind: 'share',
      share: { kind: 'percent', percent: 5 },
      spread: ['kubernetes.io/arch'],
    },
    soakMs: 5_400_000,
    approval: 'after-canary',
    progressDeadlineMs: 7_200_000,
    windows: [
      {
        days: [0, 1, 2, 3, 4, 5],
        startMinute: 1320,
        endMinute: 240,
        timeZone: 'Europe/Berlin',
      },
      { days: [6], startMinute: 0, endMinute: 1440, timeZone: 'UTC' },
    ],
    onHalt: 'rollback',
    returns: 'at-once',
    exclude: {
      matchLabels: { pinned: 'yes' },
      matchExpressions: [{ key: 'spot', operator: 'Exists' }],
    },
    budget: 'attributed',
    removalPercent: 35,
  };

  it('reads every field', () => {
    assert.deepEqual(policyOf(EVERY_FIELD), everyField);
  });

  it('reads JSON as well, tabs and all', () => {
    const text =
      '{\n\t"soak": "90s",\n\t"canary": {"selector": {"matchLabels": {"canary": "yes"}}}\n}';
    assert.deepEqual(policyOf(text), {
      ...DEFAULTS,
      soakMs: 90_000,
      canary: { kind: 'selector', selector: { matchLabels: { canary: 'yes' } } },
    });
  });

  it('one window needs no list', () => {
    const [window] = policyOf('window: {from: 10:00, to: 0:00, timeZone: UTC}').windows;
    assert.deepEqual(window, {
      days: [0, 1, 2, 3, 4, 5, 6],
      startMinute: 600,
      endMinute: 1440,
      timeZone: 'UTC',
    });
  });

  it('a range of days may go over the end of the week, and no day counts twice', () => {
    const [window] = policyOf('window: {days: [FRI-mon, Sun], timeZone: UTC}').windows;
    assert.deepEqual(window?.days, [0, 1, 5, 6]);
  });

  const times = [
    ['0s', 0],
    ['90s', 90_000],
    ['1h', 3_600_000],
    ['1h0m5s', 3_605_000],
    ['720h', 2_592_000_000],
  ] as const;
  for (const [text, soakMs] of times) {
    it(`a soak of ${text} is ${soakMs} ms`, () => {
      assert.equal(policyOf(`soak: ${text}`).soakMs, soakMs);
    });
  }

  it('zero is zero, also as −0', () => {
    assert.deepEqual(policyOf('partition: -0').partition, { kind: 'count', count: 0 });
  });
});

describe('a policy that cannot be used names every field, and what it should be', () => {
  it('all at once, with the known field that is nearest', () => {
    const text = `
maxunavailable: "10"
canary: {nodes: 0, replicas: 2}
soak: 10
window: [{days: [mon, xyz], from: 22, to: "04:00", timeZone: Mars/Olympus}]
exclude: {matchExpressions: [{key: a, operator: In}]}
`;
    assert.deepEqual(problemsOf(text), [
      [
        'canary.nodes',
        'must be a count of nodes from 1 up, as 10, or whole percent from 1% to 100%, as 20%',
      ],
      ['canary.replicas', 'is not known here: did you mean nodes?'],
      [
        'soak',
        'must be a duration from 0s to 720h in hours, minutes and seconds, as 10m, 90s or 1h30m',
      ],
      [
        'window[0].days[1]',
        'must be a weekday of three letters or a range of them, as Mon or mon-fri',
      ],
      ['window[0].from', 'must be a time of day from 00:00 to 23:59, as 22:00'],
      ['window[0].timeZone', 'must be a time zone as Area/City, as Europe/Berlin, or UTC'],
      [
        'exclude.matchExpressions[0]',
        'needs values with In and NotIn, and none with Exists and DoesNotExist',
      ],
      ['maxunavailable', 'is not known here: did you mean maxUnavailable?'],
    ]);
  });

  const near = [
    ['max-unavailable: 1', 'maxUnavailable'],
    ['partitions: 1', 'partition'],
    ['pause: true', 'paused'],
    ['progressDeadlineSeconds: 600', 'progressDeadline'],
    ['minReadySeconds: 10', 'soak'],
    ['windows: []', 'window'],
    ['onhalt: pause', 'onHalt'],
  ] as const;
  for (const [text, meant] of near) {
    it(`${text}: ${meant} may be meant`, () => {
      assert.match(problemsOf(text)[0]?.[1] ?? '', new RegExp(`did you mean ${meant}\\?$`));
    });
  }

  it('a canary that is to be spread over nothing is not spread over the defaults', () => {
    const reading = reader.read('canary: {nodes: 2, spread: []}');
    assert.equal(reading.kind, 'policy');
    const share = { kind: 'count', count: 2 } as const;
    assert.deepEqual(reading.policy.canary, { kind: 'share', share, spread: [] });
  });

  it('what is like nothing has no suggestion', () => {
    assert.deepEqual(problemsOf('sidecar: 1'), [['sidecar', 'is no field of a policy']]);
    assert.deepEqual(problemsOf('canary: {sidecar: 1}'), [
      ['canary.sidecar', 'is not known here; known are nodes, spread, selector'],
    ]);
  });

  it('what is missing is named', () => {
    assert.deepEqual(problemsOf('window: {days: [mon]}'), [['window.timeZone', 'is needed']]);
    assert.deepEqual(problemsOf('order: [{last: true}]'), [['order[0].label', 'is needed']]);
  });

  for (const [what, text, field] of REFUSED_POLICIES) {
    it(`${what}: ${JSON.stringify(text.slice(0, 60))}`, () => {
      assert.deepEqual(fieldsOf(text), [field]);
    });
  }

  it('says no more than ten problems, and how many there are', () => {
    const text = Array.from({ length: 14 }, (_, index) => `x${index}: 1`).join('\n');
    const problems = problemsOf(text);
    assert.equal(problems.length, 11);
    assert.deepEqual(problems.at(-1), ['', 'has 4 more problems']);
  });
});

describe('YAML that means something else than it says is refused', () => {
  it('anchors, aliases and tags, each at its field', () => {
    assert.deepEqual(fieldsOf('soak: &a 10m\nprogressDeadline: *a\ncanary: !!map {nodes: 3}'), [
      'soak',
      'progressDeadline',
      'canary',
    ]);
  });

  it('a billion laughs', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let index = 1; index < 9; index += 1) {
      lines.push(
        `k${index}: &k${index} [${Array(9)
          .fill(`*${index === 1 ? 'a' : `k${index - 1}`}`)
          .join(', ')}]`,
      );
    }
    const said = new Set(problemsOf(lines.join('\n')).map(([, message]) => message));
    assert.deepEqual([...said], ['has a YAML anchor (&): write each value itself']);
  });

  it('a merge key is an unknown field', () => {
    assert.deepEqual(fieldsOf('<<: {paused: true}'), ['["<<"]']);
  });

  it('a key that is given twice', () => {
    assert.deepEqual(problemsOf('canary: {nodes: 1, nodes: 2}\nsoak: 5m'), [
      ['canary.nodes', 'is given twice'],
    ]);
  });

  it('a key that is no text', () => {
    assert.deepEqual(fieldsOf('10: 1\n? [a]\n: 1'), ['']);
  });

  it('a directive, by which `on` would be true', () => {
    assert.match(problemsOf('%YAML 1.1\n---\npaused: on')[0]?.[1] ?? '', /directive/);
  });

  it('a second document', () => {
    assert.deepEqual(problemsOf('paused: true\n---\npaused: false'), [
      ['', 'holds more than one YAML document'],
    ]);
  });

  it('what is no YAML, by its line', () => {
    assert.match(
      problemsOf('paused: true\ncanary: {nodes: 3')[0]?.[1] ?? '',
      /^is not YAML: see line 2/,
    );
  });

  it('members of a prototype are unknown fields, and change none', () => {
    assert.deepEqual(fieldsOf('__proto__: {paused: true}\nconstructor: {a: 1}'), [
      '["__proto__"]',
      'constructor',
    ]);
    assert.equal(({} as Record<string, unknown>)['paused'], undefined);
  });

  for (const [name, text] of [
    ['brackets that never close', '['.repeat(16_000)],
    ['brackets', `${'['.repeat(8000)}${']'.repeat(8000)}`],
    ['dashes', '- '.repeat(8000)],
    ['question marks', '? '.repeat(8000)],
    ['braces', '{a: '.repeat(4000)],
  ] as const) {
    it(`thousands of ${name} are refused, and end no stack`, () => {
      assert.equal(problemsOf(text).length, 1);
    });
  }

  it('what is longer than 16,384 characters, before anything looks at it', () => {
    assert.deepEqual(problemsOf(`paused: true\n#${'x'.repeat(16_384)}`), [
      ['', 'is longer than 16,384 characters'],
    ]);
  });
});

describe('what a reader tells of a text', () => {
  it('is no value of it, whatever is wrong', () => {
    const secret = 'hunter2-hunter2';
    const texts = [
      `maxUnavailable: ${secret}`,
      `soak: ${secret}`,
      `onHalt: ${secret}`,
      `paused: ${secret}`,
      `canary: {nodes: ${secret}, selector: {matchLabels: {a: "${secret} !"}}}`,
      `exclude: {matchExpressions: [{key: "${secret} ", operator: ${secret}, values: ["${secret} "]}]}`,
      `window: {days: [${secret}], from: ${secret}, to: ${secret}, timeZone: ${secret}}`,
      `removalGuard: [${secret}`,
      `removalGuard: *${secret}`,
      `removalGuard: !${secret} x`,
      `%${secret}\n---\na: 1`,
      `"${secret}\u0007": 1`,
      `"${secret}": "\\q"`,
      secret,
    ];
    for (const text of texts) {
      const told = JSON.stringify(reader.read(text));
      assert.match(told, /"invalid"/);
      assert.equal(told.includes(secret), false, told);
    }
  });

  it('is the same reading for the same text, as long as it is among the last 128', () => {
    const own = createPolicyReader();
    const first = own.read('soak: 1s');
    for (let index = 0; index < 127; index += 1) own.read(`soak: ${index + 2}s`);
    assert.equal(own.read('soak: 1s'), first);
    for (let index = 0; index < 128; index += 1) own.read(`soak: ${index + 200}s`);
    assert.notEqual(own.read('soak: 1s'), first);
    assert.deepEqual(own.read('soak: 1s'), first);
  });
});
