/**
 * What a run of chaos says in the end, and whether it passed.
 */
import { describeWrong, type ChaosResult } from './chaos.ts';

/** Why a run failed; nothing if it passed. */
export function failuresOf(result: ChaosResult): readonly string[] {
  const { violations, unfired, unsettled, settledMs, settleMsMax } = result;
  const { writesInQuiet, watcherOwnEnds, engineOwnEnds } = result;
  const failures = violations.map(
    ({ promise, atMs, what }) => `${promise} at ${new Date(atMs).toISOString()}: ${what}`,
  );
  for (const { kind, index } of unfired) {
    const evidence = result.faults.find(({ planned }) => planned.index === index)?.evidence ?? '';
    failures.push(`M1: fault ${String(index)} (${kind}) did not fire: ${evidence}`);
  }
  if (unsettled.length > 0) failures.push(`L1: never settled: ${describeWrong(unsettled)}`);
  else if (settledMs > settleMsMax) {
    failures.push(`L1: settled after ${seconds(settledMs)}, not within ${seconds(settleMsMax)}`);
  }
  for (const { verb, resource, subresource, name } of writesInQuiet) {
    failures.push(`L1: a write in the quiet: ${verb} ${resource} ${subresource} ${name}`);
  }
  for (const what of result.unrest) failures.push(`L5: in the quiet: ${what}`);
  for (const [name, ends] of Object.entries({ watcher: watcherOwnEnds, engine: engineOwnEnds })) {
    if (ends > 0) failures.push(`the ${name} ended by itself ${String(ends)} times`);
  }
  return failures;
}

export function summarize(result: ChaosResult): string {
  const { faults, churn, violations, writesInQuiet } = result;
  const byKind = Map.groupBy(faults, ({ planned }) => planned.kind);
  const failures = failuresOf(result);
  const lines = [
    '',
    `seed        ${String(result.seed)}`,
    `faults      ${[...byKind].map(([kind, all]) => `${kind} ${String(all.length)}`).join(', ')}`,
    `unfired     ${String(result.unfired.length)}`,
    `churn       ${Object.entries(churn)
      .map(([name, count]) => `${name} ${String(count)}`)
      .join(', ')}; refused ${String(result.churnRefused)}`,
    `seen        ${String(result.eventsCount)} events, ${String(result.ownDeletionsCount)} deletions by Rollcall`,
    `own ends    engine ${String(result.engineOwnEnds)}, watcher ${String(result.watcherOwnEnds)}; ` +
      `the engine started in vain ${String(result.engineStartsInVain)} times`,
    `violations  ${String(violations.length)}`,
    `settled     ${result.unsettled.length > 0 ? 'never' : seconds(result.settledMs)}`,
    `quiet       ${String(writesInQuiet.length)} writes; ${describeWrong(result.unrest)} too much`,
    failures.length === 0 ? 'PASSED' : `FAILED\n  ${failures.join('\n  ')}`,
    ...result.evidence,
  ];
  return lines.join('\n');
}

export function replayCommand(result: Pick<ChaosResult, 'seed'>, minutes: number): string {
  return `npm run test:chaos -- --minutes ${String(minutes)} --seed ${String(result.seed)}`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
