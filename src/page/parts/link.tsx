/** Links inside the page, which load nothing anew; and those to what a name means. */
import type { ComponentChildren, VNode } from 'preact';
import { pathOf } from '../model/address.ts';
import type { Route } from '../model/address.ts';
import { usePage } from '../live/page-context.ts';

/** A link to an address of the page. */
export function Link(props: {
  readonly to: string;
  readonly class?: string;
  readonly current?: 'page';
  readonly children: ComponentChildren;
}): VNode {
  const { go } = usePage();
  const { to, children, current } = props;
  const follow = (event: MouseEvent): void => {
    // With a key it opens elsewhere, as everywhere.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} class={props.class} aria-current={current} onClick={follow}>
      {children}
    </a>
  );
}

/** A link to a view. */
export function ViewLink(props: {
  readonly route: Route;
  readonly children: ComponentChildren;
}): VNode {
  return <Link to={pathOf(props.route)}>{props.children}</Link>;
}

/** `namespace/name` in a cluster, as a link. */
export function SetLink(props: {
  readonly view: 'daemonset' | 'rollout';
  readonly cluster: string;
  readonly set: string;
}): VNode {
  const { view, cluster, set } = props;
  const [namespace = '', name = ''] = set.split('/');
  return <ViewLink route={{ view, cluster, namespace, name }}>{set}</ViewLink>;
}
