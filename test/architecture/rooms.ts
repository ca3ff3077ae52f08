/**
 * The rooms of `src`, the lowest first, and the rooms that each may import, as types too. A room is a folder with all it
 * holds; in `engines`, `stores`, `operations`, `http` and `ui` each subfolder is a room of its own. Every room may import
 * `runtime.ts`. A new arrow is a change of the design: it is argued for in the commit that adds it.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  schema: [],
  cache: [],
  resilience: [],
  popularity: [],
  search: ['cache', 'resilience'],
  // The control document is read by its schema.
  control: ['schema', 'cache'],
  catalogue: ['search'],
  'engines/analysis': ['search'],
  // Words of documents and of searches are compared as the engines fold them; changes are published as decisions are.
  changes: ['cache', 'control', 'search', 'engines/analysis'],
  // The default configuration has the demo catalogue.
  config: ['schema', 'cache', 'search', 'catalogue'],
  tracing: ['schema', 'config', 'search'],
  // Records are read by their schema.
  report: ['schema', 'search'],
  // The schemas of what they answer and take.
  'operations/audit': ['schema'],
  'operations/capacity': ['schema', 'config'],
  'operations/meter': ['schema', 'cache', 'changes', 'control', 'resilience', 'search'],
  'operations/flush': ['schema', 'cache', 'control', 'search', 'operations/meter'],
  'operations/feed': ['schema', 'catalogue', 'changes', 'control', 'search'],
  'operations/warm': ['schema', 'control'],
  'operations/drills': ['schema', 'cache', 'control', 'search', 'report', 'operations/flush', 'operations/meter'],
  'operations/shadow': ['schema', 'cache', 'control', 'search', 'config', 'report', 'operations/flush'],
  'operations/doctor': [
    'schema',
    'cache',
    'changes',
    'resilience',
    'search',
    'control',
    'config',
    'report',
    'operations/meter',
  ],
  operations: ['cache', 'changes', 'control', 'search', 'popularity', 'config', 'operations/*'],
  'stores/memory': ['cache', 'changes', 'control'],
  'stores/redis': [
    'schema',
    'cache',
    'changes',
    'control',
    'config',
    'popularity',
    'operations/flush',
    'operations/doctor',
  ],
  stores: ['cache', 'changes', 'control', 'config', 'popularity', 'operations/doctor', 'stores/*'],
  'engines/sphinx': ['search', 'engines/analysis', 'resilience', 'config', 'operations/doctor'],
  'engines/sqlite': ['search', 'engines/analysis', 'resilience', 'operations/doctor'],
  engines: ['search', 'resilience', 'config', 'operations/doctor', 'engines/*'],
  'http/lane': [],
  // A page is sent in the content coding of its stored entry; a search without a page has the status of its reason, and a
  // refused operation that of its code.
  'http/transport': ['schema', 'cache', 'resilience', 'control', 'http/lane'],
  http: ['schema', 'cache', 'resilience', 'control', 'search', 'http/transport'],
  'http/search-api': ['schema', 'cache', 'resilience', 'search', 'http', 'http/lane', 'http/transport'],
  'http/admin': [
    'schema',
    'cache',
    'changes',
    'control',
    'search',
    'popularity',
    'operations',
    'operations/*',
    'http',
    'http/transport',
    'http/search-api',
  ],
  'ui/shared': ['report', 'search', 'http/transport'],
  'ui/page': [
    'cache',
    'catalogue',
    'config',
    'search',
    'report',
    'http',
    'http/transport',
    'http/search-api',
    'ui/shared',
  ],
  // Its browser code shows figures and drills as the reports do, and has the types of what the admin API answers.
  'ui/console': ['control', 'search', 'report', 'operations', 'operations/*', 'http/transport', 'ui/shared'],
  // It reads the events of every room.
  metrics: [
    'cache',
    'changes',
    'search',
    'resilience',
    'control',
    'popularity',
    'config',
    'engines',
    'engines/*',
    'operations/*',
    'http',
    'http/transport',
    'tracing',
  ],
  commands: [
    'schema',
    'cache',
    'catalogue',
    'config',
    'control',
    'engines',
    'engines/*',
    'operations/*',
    'popularity',
    'report',
    'resilience',
    'search',
    'stores',
  ],
};

/** The rooms of `loadtest`, the lowest first: each may import those before it, and any room of `src` but its roots. */
export const LOADTEST_ROOMS = [
  'random.ts',
  'stack',
  'http-driver',
  'traffic',
  'k6',
  'fault-proxy',
  'freshness',
  'sample',
  'judge',
  'labs/kit',
  'report',
  'runner',
  'labs/limits',
  'labs/experiments',
  'labs/peers',
  // It measures hits beside the peers.
  'bench',
  'rehearsal',
  'publish.ts',
  'request-files.ts',
];

/** The rooms of `deploy` that hold programs, and the folders that each may import, beside every room of `src` but its roots. */
export const DEPLOY_ROOMS: Readonly<Record<string, readonly string[]>> = {
  // Its dashboards show what the load tests count, and are written as the records are.
  grafana: ['loadtest/k6', 'loadtest/labs/kit'],
  release: [],
  // It starts what the folder holds, with the servers of the local stack.
  check: ['loadtest/stack', 'loadtest/rehearsal', 'deploy/grafana', 'deploy/release'],
};

/** The folders that may import each library: those that wrap it, and in `loadtest` those that measure with it. */
export const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  'cluster-key-slot': ['src/stores/redis'],
  ioredis: ['src/stores/redis', 'loadtest/stack', 'loadtest/bench', 'loadtest/labs'],
  mysql2: ['src/engines/sphinx'],
  opossum: ['src/resilience'],
  'node:sqlite': ['src/engines/sqlite'],
  fastify: ['src/http', 'src/ui', 'loadtest/labs/peers', 'loadtest/bench'],
  'prom-client': ['src/metrics'],
  yaml: ['src/schema', 'src/config', 'src/operations/doctor', 'deploy/check', 'deploy/release'],
  '@grafana/grafana-foundation-sdk': ['deploy/grafana'],
  'csv-parse': ['src/catalogue'],
  htmlparser2: ['src/catalogue'],
  // Loaded when tracing is on; tests read what it sends.
  '@opentelemetry': ['src/tracing'],
  k6: ['loadtest/k6'],
  bentocache: ['loadtest/labs/peers'],
  'async-cache-dedupe': ['loadtest/labs/peers'],
};
