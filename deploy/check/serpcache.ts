import { join } from 'node:path';
import { type RunningProcess, startProcess } from '../../loadtest/stack/process.ts';
import { ROOT } from './tools.ts';

/** A start may build the demo's index. */
const START_LIMIT_MS = 120_000;

interface ServerOptions {
  readonly name?: string;
  readonly cwd: string;
  readonly logFile: string;
  readonly configFile: string;
  readonly host: string;
  readonly port: number;
  readonly adminPort: number;
  readonly env?: Readonly<Record<string, string>>;
  /** The path that says when it is ready. */
  readonly readyPath?: string;
}

/** serpcache in a process of its own. @throws when it is not ready in time; then it has ended. */
export function startServer(options: ServerOptions): Promise<RunningProcess> {
  const { name = 'serpcache', cwd, logFile, configFile, host, port, adminPort, env, readyPath = '/readyz' } = options;
  return startProcess({
    name,
    command: process.execPath,
    args: [join(ROOT, 'src', 'main.ts')],
    cwd,
    logFile,
    env: {
      LOG_LEVEL: 'warn',
      ...env,
      SERPCACHE_CONFIG: configFile,
      HOST: host,
      ADMIN_HOST: host,
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
    },
    readyTimeoutMs: START_LIMIT_MS,
    ready: async () => (await fetch(`http://${host}:${port}${readyPath}`)).ok,
  });
}
