/** A part of a view with a heading. */
import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { NextStep } from '../model/documents.ts';
import { CommandLine } from './command.tsx';

/** The panel. */
export function Panel(props: {
  readonly title: string;
  readonly children: ComponentChildren;
}): VNode {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{props.title}</h2>
      {props.children}
    </section>
  );
}

/** The commands that go on, where there are any. */
export function NextSteps(props: { readonly steps: readonly NextStep[] }): VNode | null {
  const { steps } = props;
  if (steps.length === 0) return null;
  return (
    <Panel title="Next">
      <ul class="stack">
        {steps.map(({ command, about }) => (
          <li key={command}>
            <CommandLine command={command} about={about} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Sentences below, where there are any. */
export function Notes(props: { readonly notes: readonly string[] }): VNode | null {
  const { notes } = props;
  if (notes.length === 0) return null;
  return (
    <ul class="note">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

/** A table that scrolls by itself where the window is narrow. */
export function Table(props: {
  readonly label: string;
  readonly headings: readonly string[];
  /** In a narrow window a row becomes lines of words, the last cell on a line of its own. */
  readonly narrow?: 'flow';
  readonly children: ComponentChildren;
}): VNode {
  const { label, headings, narrow, children } = props;
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label={label}>
      <table class={narrow}>
        <thead>
          <tr>
            {headings.map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
