/** Steps of who writes the ConfigMap that policies have in the revision, and of what keeps it from being read (ADR 0061). */
import { CONTENT_KEY, SETTINGS } from '../scripted-config-source.ts';
import type { StepContext } from './step-context.ts';

const MINUTE_MS = 60_000;

/** Another content; now and then the former one again, in the middle of it. */
export function changeContent({ world, dice, later }: StepContext): boolean {
  const { config } = world;
  if (config === undefined) return false;
  const former = config.dataOf(SETTINGS);
  const next = { level: String(world.clock.monotonicMs()) };
  config.put(SETTINGS, next);
  if (former === undefined || !dice.chance(0.3)) return true;
  later(dice.pick([5000, MINUTE_MS, 5 * MINUTE_MS, 12 * MINUTE_MS]), () => {
    if (config.dataOf(SETTINGS)?.['level'] === next.level) config.put(SETTINGS, former);
  });
  return true;
}

/** For a while nobody may read it, nothing answers, it is not there, there is no key; or only its labels change. */
export function hideContent({ world, dice, later }: StepContext): boolean {
  const { config } = world;
  const former = config?.dataOf(SETTINGS);
  if (config === undefined || former === undefined) return false;
  const how = dice.pick(['unauthorized', 'unavailable', 'gone', 'no-key', 'labels'] as const);
  world.note(`content: ${how}`);
  const forMs = dice.between(MINUTE_MS, 8 * MINUTE_MS);
  switch (how) {
    case 'labels':
      config.put(SETTINGS, former, { touched: String(world.clock.monotonicMs()) });
      return true;
    case 'gone':
      config.remove(SETTINGS);
      later(forMs, () => {
        if (config.dataOf(SETTINGS) === undefined) config.put(SETTINGS, former);
      });
      return true;
    case 'no-key':
      config.remove(CONTENT_KEY);
      later(forMs, () => {
        config.putKey(1);
      });
      return true;
    case 'unauthorized':
    case 'unavailable':
      config.fail(SETTINGS, how);
      later(forMs, () => {
        config.heal(SETTINGS);
      });
      return true;
  }
}
