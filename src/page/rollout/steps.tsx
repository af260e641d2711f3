/** Steps of a rollout, or stages of a fleet, in their order. */
import type { VNode } from 'preact';
import type { ShownStep } from '../model/rollout-words.ts';

const SIGNS: Readonly<Record<ShownStep['state'], string>> = { passed: '✓', open: '●', waits: '○' };

export function Steps(props: { readonly steps: readonly ShownStep[] }): VNode {
  return (
    <ol class="steps">
      {props.steps.map(({ name, state }) => (
        <li
          key={name}
          class={`step step-${state}`}
          {...(state === 'open' ? { 'aria-current': 'step' as const } : {})}
        >
          <span aria-hidden="true">{SIGNS[state]}</span> {name}
          <span class="unseen">, {state}</span>
        </li>
      ))}
    </ol>
  );
}
