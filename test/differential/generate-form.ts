/**
 * Draws what DaemonSets of scenarios look like and how their templates change. Pure.
 */
import type { Seeded } from '../conformance/scenarios/seeded.ts';
import type { SetForm, StrategyForm, TolerationForm } from './scenario.ts';

const TOLERATIONS: readonly (readonly TolerationForm[])[] = [
  [{ operator: 'Exists' }],
  [{ key: 'dedicated', operator: 'Exists' }],
  [{ key: 'dedicated', operator: 'Equal', value: 'yes', effect: 'NoSchedule' }],
  [{ key: 'maintenance', operator: 'Exists', effect: 'NoExecute' }],
  [
    {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 30,
    },
  ],
  [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }],
];

export function drawForm(seeded: Seeded): SetForm {
  return {
    version: 1,
    strategy: drawStrategy(seeded),
    ...(seeded.next() < 0.2 ? { pool: seeded.pick(['a', 'b']) } : {}),
    ...(seeded.next() < 0.2 ? { disk: drawDisk(seeded) } : {}),
    ...(seeded.next() < 0.5 ? { tolerations: seeded.pick(TOLERATIONS) } : {}),
    ...(seeded.next() < 0.2 ? { minReadySeconds: seeded.integer({ from: 1, to: 2 }) } : {}),
    ...(seeded.next() < 0.5 ? { revisionsMax: seeded.integer({ from: 0, to: 3 }) } : {}),
    ...(seeded.next() < 0.1 ? { hostNetwork: true } : {}),
  };
}

/** A strategy: mostly maxUnavailable, then maxSurge, then OnDelete. */
export function drawStrategy(seeded: Seeded): StrategyForm {
  const chance = seeded.next();
  if (chance < 0.15) return { type: 'OnDelete' };
  if (chance < 0.65) {
    const maxUnavailable = seeded.pick([1, 1, 2, 3, '20%', '50%', '100%']);
    return { type: 'RollingUpdate', maxUnavailable };
  }
  return { type: 'RollingUpdate', maxSurge: seeded.pick([1, 1, 2, '30%', '100%']) };
}

/** An edit of the template: another version, and sometimes more. */
export function drawTemplateChange(seeded: Seeded, version: number): SetForm {
  return {
    version,
    isUnhealthy: seeded.next() < 0.2,
    ...(seeded.next() < 0.15 ? { pool: seeded.pick(['a', 'b', null]) } : {}),
    ...(seeded.next() < 0.15 ? { disk: seeded.next() < 0.5 ? drawDisk(seeded) : null } : {}),
    ...(seeded.next() < 0.2 ? { tolerations: drawTolerations(seeded) } : {}),
    ...(seeded.next() < 0.15 ? { strategy: drawStrategy(seeded) } : {}),
  };
}

function drawTolerations(seeded: Seeded): readonly TolerationForm[] | null {
  return seeded.next() < 0.3 ? null : seeded.pick(TOLERATIONS);
}

function drawDisk(seeded: Seeded): NonNullable<SetForm['disk']> {
  return { operator: seeded.pick(['In', 'NotIn', 'Exists', 'DoesNotExist'] as const) };
}
