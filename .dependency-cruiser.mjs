/**
 * Import directions (docs/architecture.md): core <- ports <- {adapters, app} <- {functions, watcher, engine, cli, page}.
 * packages/ stand below all of it: base is shared, the stand-ins (local-cluster, local-aws) know nothing else.
 *
 * Each rule says why it exists. There is no list of exceptions and no baseline: a violation is repaired, or the rule
 * is changed with an ADR. Composition roots (functions/, src/cli, src/engine, src/watcher/main.ts) are the only places
 * that may see both an adapter and the code that uses it through a port.
 */

/** A rule that forbids an import from one set of paths to another. */
function forbid(name, comment, [from, to]) {
  return { name, comment, severity: 'error', from, to };
}

const layerRules = [
  forbid(
    'core-is-pure',
    'The core is a function of its input. It may use itself, the pure base and one hash function, neither Node nor any other package.',
    [
      { path: '^src/core/' },
      {
        path: '.',
        pathNot: [
          '^src/core/',
          '^packages/base/src/(patch/)?[^/]+\\.ts$',
          'node_modules/@noble/hashes/',
        ],
      },
    ],
  ),
  forbid(
    'admission-has-one-seam',
    'What the admission policies ask of a run is in two folders; the plan, the needs and the attempt each ask one thing of them (ADR 0063).',
    [
      {
        path: '^src/',
        pathNot: [
          '^src/(core|app/reconcile)/admission/',
          '^src/core/plan/staged-of\\.ts$',
          '^src/app/reconcile/(needs|attempt)\\.ts$',
          '^src/(app/rollout/rollout-status|cli/rollout/render-status)\\.ts$',
        ],
      },
      { path: '^src/(core|app/reconcile)/admission/' },
    ],
  ),
  forbid(
    'ports-are-interfaces',
    'A port names what the application needs, in the words of the core. It drags in no implementation and no package.',
    [
      { path: '^src/ports/' },
      {
        path: '.',
        pathNot: ['^src/core/', '^src/ports/', '^packages/base/src/([^/]+|ports/[^/]+)\\.ts$'],
      },
    ],
  ),
  forbid(
    'adapters-know-no-application',
    'An adapter translates one outside thing. It sees core and ports, neither the application nor another adapter.',
    [
      { path: '^src/adapters/([^/]+)/' },
      { path: ['^src/', '^functions/'], pathNot: ['^src/(core|ports)/', '^src/adapters/$1/'] },
    ],
  ),
  forbid(
    'app-sees-ports-only',
    'The application is run by tests and simulations with simulated ports, so it must not know a real one.',
    [
      { path: '^src/app/' },
      { path: ['^src/', '^functions/'], pathNot: ['^src/(core|ports|app)/'] },
    ],
  ),
  forbid(
    'watcher-sees-ports-only',
    'The watcher is simulated like the application. Only main.ts and renew-main.ts put adapters into it.',
    [
      { path: '^src/watcher/', pathNot: '^src/watcher/(renew-)?main\\.ts$' },
      { path: ['^src/', '^functions/'], pathNot: ['^src/(core|ports|watcher)/'] },
    ],
  ),
  forbid(
    'watcher-main-composes-adapters',
    'The watcher is deployed alone in a cluster: no application code, no local engine.',
    [
      { path: '^src/watcher/(renew-)?main\\.ts$' },
      { path: ['^src/', '^functions/'], pathNot: ['^src/(core|ports|watcher|adapters)/'] },
    ],
  ),
  forbid(
    'handlers-compose-app-and-adapters',
    'What is deployed as a function must not contain the watcher, the command line or the local engine.',
    [{ path: '^functions/' }, { path: '^src/', pathNot: ['^src/(core|ports|adapters|app)/'] }],
  ),
  forbid(
    'local-engine-knows-no-user-interface',
    'The local engine runs under tests without a terminal or a browser.',
    [{ path: '^src/engine/' }, { path: '^src/(cli|page)/' }],
  ),
  forbid(
    'base-is-pure',
    'What the core shares with the stand-ins is as pure as the core. Only base/system touches a clock or a generator. Patches use one library, which is pure (ADR 0066).',
    [
      { path: '^packages/base/src/', pathNot: '^packages/base/src/(system|testing)/' },
      {
        path: '.',
        pathNot: ['^packages/base/src/([^/]+|(patch|ports)/[^/]+)\\.ts$', 'node_modules/rfc6902/'],
      },
    ],
  ),
  forbid('base-stands-alone', 'Everything stands on base, so it stands on nothing here.', [
    { path: '^packages/base/' },
    { path: '^(src|functions|test|scripts|packages)/', pathNot: '^packages/base/' },
  ]),
  forbid(
    'local-cluster-stands-alone',
    'A local cluster is a cluster: it knows nothing of Rollcall but the pure rules that both follow, and the ports.',
    [
      { path: '^packages/local-cluster/' },
      {
        path: '^(src|functions|test|scripts|packages)/',
        pathNot: '^packages/(base|local-cluster)/',
      },
    ],
  ),
  forbid(
    'local-aws-stands-alone',
    'A queue server has never heard of Rollcall, nor of its serverless.yml.',
    [
      { path: '^packages/local-aws/' },
      { path: '^(src|functions|test|scripts|packages)/', pathNot: '^packages/(base|local-aws)/' },
    ],
  ),
  forbid(
    'stand-ins-are-not-deployed',
    'What runs in Lambda or in a cluster meets the real AWS and the real API server.',
    [
      { path: '^(src/(core|ports|adapters|app|watcher)|functions)/' },
      { path: '^packages/(local-cluster|local-aws)/|^packages/base/src/testing/' },
    ],
  ),
  forbid(
    'local-parts-use-the-client',
    'Controllers, scheduler and node agents meet the fences that kubectl meets: they reach the API through the client.',
    [
      { path: '^packages/local-cluster/src/(controllers|scheduler|node-agent|machines)/' },
      {
        path: '^packages/local-cluster/src/(store|api|resources|schema|server|access|tables|discovery)/',
        pathNot: ['api/request/api-request\\.ts$', 'resources/all\\.ts$'],
      },
    ],
  ),
  forbid(
    'runtime-knows-no-api',
    'A container runtime has never heard of Kubernetes objects: the node agent stands between them.',
    [
      { path: '^packages/local-cluster/src/runtime/' },
      {
        path: '^packages/local-cluster/src/',
        pathNot: '^packages/local-cluster/src/(runtime|machines/machine|objects)',
      },
    ],
  ),
  forbid(
    'page-runs-in-a-browser',
    'The page speaks to `rollcall ui` over HTTP. Of our code it may call what is pure, and know the shapes of the rest.',
    [
      { path: '^src/page/' },
      {
        path: ['^src/', '^functions/', '^packages/'],
        pathNot: ['^src/(core|page)/', '^packages/base/src/[^/]+\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    ],
  ),
  forbid(
    'page-is-bundled-alone',
    'The page is served as files, so nothing that runs in Node imports it; tests import its pure modules.',
    [{ path: '^(src|functions|scripts)/', pathNot: '^src/page/' }, { path: '^src/page/' }],
  ),
];

const placeRules = [
  forbid('tests-stay-in-test', 'What ships must not lean on a test or a fake.', [
    { pathNot: ['^test/', '^packages/[^/]+/test/'] },
    { path: ['^test/', '^packages/[^/]+/test/'] },
  ]),
  forbid(
    'scripts-are-for-the-repository',
    'Scripts serve developers and CI; what ships stands alone.',
    [{ pathNot: '^(scripts|test|packages/[^/]+/test)/' }, { path: '^scripts/' }],
  ),
  forbid(
    'aws-stays-outside',
    'A cloud client behind a port can be simulated; one in the application cannot.',
    [
      { path: '^src/(core|ports|app|watcher)/', pathNot: '^src/watcher/(renew-)?main\\.ts$' },
      { path: 'node_modules/(@aws-|@smithy/|@middy/)' },
    ],
  ),
  forbid(
    'client-node-opens-kubeconfigs',
    'It costs half a second to load and a megabyte of bundle (ADR 0006). Our requests go by the transport.',
    [
      { pathNot: '^(src/adapters/kubeconfig|test)/' },
      { path: 'node_modules/@kubernetes/client-node/' },
    ],
  ),
  forbid(
    'kubeconfigs-are-for-people',
    'A kubeconfig names programs, files and proxies: only what a person starts may read one (S12), no function, no watcher.',
    [
      { pathNot: '^(src/adapters/kubeconfig|src/cli|test)/' },
      { path: '^src/adapters/kubeconfig/' },
    ],
  ),
  forbid(
    'files-stay-outside',
    'Files are state of a machine: only adapters, the local engine and tools touch them.',
    [
      {
        pathNot:
          '^(src/adapters/(system|kubernetes|kubeconfig)|src/engine|src/cli|packages/local-[^/]+|scripts|test)/',
      },
      { path: '^(fs|fs/promises)$' },
    ],
  ),
  forbid(
    'processes-stay-outside',
    'Only the command line (a kubeconfig may name a plugin), the local engine and tools start programs.',
    [
      { pathNot: '^(src/engine|src/cli|packages/local-[^/]+|scripts|test)/' },
      { path: '^child_process$' },
    ],
  ),
];

const hygieneRules = [
  forbid('no-cycles', 'Modules in a cycle can only be understood, loaded and tested together.', [
    {},
    { circular: true },
  ]),
  forbid('no-orphans', 'A module that nothing uses and that uses nothing is a leftover.', [
    {
      orphan: true,
      pathNot: [
        '\\.d\\.ts$',
        '\\.test\\.ts$',
        '^test/performance/',
        '^scripts/((build|install)/)?[^/]+$',
      ],
    },
    {},
  ]),
  forbid('no-unresolvable', 'An import that finds nothing fails at run time, perhaps late.', [
    {},
    { couldNotResolve: true },
  ]),
  forbid(
    'no-undeclared-package',
    'A package that only another package declares can vanish with its next release.',
    [{}, { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] }],
  ),
  forbid(
    'no-development-package-in-what-ships',
    'What is deployed is bundled from runtime dependencies. Types vanish when types are stripped.',
    [
      { path: '^(src|functions)/', pathNot: '^src/engine/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'] },
    ],
  ),
];

export default {
  forbidden: [...layerRules, ...placeRules, ...hygieneRules],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.cache)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.d.ts', '.json'],
    },
  },
};
