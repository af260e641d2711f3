/** docs/reference/metrics.md: metrics, readings of the watcher, alarms and log lines, from where the code has them. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';
import { repositoryRoot } from '../lib/run-tool.ts';
import { processReadings } from '../../src/adapters/system/prometheus-metrics.ts';
import { METRICS, type MetricRow } from '../../src/ports/metrics.ts';
import { bullets, page, sentence, term, wrapped } from './markdown.ts';

const LEVELS = {
  error: 'A bug, or a dependency that is lost.',
  warn: 'Refused or deferred; an operator may want to act.',
  info: 'A cluster or a rollout changed.',
};

/** Text of the page. */
export function renderMetricsPage(): string {
  const rows = Object.entries<MetricRow>(METRICS);
  return page('Metrics, alarms and log lines', [
    wrapped(
      'Functions write metrics to the namespace `Rollcall/STAGE`, with the dimensions `service` (the function) and, where a line says so, `outcome`. No dimension names a cluster or a DaemonSet.',
    ),
    '## Metrics of functions',
    bullets(rows.filter(([name]) => !name.startsWith('Watcher')).map(metricLine)),
    '## Metrics of the watcher',
    wrapped(
      'The watcher serves them at `/metrics` for Prometheus: `WatcherSends` is `rollcall_watcher_sends_total`, with the label `outcome`; a size is a `_sum` and a `_count`.',
    ),
    bullets(rows.filter(([name]) => name.startsWith('Watcher')).map(metricLine)),
    wrapped('It also serves these readings:'),
    bullets([...readings(), ...processReadings()].map(({ name, help }) => term(name, help))),
    wrapped(
      '`/readyz` answers 200 while the watcher sends or stands by. `/livez` answers 200 unless a restart could help: a missing queue, API server, right or credential makes the watcher not ready, and never not live.',
    ),
    '## Alarms',
    wrapped(
      '`rollcall-STAGE-NAME`, from `infra/alarms`. [operations.md](../operations.md#by-alarm) says what to do.',
    ),
    bullets(alarms()),
    '## Log lines',
    wrapped(
      'One JSON object each: in functions through Powertools, elsewhere on stderr. No line holds a credential or the body of an object. `errorName`, `errorMessage`, `errorStack` and `errorCauses` hold an error.',
    ),
    ...logLines(),
  ]);
}

function metricLine([name, { about, outcome, unit }]: readonly [string, MetricRow]): string {
  const notes = [
    outcome === undefined ? '' : `Outcome: ${outcome}.`,
    unit === undefined ? '' : `Unit: ${unit.toLowerCase()}.`,
  ];
  return term(name, [sentence(about), ...notes].filter((note) => note !== '').join(' '));
}

interface ReadingWords {
  readonly name: string;
  readonly help: string;
}

/** The calls of `gauge(name, help, …)`, and the one counter. */
function readings(): readonly ReadingWords[] {
  const text = readFileSync(path.join(repositoryRoot, 'src/watcher/process/readings.ts'), 'utf8');
  const found = new Map<string, string>();
  const gauges = /gauge\(\s*'(\w+)',\s*'([^']+)'|name: '(\w+)',\s*help: '([^']+)'/g;
  for (const [, gauge, help, counter, about] of text.matchAll(gauges)) {
    found.set(counter ?? `rollcall_watcher_${gauge ?? ''}`, help ?? about ?? '');
  }
  return [...found].map(([name, help]) => ({ name, help }));
}

interface AlarmFile {
  readonly Resources: Readonly<
    Record<
      string,
      { readonly Properties: { readonly AlarmName: string; readonly AlarmDescription: string } }
    >
  >;
}

function alarms(): readonly string[] {
  return filesOf('infra/alarms/*.yml').flatMap(({ text }) => {
    const tags = ['!Ref', '!Sub', '!GetAtt'].map((tag) => ({
      tag,
      resolve: (each: string) => each,
    }));
    const { Resources: resources } = parse(text, { customTags: tags, merge: true }) as AlarmFile;
    return Object.values(resources).flatMap(
      ({ Properties: { AlarmName: name, AlarmDescription: about } }) =>
        name === undefined ? [] : [term(name.replace(/^rollcall-.*?\}-/, ''), about)],
    );
  });
}

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: readonly string[];
}

function logLines(): readonly string[] {
  const lines = filesOf('{src/{app,adapters,watcher},functions}/**/*.ts').flatMap(readLogLines);
  return Object.entries(LEVELS).flatMap(([level, about]) => {
    const messages = new Map<string, Set<string>>();
    for (const line of lines.filter((each) => each.level === level)) {
      const fields = messages.get(line.message) ?? new Set<string>();
      line.fields.forEach((field) => fields.add(field));
      messages.set(line.message, fields);
    }
    const rows = [...messages].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return [
      `### \`${level}\``,
      wrapped(about),
      bullets(
        rows.map(([message, fields]) =>
          term(message, [...fields].map((each) => `\`${each}\``).join(', ')),
        ),
      ),
    ];
  });
}

function readLogLines({
  name,
  text,
}: {
  readonly name: string;
  readonly text: string;
}): readonly LogLine[] {
  const found: LogLine[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const level = node.expression.name.text;
      const [message, fields] = node.arguments;
      if (
        level in LEVELS &&
        /\blog$/i.test(node.expression.expression.getText()) &&
        message !== undefined
      ) {
        if (ts.isStringLiteralLike(message)) {
          found.push({ level, message: message.text, fields: fieldsOf(fields) });
        }
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  return found;
}

function fieldsOf(node: ts.Expression | undefined): readonly string[] {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return [];
  return node.properties.flatMap(({ name }) => (name === undefined ? [] : [name.getText()]));
}

function filesOf(pattern: string): readonly { readonly name: string; readonly text: string }[] {
  return globSync(pattern, { cwd: repositoryRoot })
    .toSorted()
    .map((name) => ({ name, text: readFileSync(path.join(repositoryRoot, name), 'utf8') }));
}
