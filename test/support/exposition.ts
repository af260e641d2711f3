/**
 * Reads Prometheus' text format 0.0.4, strictly: one HELP and TYPE before the samples of each family, names
 * and labels of the allowed characters, escapes undone, no family twice.
 */
import assert from 'node:assert/strict';

export interface ExpositionSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ExpositionFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: ExpositionSample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const HELP = new RegExp(`^# HELP (${NAME}) (.*)$`, 's');
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|summary)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`, 's');
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gsy;

/** Parses a text; throws where it is not valid. */
export function parseExposition(text: string): ReadonlyMap<string, ExpositionFamily> {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line must end');
  const families = new Map<string, ExpositionFamily>();
  let current: { readonly name: string; readonly family: ExpositionFamily } | undefined;
  let help: { readonly name: string; readonly text: string } | undefined;
  for (const line of text.split('\n').slice(0, -1)) {
    const helpMatch = HELP.exec(line);
    const typeMatch = TYPE.exec(line);
    if (helpMatch !== null) {
      help = { name: helpMatch[1] ?? '', text: unescape(helpMatch[2] ?? '') };
    } else if (typeMatch !== null) {
      const name = typeMatch[1] ?? '';
      assert.equal(help?.name, name, `no HELP before TYPE ${name}`);
      assert.ok(!families.has(name), `family ${name} stands twice`);
      const family = { help: help.text, type: typeMatch[2] ?? '', samples: [] };
      families.set(name, family);
      current = { name, family };
    } else {
      assert.ok(current !== undefined, `a sample before any TYPE: ${line}`);
      current.family.samples.push(parseSample(line, current));
    }
  }
  return families;
}

/** The value of one sample; undefined if it is not there. */
export function sampleOf(
  families: ReadonlyMap<string, ExpositionFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = Object.entries(labels);
  return families
    .get(name)
    ?.samples.find((sample) => wanted.every(([label, value]) => sample.labels[label] === value))
    ?.value;
}

function parseSample(
  line: string,
  current: { readonly name: string; readonly family: ExpositionFamily },
): ExpositionSample {
  const match = SAMPLE.exec(line);
  assert.ok(match !== null, `not a sample: ${JSON.stringify(line)}`);
  const name = match[1] ?? '';
  const allowed =
    current.family.type === 'summary'
      ? [`${current.name}_sum`, `${current.name}_count`]
      : [current.name];
  assert.ok(allowed.includes(name), `${name} stands under ${current.name}`);
  return { name, labels: parseLabels(match[2] ?? ''), value: parseValue(match[3] ?? '') };
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  let endAt = 0;
  for (const match of text.matchAll(LABEL)) {
    labels[match[1] ?? ''] = unescape(match[2] ?? '');
    endAt = match.index + match[0].length;
  }
  assert.equal(endAt, text.length, `labels cannot be read: ${JSON.stringify(text)}`);
  return labels;
}

function parseValue(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (text === 'NaN') return Number.NaN;
  assert.match(text, /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/, 'not a number');
  return Number(text);
}

function unescape(text: string): string {
  return text.replaceAll(/\\(.)/g, (_whole, letter: string) => (letter === 'n' ? '\n' : letter));
}
