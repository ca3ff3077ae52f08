import { readFileSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { DEMO_DOMAINS } from '../catalogue/demo.ts';
import { readDocument, type YamlDocument } from '../schema/document.ts';
import { type Fault, formatPath, MISSING, showValue } from '../schema/faults.ts';
import { readTree } from '../schema/read.ts';
import { isLoopback } from '../schema/units.ts';
import { crossCheck } from './cross-checks.ts';
import { CONFIG_VARIABLE, type Environment, interpolate, overlay } from './document.ts';
import { ConfigError, type ConfigFault } from './faults.ts';
import { resolveSettings } from './resolve.ts';
import { type Config, configShape, type Draft } from './schema.ts';
import type { Settings } from './settings.ts';
import { connectedStores } from './store-identity.ts';
import { errorCodeOf, type ReadFile, readTls } from './tls.ts';
import { readTracing } from './tracing.ts';

interface LoadOptions {
  readonly env: Environment;
  /** Relative paths start here: the path of the file, and the paths in it. */
  readonly cwd: string;
  /** For tests; `readFileSync` otherwise. */
  readonly readFile?: ReadFile;
}

/**
 * Reads the file named by `SERPCACHE_CONFIG`, applies the variables of the environment, and fills in defaults.
 * @throws ConfigError with all faults.
 */
export function loadSettings({ env, cwd, readFile = (path) => readFileSync(path, 'utf8') }: LoadOptions): Settings {
  const file = env[CONFIG_VARIABLE] ?? '';
  const document = file === '' ? NOTHING : openDocument(file, cwd, readFile);
  const source = file === '' ? 'environment' : file;

  const written = Object.entries(document.tree ?? {}).filter(([name]) => !name.startsWith('x-'));
  const interpolated = interpolate(Object.fromEntries(written), env);
  const { tree, variables } = overlay(interpolated.value as Readonly<Record<string, unknown>>, env);
  // The demo is served only without a file. A file without domains may be truncated, and must not serve the demo.
  const domains = tree['domains'] ?? (file === '' ? embeddedDomains() : undefined);
  const { value, faults } = readTree(configShape, domains === undefined ? tree : { ...tree, domains }, {
    secretPaths: interpolated.secretPaths,
    numbersFromText: true,
    allItems: true,
  });
  // Faulty values are left out.
  const config = value as Draft<Config>;
  const tls = readTls(config, readFile, cwd);
  const single = [...interpolated.faults, ...faults];
  const faulty = new Set(single.map(({ path }) => formatPath(path)));
  // A faulty value looks like a missing one to the checks across fields; it is reported once, for its own fault.
  const across = [...crossCheck(config), ...tls.faults].filter(({ path }) => !faulty.has(formatPath(path)));
  const noDomains = domains === undefined ? [NO_DOMAINS] : [];
  // When the text cannot be parsed, only the variables are checked.
  const found = document.tree === undefined ? single : [...single, ...noDomains, ...across];
  const located = found.map((fault) => locate(fault, document, variables));
  const { tracing, faults: ofTracing } = readTracing(env, config.tracing?.trustParents ?? 'none', { readFile, cwd });
  const all = [...document.faults, ...located, ...ofTracing].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  if (all.length > 0) throw new ConfigError(source, all);
  // Without a fault every value is present.
  return { ...resolveSettings(config as Config, tls.files, cwd), tracing };
}

const NO_DOMAINS: Fault = {
  path: ['domains'],
  value: MISSING,
  allowed: 'at least one domain; the demo is served only where no file is named',
};

const MAX_BYTES = 2 ** 20;

interface ConfigDocument extends Omit<YamlDocument, 'faults'> {
  readonly faults: readonly ConfigFault[];
}

const NOTHING: ConfigDocument = { tree: {}, faults: [], lineOf: () => undefined };

function openDocument(file: string, cwd: string, readFile: ReadFile): ConfigDocument {
  try {
    const document = readDocument(readFile(resolvePath(cwd, file)), MAX_BYTES);
    return { ...document, faults: document.faults.map((fault) => ({ ...fault, path: file })) };
  } catch (error) {
    const allowed = `a YAML file that can be read (${errorCodeOf(error)})`;
    return { ...NOTHING, tree: undefined, faults: [{ path: CONFIG_VARIABLE, value: showValue(file), allowed }] };
  }
}

function locate(
  { path, value, allowed }: Fault,
  document: ConfigDocument,
  variables: ReadonlyMap<string, string>,
): ConfigFault {
  const text = formatPath(path);
  const variable = variables.get(text);
  if (variable !== undefined) return { path: variable, value, allowed };
  return { path: text, value, allowed, line: document.lineOf(path) };
}

/** The `domains` of a start without a file: the demo catalogue in embedded indexes, L1 only. In the form of a file. */
export function embeddedDomains(directory = 'data'): Readonly<Record<string, Readonly<Record<string, unknown>>>> {
  return Object.fromEntries(
    DEMO_DOMAINS.map(({ name, attributes, context }) => [
      name,
      {
        store: { kind: 'none' },
        engine: { kind: 'sqlite', directory, demo: true },
        changes: { onChange: 'miss' },
        attributes: Object.fromEntries(attributes.map(({ name: attribute, ...rest }) => [attribute, rest])),
        context: Object.fromEntries(context.map(({ name: parameter, ...rest }) => [parameter, rest])),
      },
    ]),
  );
}

/** Settings that are allowed but unsafe. Each start logs them, one line each, without secrets. */
export function settingsWarnings(settings: Settings): readonly string[] {
  const { admin, tracing } = settings;
  const warnings: string[] = [];
  if (admin.tls === undefined && !isLoopback(admin.host)) {
    warnings.push(
      `admin.tls is not set and admin.host ${admin.host} is not a loopback address: the admin token crosses the network in plain text, unless a proxy in front of it speaks TLS`,
    );
  }
  if (tracing?.exporter.kind === 'otlp' && tracing.exporter.sendsHeaders) {
    const { protocol, hostname } = new URL(tracing.exporter.url);
    if (protocol === 'http:' && !isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
      warnings.push('OTEL_EXPORTER_OTLP_HEADERS cross the network in plain text: the endpoint is not an https URL');
    }
  }
  for (const { path, store } of connectedStores(settings)) {
    if (store.tls?.rejectUnauthorized !== false) continue;
    warnings.push(`${path}.tls.rejectUnauthorized is false: any server is trusted, and gets the password`);
  }
  return warnings;
}
