/** Filters above a view. Their values are in its address. */
import type { ComponentChildren, VNode } from 'preact';
import { useLive, useQuery } from '../live/page-context.ts';

/** A choice: its value, and its words. */
export type Option = readonly [value: string, text: string];

/** The row of filters: they act at once, so there is nothing to send. */
export function Controls(props: { readonly children: ComponentChildren }): VNode {
  return (
    <form
      class="controls"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      {props.children}
    </form>
  );
}

/** Words to look for, as `q` in the address. */
export function SearchField(props: {
  readonly label?: string;
  readonly placeholder?: string;
}): VNode {
  const { label = 'Search', placeholder } = props;
  const [{ q = '' }, change] = useQuery();
  return (
    <label class="grows">
      <span>{label}</span>
      <input
        type="search"
        value={q}
        placeholder={placeholder}
        onInput={(event) => {
          change({ q: event.currentTarget.value });
        }}
      />
    </label>
  );
}

/** One of several values, under its name in the address. */
export function SelectField(props: {
  readonly label: string;
  readonly name: string;
  readonly value: string;
  readonly options: readonly Option[];
  readonly class?: 'field';
}): VNode {
  const { label, name, value, options, class: of } = props;
  const [, change] = useQuery();
  return (
    <label class={of}>
      <span>{label}</span>
      <select
        value={value}
        onChange={(event) => {
          change({ [name]: event.currentTarget.value });
        }}
      >
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A cluster of the map, or the one in the address, which the map may not know yet. */
export function ClusterField(props: {
  /** The words for no cluster. */
  readonly none: string;
  readonly class?: 'field';
}): VNode {
  const { none, ...rest } = props;
  const [{ cluster = '' }] = useQuery();
  const { map } = useLive();
  const known = map?.clusters.map(({ id }) => id) ?? [];
  const ids = new Set([...known, ...(cluster === '' ? [] : [cluster])]);
  const options: readonly Option[] = [['', none], ...[...ids].map((id): Option => [id, id])];
  return (
    <SelectField {...{ label: 'Cluster', name: 'cluster', value: cluster, options, ...rest }} />
  );
}
