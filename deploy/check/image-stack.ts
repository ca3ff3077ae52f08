import { waitUntil } from '../../loadtest/stack/process.ts';
import { type CheckRun, hold } from './checker.ts';
import { createLayout, readStack, type Service } from './compose.ts';
import {
  ask,
  type Container,
  type ContainerOptions,
  type Image,
  runContainer,
  startContainer,
  startWire,
} from './container.ts';
import { QUERY, searchIn, untilServing } from './image-service.ts';
import { install } from './tools.ts';

const STEP_LIMIT_MS = 120_000;
const HEALTH_LIMIT_MS = 30_000;
const PROBE_LIMIT_MS = 10_000;
/** The first scrape comes within an interval of 15 s. */
const SCRAPE_LIMIT_MS = 45_000;
const STOP_LIMIT_MS = 15_000;
/** Programs of this machine stand in for images that cannot be pulled; for Grafana there is none. */
const PARTS = ['redis', 'valkey', 'prometheus'];
const ABSENT = 'grafana';
/** Words of the demo's documents. */
const QUERIES = { goods: QUERY, auto: 'toyota' } as const;

interface Explained {
  readonly tiers: readonly { readonly tier: string; readonly state: string }[];
}

interface Scraped {
  readonly data: { readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[] };
}

/** Runs compose.yaml step by step: each service with its own command, mounts, user and addresses. @returns what was proved. */
export async function checkStack(
  images: Readonly<Record<string, Image>>,
  { folder, say, signal }: CheckRun,
): Promise<string> {
  install(...PARTS);
  const stack = readStack();
  const wire = await startWire();
  const running = new Map<string, Container>();
  const optionsOf = createLayout(stack, { folder, wire, images });
  const optionsFor = (wanted: string): ContainerOptions => {
    const service = stack.services.find(({ name }) => name === wanted);
    hold(service !== undefined, `compose: no service ${wanted}`);
    return optionsOf(service);
  };
  try {
    // The file lists a service after all that it depends on; a test compares.
    for (const service of stack.services.filter(({ name }) => name !== ABSENT)) {
      signal.throwIfAborted();
      say(`compose: ${service.name}`);
      const options = optionsOf(service);
      if (service.restart === undefined) {
        const { status, log } = await runContainer({ ...options, limitMs: STEP_LIMIT_MS });
        hold(status === 0, `compose: ${service.name} ended with ${status}: ${log.trim().split('\n').at(-1)}`);
        continue;
      }
      const container = await startContainer(options);
      running.set(service.name, container);
      await untilHealthy(service, container, options);
    }
    const { serpcache, prometheus, searchd } = Object.fromEntries(running);
    hold(serpcache !== undefined && prometheus !== undefined && searchd !== undefined, 'compose: a service is missing');
    await untilServing(serpcache);
    const found: number[] = [];
    for (const [domain, query] of Object.entries(QUERIES)) {
      const total = await searchIn(serpcache, { domain, q: query });
      hold(total > 0, `compose: searchd found nothing in ${domain}`);
      found.push(total);
      await explain(domain, query, { pid: serpcache.pid, options: optionsFor('serpcache') });
    }
    const rules = await untilScraped(prometheus);
    const served = [...running.values()].reverse();
    for (const container of served) {
      const status = await container.stop(STOP_LIMIT_MS);
      hold(
        status === 0,
        `compose: ${container.name} ended with ${status ?? 'nothing'}: ${container.readLog().slice(-300)}`,
      );
    }
    return `compose.yaml: ${running.size} services, ${found.join(' and ')} found and stored, ${rules} rules, all ended with 0`;
  } finally {
    for (const container of running.values()) await container.stop(0);
    wire.end();
  }
}

async function untilHealthy(service: Service, container: Container, options: ContainerOptions): Promise<void> {
  const [kind, command] = service.healthcheck?.test ?? [];
  if (kind !== 'CMD-SHELL' || command === undefined) return;
  const network = { kind: 'shared', pid: container.pid } as const;
  const isHealthy = async (): Promise<boolean> => {
    if (container.hasEnded()) return true;
    const probe = {
      ...options,
      name: `${service.name}-probe`,
      network,
      command: ['sh', '-c', command],
      limitMs: PROBE_LIMIT_MS,
    };
    return (await runContainer(probe)).status === 0;
  };
  const healthy = (await waitUntil(isHealthy, HEALTH_LIMIT_MS, 200)) && !container.hasEnded();
  hold(healthy, `compose: ${service.name} is not healthy: ${container.readLog().trim().split('\n').at(-1)}`);
}

/** The command that the file's own comment gives to operators: it reads the page's entry from its cluster. */
async function explain(
  domain: string,
  query: string,
  { pid, options }: { readonly pid: number; readonly options: ContainerOptions },
): Promise<void> {
  const { status, log } = await runContainer({
    ...options,
    name: `explain-${domain}`,
    network: { kind: 'shared', pid },
    limitMs: PROBE_LIMIT_MS,
    command: ['node', 'src/cli.ts', 'explain', domain, query],
  });
  hold(status === 0, `compose: explain ended with ${status}: ${log.trim().split('\n').at(-1)}`);
  const { tiers } = JSON.parse(log) as Explained;
  const stored = tiers.find(({ tier }) => tier === 'l2')?.state;
  hold(stored === 'fresh', `compose: the page is ${stored} in the store of ${domain}`);
}

/** Waits for a scrape and for the rules. @returns how many rules there are. */
async function untilScraped(prometheus: Container): Promise<number> {
  const get = async <T>(path: string): Promise<T> =>
    JSON.parse((await ask(prometheus.pid, `http://127.0.0.1:9090/api/v1/${path}`)).body) as T;
  let fault = 'no target';
  const isUp = async (): Promise<boolean> => {
    const { data } = await get<Scraped>('targets?state=active').catch((): Scraped => ({ data: { activeTargets: [] } }));
    const [target] = data.activeTargets;
    fault = target?.lastError || fault;
    return target?.health === 'up';
  };
  hold(await waitUntil(isUp, SCRAPE_LIMIT_MS, 500), `compose: Prometheus cannot scrape serpcache: ${fault}`);
  const { data } = await get<{
    readonly data: { readonly groups: readonly { readonly rules: readonly { readonly lastError?: string }[] }[] };
  }>('rules');
  const rules = data.groups.flatMap((group) => group.rules);
  const failed = rules.find(({ lastError = '' }) => lastError !== '');
  hold(failed === undefined, `compose: a rule fails: ${failed?.lastError}`);
  return rules.length;
}
