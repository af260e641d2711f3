/**
 * Entries of the log in words: what was sent and what came of it, what was decided, and who asked for what.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { EffectEntry, EffectPart, LogEntry, LoggedEffect } from '../model/log-entry.ts';
import { timeText } from '../rollout/gate-words.ts';
import { requestsOf } from './append-log.ts';

type Of<Kind> = Extract<LogEntry, { readonly kind: Kind }>;
type Words = { readonly [Kind in LogEntry['kind']]: (entry: Of<Kind>) => string };

const VERBS: Readonly<Record<LoggedEffect, string>> = {
  create: 'create',
  delete: 'delete',
  adopt: 'adopt',
  release: 'release',
  'restore-template': 'restore the template of revision',
  'remove-taint': 'remove the start-up taint',
  'set-condition': 'write the start-up condition',
};

/** What is not about pods. */
const OF_OTHERS: ReadonlySet<LoggedEffect> = new Set([
  'restore-template',
  'remove-taint',
  'set-condition',
]);

/** As their commands are called, where that is not the code. */
const ORDER_WORDS: Readonly<Partial<Record<string, string>>> = {
  'stop-stack': 'stack stop',
  'resume-stack': 'stack resume',
  'remove-cluster': 'cluster remove',
};

const WORDS: Words = {
  effect: describeEffect,
  rollout: ({ hash, older }) =>
    `rollout of revision ${hash} begins${older === undefined ? '' : `, which was good before (${older})`}`,
  step: ({ step, name, index }) => {
    if (step === 'done') return 'rollout: every step is open and well';
    if (step === 'canary') return 'rollout: the canary opens';
    return `rollout: step ${String(index)} opens${name === '' ? '' : ` (${name})`}`;
  },
  halt: ({ cause, message, names }) =>
    `rollout halts: ${cause}: ${message}${names.length === 0 || namesAreIn(message, names) ? '' : ` (${names.join(', ')})`}`,
  return: ({ isOver }) =>
    isOver
      ? 'rollout: every node is back at the good release'
      : 'rollout: goes back to the good release',
  removal: ({ pods, cause, manager }) =>
    `holds the removal of ${counted(pods, 'pod')}: ${cause}${manager === undefined ? '' : ` (by ${manager})`}`,
  wait: ({ code }) => `waits: ${code}`,
  order: ({ order, by, why, step, mode, functions, removed }) => {
    const what = [
      ORDER_WORDS[order] ?? order,
      step === undefined ? '' : ` of step ${String(step)}`,
      mode === undefined ? '' : ` ${mode}`,
      functions === undefined ? '' : ` (${functions.join(', ')})`,
      removed === undefined ? '' : ` ${removed}`,
    ];
    return `${what.join('')} by ${by}${why === undefined || why === '' ? '' : `: ${why}`}`;
  },
  fleet: ({ message }) => `fleet: ${message}`,
  silence: ({ sinceMs }) =>
    `the watcher is heard again; nothing was heard since ${timeText(sinceMs)}`,
};

/** One entry, in one line. */
export function describeEntry<Kind extends LogEntry['kind']>(
  entry: Of<Kind> & { readonly kind: Kind },
): string {
  const words = WORDS[entry.kind] as ((entry: Of<Kind>) => string) | undefined;
  return words === undefined ? `${entry.kind} (of a newer release)` : words(entry);
}

function namesAreIn(message: string, names: readonly string[]): boolean {
  return names.every((name) => message.includes(name));
}

function describeEffect(entry: EffectEntry): string {
  const { effect, causes, parts } = entry;
  const requests = requestsOf(entry);
  const isOfPods = !OF_OTHERS.has(effect);
  const what = isOfPods ? ` ${counted(requests, 'pod')}` : '';
  const reasons = Object.entries(causes ?? {}).map(([cause, count]) =>
    count === requests ? cause : `${String(count)} ${cause}`,
  );
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  return `${VERBS[effect]}${what}${why}: ${parts.map((part) => describePart(part)).join('; ')}`;
}

const ENDS: Readonly<Record<EffectPart['came'], string>> = {
  done: 'done',
  refused: 'refused',
  unsent: 'not sent',
  unknown: 'sent, result unknown',
};

function describePart({ came, code, count, names }: EffectPart): string {
  const coded = code === undefined ? '' : ` (${code})`;
  const rest = count - names.length;
  const more = rest > 0 && names.length > 0 ? ` and ${String(rest)} more` : '';
  const of = names.length === 0 ? '' : `: ${names.join(', ')}${more}`;
  return `${String(count)} ${ENDS[came]}${coded}${of}`;
}
