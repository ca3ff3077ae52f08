import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAdminClient } from '../../src/commands/admin-client.ts';
import type { SearchDomain } from '../../src/search/domain.ts';
import { newToken } from './plan.ts';
import { freePorts, startProcess } from './process.ts';

const ROOT = join(import.meta.dirname, '..', '..');

interface ServiceOptions {
  readonly name: string;
  /** Holds the configuration and the log. */
  readonly directory: string;
  readonly configuration: object;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeOptions?: readonly string[];
  readonly checkout?: string;
}

/** A process of serpcache on free ports of loopback, with an operator. Resolves when it is ready. */
export async function startService(options: ServiceOptions) {
  const { name, directory, configuration, env: more, nodeOptions = [], checkout = ROOT } = options;
  const [port = 0, adminPort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;
  const configFile = join(directory, `${name}.yaml`);
  // JSON is valid YAML.
  writeFileSync(configFile, JSON.stringify(configuration));
  const token = newToken();
  const env = { SERPCACHE_CONFIG: configFile, ADMIN_TOKEN: token, PORT: String(port), ADMIN_PORT: String(adminPort) };
  const running = await startProcess({
    name,
    command: process.execPath,
    args: [...nodeOptions, join(checkout, 'src', 'main.ts')],
    cwd: directory,
    logFile: join(directory, `${name}.log`),
    env: { LOG_LEVEL: 'warn', ...env, ...more },
    ready: async () => (await fetch(`${url}/readyz`)).ok,
  });
  return {
    pid: running.pid,
    url,
    /** The variables that it was started with: a command of the CLI finds the same configuration. */
    env,
    admin: operatorAt(`http://127.0.0.1:${adminPort}`, token),
    stop: () => running.stop(),
  };
}

/** The admin API of one process. */
export function operatorAt(adminUrl: string, token: string | undefined, operator = 'rehearsal') {
  const { signal } = new AbortController();
  return createAdminClient({ base: new URL(adminUrl), token, operator, signal });
}

/** The declared attributes and context of a domain, as members of its configuration. */
export function declarationOf({ attributes, context }: Pick<SearchDomain, 'attributes' | 'context'>) {
  return {
    attributes: Object.fromEntries(attributes.map(({ name, ...declared }) => [name, declared])),
    context: Object.fromEntries(context.map(({ name, ...declared }) => [name, declared])),
  };
}
