/** What each scene comes to without any fault: played once, and twice where it must be proved equal (M2). */
import type { EndState } from './end-state.ts';
import { PassageLog, type NumberedPassage } from './passages.ts';
import type { Scene } from './scene.ts';
import { playTrial, type TrialOptions } from './trial.ts';

export interface Reference {
  readonly end: EndState;
  readonly hash: string;
  /** Every call of every port of every invocation. */
  readonly passages: readonly NumberedPassage[];
}

const known = new Map<string, Promise<Reference>>();

/** The reference of a scene; it is played once for a process. */
export function referenceOf(scene: Scene, options: TrialOptions = {}): Promise<Reference> {
  const key = `${scene.name} ${String(options.isOvertaken === true)}`;
  const found = known.get(key) ?? playReference(scene, options);
  known.set(key, found);
  return found;
}

/** Plays the scene without a fault, anew. */
export async function playReference(scene: Scene, options: TrialOptions = {}): Promise<Reference> {
  let log: PassageLog | undefined;
  const { end, hash } = await playTrial(
    scene,
    (world) => {
      log = new PassageLog(world);
      return {
        fired: () => 'nothing',
        release: () => log?.stop(),
      };
    },
    options,
  );
  return { end, hash, passages: log?.passages ?? [] };
}
