/** The frame of the page: its head, the banner, and the view of the address. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { pathOf } from './model/address.ts';
import type { Route } from './model/address.ts';
import { ageText } from './model/freshness.ts';
import { useAge, useLive, usePage } from './live/page-context.ts';
import { useStore } from './live/store.ts';
import { FleetView } from './fleet/fleet-view.tsx';
import { Link } from './parts/link.tsx';
import { FleetRolloutView } from './rollout/fleet-rollout-view.tsx';
import { RolloutView } from './rollout/rollout-view.tsx';
import { RolloutsView } from './rollout/rollouts-view.tsx';
import { CoverageView } from './views/coverage-view.tsx';
import { DaemonSetView } from './views/daemon-set-view.tsx';
import { LogView } from './views/log-view.tsx';
import { NodeView } from './views/node-view.tsx';
import { PlanView } from './views/plan-view.tsx';
import { Banner } from './parts/outages.tsx';
import { ThemeButton } from './parts/theme.tsx';

const VIEWS = [
  ['fleet', 'Fleet'],
  ['rollouts', 'Rollouts'],
  ['log', 'Log'],
  ['plan', 'Plan'],
  ['coverage', 'Coverage'],
] as const;

export function App(): VNode {
  const { address } = usePage();
  const { route } = useStore(address);
  const main = useRef<HTMLElement>(null);
  const path = pathOf(route);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${titleOf(route)} · Rollcall`;
    // A new view is read from its beginning, by eyes and by screen readers.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    window.scrollTo(0, 0);
  }, [path]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="head">
        <Link to="/" class="name">
          Rollcall
        </Link>
        <nav aria-label="Views">
          {VIEWS.map(([view, text]) => (
            <Link key={view} to={pathOf({ view })} {...currentOf(route, view)}>
              {text}
            </Link>
          ))}
        </nav>
        <LiveMark />
        <ThemeButton />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Banner />
        <View key={path} route={route} />
      </main>
    </>
  );
}

function currentOf(route: Route, view: (typeof VIEWS)[number][0]): { readonly current?: 'page' } {
  const isOf =
    route.view === view ||
    (view === 'rollouts' && (route.view === 'rollout' || route.view === 'fleet-rollout'));
  return isOf ? { current: 'page' } : {};
}

function LiveMark(): VNode {
  const { connection } = useLive();
  const age = useAge();
  const isLive = connection === 'open' && age.kind === 'fresh';
  return (
    <span class={isLive ? 'live live-on' : age.kind === 'waiting' ? 'live live-waiting' : 'live'}>
      <span class="live-dot" aria-hidden="true" />
      {isLive ? 'live, ' : ''}
      {ageText(age)}
    </span>
  );
}

function View(props: { readonly route: Route }): VNode {
  const { route } = props;
  switch (route.view) {
    case 'fleet':
      return <FleetView />;
    case 'rollouts':
      return <RolloutsView />;
    case 'rollout':
      return <RolloutView {...route} />;
    case 'fleet-rollout':
      return <FleetRolloutView {...route} />;
    case 'daemonset':
      return <DaemonSetView {...route} />;
    case 'node':
      return <NodeView {...route} />;
    case 'log':
      return <LogView />;
    case 'plan':
      return <PlanView />;
    case 'coverage':
      return <CoverageView />;
    case 'none':
      return <Nowhere path={pathOf(route)} />;
  }
}

function Nowhere(props: { readonly path: string }): VNode {
  return (
    <>
      <h1>There is no such view</h1>
      <p>
        Nothing is shown at <code>{props.path}</code>. <Link to="/">The fleet</Link>
      </p>
    </>
  );
}

function titleOf(route: Route): string {
  switch (route.view) {
    case 'rollout':
    case 'daemonset':
      return `${route.namespace}/${route.name} in ${route.cluster}`;
    case 'fleet-rollout':
      return `Fleet ${route.namespace}/${route.name}`;
    case 'node':
      return `${route.node} in ${route.cluster}`;
    default:
      return VIEWS.find(([view]) => view === route.view)?.[1] ?? 'No such view';
  }
}
