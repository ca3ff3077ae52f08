import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts } from '../../loadtest/stack/process.ts';
import { startStandalone } from '../../loadtest/stack/redis.ts';
import type { Dialect } from '../../src/engines/sphinx/rows.ts';
import type { Finding, Report } from '../../src/operations/doctor/report.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { hold } from './checker.ts';
import { startServer } from './serpcache.ts';

const HOST = '127.0.0.1';
const TOKEN = 'a-token-for-one-check';
const ANSWER_LIMIT_MS = 10_000;
const EXAMINATION_LIMIT_MS = 60_000;
const WINDOW_MS = 500;

/** serpcache in a process of its own, over two fronts and a Redis server. */
export interface Service {
  readonly search: (text: string) => Promise<Answer>;
  /** The doctor's findings about engines, of three windows. */
  readonly examine: () => Promise<EngineReport>;
  readonly stop: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly total: number;
  /** The page says that a part is missing. */
  readonly isDegraded: boolean;
  readonly cacheControl: string;
  /** `serpcache-l2; fwd=uri-miss; stored, serpcache-l1; fwd=uri-miss; stored` */
  readonly cacheStatus: string;
}

export interface EngineReport {
  readonly findings: readonly Finding[];
  /** Checks of engines that looked at at least one front, by their names. */
  readonly looked: readonly string[];
}

interface ServiceOptions {
  readonly folder: string;
  readonly dialect: Dialect;
  readonly domain: SearchDomain;
  readonly frontPorts: readonly [number, number];
}

/** @throws when a server does not start; then nothing is left running. */
export async function startService({ folder, dialect, domain, frontPorts }: ServiceOptions): Promise<Service> {
  const [port = 0, adminPort = 0] = await freePorts(2);
  const store = await startStandalone({ flavour: 'redis' });
  const [firstFront, ...mirrors] = frontPorts;
  const configFile = join(folder, 'serpcache.yaml');
  const configuration = {
    // Other work runs on this machine: a late event loop is no reason to shed.
    public: { maxLoopDelay: '2s' },
    domains: {
      goods: {
        store: { kind: 'standalone', nodes: store.nodes.map(({ address }) => address) },
        engine: {
          kind: dialect,
          host: HOST,
          port: firstFront,
          mirrors: mirrors.map((one) => `${HOST}:${one}`),
          index: 'goods',
          idAttribute: 'doc_id',
          deadline: '800ms',
          hardDeadline: '3s',
          maxConcurrent: 8,
        },
        attributes: Object.fromEntries(domain.attributes.map(({ name, ...declared }) => [name, declared])),
        context: Object.fromEntries(domain.context.map(({ name, ...declared }) => [name, declared])),
      },
    },
  };
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify(configuration));
  try {
    const service = await startServer({
      cwd: folder,
      logFile: join(folder, 'serpcache.log'),
      configFile,
      host: HOST,
      port,
      adminPort,
      env: { ADMIN_TOKEN: TOKEN },
    });
    return {
      search: (text) => search(`http://${HOST}:${port}`, text),
      examine: () => examine(`http://${HOST}:${adminPort}`),
      stop: async () => {
        await service.stop();
        await store.stop();
      },
    };
  } catch (error) {
    await store.stop();
    throw error;
  }
}

async function search(url: string, text: string): Promise<Answer> {
  const reply = await fetch(`${url}/search?domain=goods&facet=category&q=${encodeURIComponent(text)}`, {
    signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
  });
  const page: { readonly total?: number; readonly degraded?: boolean } = JSON.parse(await reply.text());
  return {
    status: reply.status,
    total: page.total ?? -1,
    isDegraded: page.degraded === true,
    cacheControl: reply.headers.get('cache-control') ?? '',
    cacheStatus: reply.headers.get('cache-status') ?? '',
  };
}

async function examine(url: string): Promise<EngineReport> {
  const reply = await fetch(`${url}/admin/doctor/examination?window=${WINDOW_MS}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
    signal: AbortSignal.timeout(EXAMINATION_LIMIT_MS),
  });
  const body = await reply.text();
  hold(reply.ok, `the doctor answers ${reply.status}: ${body.slice(0, 300)}`);
  const { report }: { readonly report: Report } = JSON.parse(body);
  const skipped = new Set(report.skipped.map(({ check }) => check));
  return {
    findings: report.findings.filter(({ area }) => area === 'engine'),
    looked: ENGINE_NAMES.filter((name) => !skipped.has(name)),
  };
}

/** Checks that can judge a front: it has an uptime, connections and agents, and no documents of its own. */
const ENGINE_NAMES = ['engine-unreachable', 'engine-maxed-out', 'engine-agents', 'engine-kind', 'engine-version'];
