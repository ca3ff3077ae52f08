import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accepts, type RunningProcess, startProcess } from '../../loadtest/stack/process.ts';

export type ServiceProcess = ReturnType<typeof createServiceProcess>;

interface ServiceProcessOptions {
  readonly name: string;
  /** Folder of its configuration and log. */
  readonly directory: string;
  readonly ports: readonly number[];
  /** The checkout whose `src/main.ts` runs. */
  readonly checkout: string;
  readonly nodeOptions: string;
}

/** A serpcache process that a test can kill, and restart on the same ports with another configuration. */
export function createServiceProcess({ name, directory, ports, checkout, nodeOptions }: ServiceProcessOptions) {
  mkdirSync(directory, { recursive: true });
  const [port = 0, adminPort = 0] = ports;
  const configFile = join(directory, 'config.yaml');
  const logFile = join(directory, 'serpcache.log');
  const clockFile = join(directory, 'clock-step-ms');
  let running: RunningProcess | undefined;
  let config: string | undefined;
  const adminUrl = `http://127.0.0.1:${adminPort}`;

  const stop = async (): Promise<void> => {
    await running?.stop();
    running = undefined;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    adminUrl,
    /** The current configuration. */
    config: (): string | undefined => config,
    /** Undefined while no process runs. */
    running: (): RunningProcess | undefined => running,
    /** Stops the running process and starts one with this configuration. Resolves when it accepts connections. */
    start: async (next: string): Promise<void> => {
      await stop();
      config = next;
      writeFileSync(configFile, next);
      writeFileSync(logFile, '');
      writeFileSync(clockFile, '0');
      running = await startProcess({
        name,
        command: process.execPath,
        args: [
          `--import=${join(import.meta.dirname, '..', '..', 'loadtest', 'stack', 'stepped-clock.mjs')}`,
          join(checkout, 'src', 'main.ts'),
        ],
        cwd: directory,
        env: {
          SERPCACHE_CONFIG: configFile,
          PORT: `${port}`,
          ADMIN_PORT: `${adminPort}`,
          LOG_LEVEL: 'info',
          CLOCK_STEP_FILE: clockFile,
          NODE_OPTIONS: nodeOptions,
        },
        logFile,
        ready: () => accepts(port),
      });
    },
    /** Sets the total offset of its wall clock, effective from the next reading of the clock. */
    stepClock: (byMs: number): void => writeFileSync(clockFile, `${byMs}`),
    /** Difference between the wall clock that the process reports and this machine's. */
    clockAheadMs: async (): Promise<number> => {
      const abort = new AbortController();
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(5000)]);
      const { body } = await fetch(`${adminUrl}/admin/live`, { signal });
      let text = '';
      try {
        for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += part;
          const reported = /"atMs":(\d+)/.exec(text)?.[1];
          if (reported !== undefined) return Number(reported) - Date.now();
        }
        throw new Error('/admin/live ended without a line');
      } finally {
        abort.abort();
      }
    },
    /** Peak resident memory since its start, bytes. */
    peakRssBytes: (): number => {
      const status = running === undefined ? '' : read(`/proc/${running.pid}/status`);
      return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1024;
    },
    /** Sum over all series of a metric that have the given labels. */
    metric: async (metric: string, labels: Readonly<Record<string, string>> = {}): Promise<number> => {
      const text = await (await fetch(`${adminUrl}/metrics`, { signal: AbortSignal.timeout(5000) })).text();
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const rows = text.matchAll(new RegExp(`^${metric}(?:\\{(.*)\\})? ([-+.\\deE]+)$`, 'gm'));
      return [...rows]
        .filter(([, own = '']) => wanted.every((pair) => own.includes(pair)))
        .reduce((sum, [, , value]) => sum + Number(value), 0);
    },
    log: (): string => read(logFile),
    stop,
  };
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
