import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess } from './process.ts';

interface PrometheusConfiguration {
  /** Its configuration, its log and its figures. */
  readonly folder: string;
  /** Admin addresses of the processes, `host:port`. */
  readonly targets: readonly string[];
  readonly ruleFiles: readonly string[];
}

/** A person who looks at a local stack does not wait for figures, and an alert is seen within seconds. */
const INTERVAL = '2s';
const KEPT = '2d';
const MAX_KEPT = '512MB';

const RULES = join(import.meta.dirname, '..', '..', 'deploy', 'prometheus');

export function deployedRules(): readonly string[] {
  const names = existsSync(RULES) ? readdirSync(RULES) : [];
  return names.filter((name) => name.endsWith('.rules.yaml')).map((name) => join(RULES, name));
}

/** A running Prometheus reads it again at SIGHUP. @returns the file */
export function configurePrometheus({ folder, targets, ruleFiles }: PrometheusConfiguration): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'prometheus.yaml');
  // JSON is valid YAML. The name of the job is that of deploy/prometheus/prometheus.yaml.
  const configuration = {
    global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: INTERVAL },
    rule_files: ruleFiles,
    scrape_configs: [{ job_name: 'serpcache', static_configs: [{ targets }] }],
  };
  writeFileSync(file, JSON.stringify(configuration, undefined, 2));
  return file;
}

/** Listens on loopback; k6 may write its figures there. @throws with the end of its log when it does not start. */
export async function startPrometheus(
  { logFile, port, ...own }: PrometheusConfiguration & { readonly logFile: string; readonly port: number },
  detached = false,
) {
  const configFile = configurePrometheus(own);
  const { folder } = own;
  return startProcess({
    name: 'prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${configFile}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--web.enable-remote-write-receiver',
      '--enable-feature=exemplar-storage',
      `--storage.tsdb.path=${join(folder, 'figures')}`,
      `--storage.tsdb.retention.time=${KEPT}`,
      `--storage.tsdb.retention.size=${MAX_KEPT}`,
    ],
    cwd: folder,
    logFile,
    ready: async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok,
    detached,
  });
}

/** One labelled series; each value is a time in seconds and a number as text. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
  readonly value: string;
}

export interface Rule {
  readonly name: string;
  readonly type: 'recording' | 'alerting';
  /** The fault of its last evaluation. */
  readonly lastError?: string;
}

export type PrometheusClient = ReturnType<typeof createPrometheusClient>;

const ANSWER_LIMIT_MS = 30_000;

/** Reads of the HTTP API, version 1. Each rejects with the words of Prometheus. */
export function createPrometheusClient(url: string) {
  const get = async <T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T> => {
    const target = `${url}/api/v1/${path}?${new URLSearchParams(query)}`;
    const reply = await fetch(target, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    const answer = (await reply.json()) as { readonly data: T; readonly error?: string };
    if (!reply.ok) throw new Error(answer.error ?? `${path}: status ${reply.status}`);
    return answer.data;
  };
  return {
    url,
    alerts: async (): Promise<readonly Alert[]> => (await get<{ readonly alerts: readonly Alert[] }>('alerts')).alerts,
    rules: async (): Promise<readonly Rule[]> => {
      const { groups } = await get<{ readonly groups: readonly { readonly rules: readonly Rule[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules);
    },
    /** The names of all metrics that it has scraped, received or recorded. */
    names: (): Promise<readonly string[]> => get('label/__name__/values'),
    /** The graph of a panel from one time to another, as Grafana asks for it. */
    range: async (query: string, fromMs: number, untilMs: number, stepSeconds: number): Promise<readonly Series[]> => {
      const times = { start: String(fromMs / 1000), end: String(untilMs / 1000), step: String(stepSeconds) };
      return (await get<{ readonly result: readonly Series[] }>('query_range', { query, ...times })).result;
    },
  };
}
