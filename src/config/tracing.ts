import { HIDDEN, MISSING, showValue } from '../schema/faults.ts';
import { MINUTE } from '../schema/units.ts';
import type { Environment } from './document.ts';
import type { ConfigFault } from './faults.ts';
import type { Config } from './schema.ts';
import type { TracingSettings } from './settings.ts';
import { fit, type ReadFile, readPem } from './tls.ts';

/** A variable of OpenTelemetry. An empty one counts as unset. */
interface TracingVariable<Value> {
  /** The first that is set is read: the variable of traces stands before the variable of all signals. */
  readonly names: readonly string[];
  readonly allowed: string;
  readonly about: string;
  readonly byDefault: Value;
  /** Undefined for a value that is not allowed. */
  readonly read: (text: string) => Value | undefined;
  readonly secret?: true;
}

const ofTraces = (name: string) => [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];

/** The specification compares words without regard to case. */
const wordOf =
  <const Word extends string>(words: readonly Word[]) =>
  (text: string): Word | undefined =>
    words.find((word) => word === text.toLowerCase());

const integer = (maximum: number) => ({
  allowed: `an integer from 1 to ${maximum}`,
  read: (text: string): number | undefined =>
    /^[0-9]{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= maximum ? Number(text) : undefined,
});

const file = (name: string, about: string): TracingVariable<string> => ({
  names: ofTraces(name),
  allowed: 'the path of a PEM file',
  about,
  byDefault: '',
  read: (text) => text,
});

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const PROPAGATORS = ['tracecontext', 'baggage'];
const MAX_QUEUED_SPANS = 65_536;
const ENDPOINT =
  'an http or https URL without password, query and fragment; OTEL_EXPORTER_OTLP_HEADERS take credentials';
const DEFAULT_ENDPOINT = 'http://localhost:4318/v1/traces';

const VARIABLES = {
  disabled: {
    names: ['OTEL_SDK_DISABLED'],
    allowed: '`true`; anything else is false',
    about: 'Turns tracing off.',
    byDefault: false,
    read: (text: string) => text.toLowerCase() === 'true',
  },
  exporter: {
    names: ['OTEL_TRACES_EXPORTER'],
    allowed: 'otlp, console, none',
    about: 'Destination of spans. Tracing is off unless this or an endpoint is set.',
    byDefault: 'otlp',
    read: wordOf(['otlp', 'console', 'none']),
  },
  endpoint: {
    names: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    allowed: ENDPOINT,
    about: 'URL to which spans are sent, as it is.',
    byDefault: DEFAULT_ENDPOINT,
    read: (text: string) => urlOf(text),
  },
  base: {
    names: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    allowed: ENDPOINT,
    about: 'URL of a collector; spans are sent to `v1/traces` below it.',
    byDefault: DEFAULT_ENDPOINT,
    read: (text: string) => urlOf(`${text.replace(/\/$/, '')}/v1/traces`),
  },
  protocol: {
    names: ofTraces('PROTOCOL'),
    allowed: 'http/protobuf, which collectors accept on port 4318',
    about: 'Protocol of the collector.',
    byDefault: 'http/protobuf',
    read: wordOf(['http/protobuf']),
  },
  headers: {
    names: ofTraces('HEADERS'),
    allowed: 'name=value,name=value, the values percent-encoded',
    about: 'Fields of every request to the collector.',
    byDefault: {},
    read: (text: string) => pairsOf(text, /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, /^[\t -~]*$/),
    secret: true,
  },
  compression: {
    names: ofTraces('COMPRESSION'),
    allowed: 'gzip, none',
    about: 'Coding of requests to the collector.',
    byDefault: 'none',
    read: wordOf(['gzip', 'none']),
  },
  timeout: {
    names: ofTraces('TIMEOUT'),
    about: 'Time for one batch, retries included, in milliseconds.',
    byDefault: 10_000,
    ...integer(10 * MINUTE),
  },
  ca: file('CERTIFICATE', 'Authority that signed the certificate of the collector.'),
  cert: file('CLIENT_CERTIFICATE', 'Certificate shown to the collector.'),
  key: file('CLIENT_KEY', 'Private key of that certificate.'),
  sampler: {
    names: ['OTEL_TRACES_SAMPLER'],
    allowed: SAMPLERS.join(', '),
    about: 'Decides which requests are traced.',
    byDefault: 'parentbased_always_on',
    read: wordOf(SAMPLERS),
  },
  ratio: {
    names: ['OTEL_TRACES_SAMPLER_ARG'],
    allowed: 'a number from 0 to 1',
    about: 'Share of traced requests, for the samplers with `traceidratio`.',
    byDefault: 1,
    read: (text: string) => (/^[0-9.]+(e-?[0-9]+)?$/i.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  },
  propagators: {
    names: ['OTEL_PROPAGATORS'],
    allowed: 'tracecontext, with or without baggage (which is not read)',
    about: 'Form in which a context is read and sent along.',
    byDefault: true,
    read: (text: string) => {
      const words = text.split(',').map((word) => word.trim().toLowerCase());
      return words.includes('tracecontext') && words.every((word) => PROPAGATORS.includes(word)) ? true : undefined;
    },
  },
  service: {
    names: ['OTEL_SERVICE_NAME'],
    allowed: 'a text',
    about: 'Value of `service.name`.',
    byDefault: '',
    read: (text: string) => text,
  },
  resource: {
    names: ['OTEL_RESOURCE_ATTRIBUTES'],
    allowed: 'name=value,name=value, the values percent-encoded',
    about: 'Attributes of this process.',
    byDefault: {},
    read: (text: string) => pairsOf(text, /^[!-~]+$/, /^/),
  },
  scheduleDelay: {
    names: ['OTEL_BSP_SCHEDULE_DELAY'],
    about: 'Interval of batches, in milliseconds.',
    byDefault: 5000,
    ...integer(10 * MINUTE),
  },
  exportTimeout: {
    names: ['OTEL_BSP_EXPORT_TIMEOUT'],
    about: 'Time after which the next batch no longer waits for the last one, in milliseconds.',
    byDefault: 30_000,
    ...integer(10 * MINUTE),
  },
  maxQueued: {
    names: ['OTEL_BSP_MAX_QUEUE_SIZE'],
    about: 'Maximum number of spans that wait; further ones are dropped and counted.',
    byDefault: 2048,
    ...integer(MAX_QUEUED_SPANS),
  },
  maxBatch: {
    names: ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE'],
    about: 'Maximum number of spans in a batch; at most the queue.',
    byDefault: 512,
    ...integer(MAX_QUEUED_SPANS),
  },
} as const satisfies Readonly<Record<string, TracingVariable<unknown>>>;

/** A row for every variable, for the reference page. */
export const TRACING_VARIABLES: readonly Pick<TracingVariable<unknown>, 'names' | 'allowed' | 'about'>[] =
  Object.values(VARIABLES);

interface TracingRead {
  /** Absent while tracing is off: its variables are then not read, because they may be meant for another program. */
  readonly tracing?: TracingSettings;
  readonly faults: readonly ConfigFault[];
}

export function readTracing(
  env: Environment,
  trustParents: Config['tracing']['trustParents'],
  { readFile, cwd }: { readonly readFile: ReadFile; readonly cwd: string },
): TracingRead {
  const faults: ConfigFault[] = [];
  const find = (names: readonly string[]) => names.find((name) => (env[name] ?? '').trim() !== '');
  const fail = (names: readonly string[], value: string, allowed: string): void => {
    faults.push({ path: find(names) ?? names.join(' or '), value, allowed });
  };
  const take = <Value>({ names, byDefault, read, allowed, secret }: TracingVariable<Value>): Value => {
    const name = find(names);
    const text = name === undefined ? '' : (env[name] ?? '').trim();
    if (text === '') return byDefault;
    const value = text.length > MAX_TEXT ? undefined : read(text);
    if (value === undefined) fail(names, secret ? HIDDEN : showValue(text), allowed);
    return value ?? byDefault;
  };

  const { disabled, exporter, endpoint, base } = VARIABLES;
  const isNamed = [exporter, endpoint, base].some(({ names }) => find(names) !== undefined);
  if (!isNamed || take(disabled)) return { faults };
  const destination = take<'otlp' | 'console' | 'none'>(exporter);
  if (destination === 'none') return { faults };

  const pemOf = ({ names, ...variable }: TracingVariable<string>): string | undefined => {
    const path = take({ names, ...variable });
    if (path === '') return undefined;
    const pem = readPem(path, readFile, cwd);
    if (pem.text === undefined) fail(names, showValue(path), pem.allowed);
    return pem.text;
  };
  const otlp = (): TracingSettings['exporter'] => {
    take(VARIABLES.protocol);
    const [ca, cert, key] = [pemOf(VARIABLES.ca), pemOf(VARIABLES.cert), pemOf(VARIABLES.key)];
    const { cert: certificate, key: privateKey } = VARIABLES;
    for (const [{ names }, other] of [
      [certificate, privateKey],
      [privateKey, certificate],
    ] as const) {
      if (find(names) === undefined && find(other.names) !== undefined) {
        fail(names, MISSING, 'the certificate and its key together');
      }
    }
    if (cert !== undefined && key !== undefined && !fit(cert, key)) {
      fail(privateKey.names, '(not its key)', 'the private key of the certificate, without a passphrase');
    }
    const headers = VARIABLES.headers.names.toReversed().map((name) => ({ ...VARIABLES.headers, names: [name] }));
    return {
      kind: 'otlp',
      url: find(endpoint.names) === undefined ? take<string>(base) : take<string>(endpoint),
      headers: Object.assign({}, ...headers.map((variable) => take<Pairs>(variable))),
      compression: take<'gzip' | 'none'>(VARIABLES.compression),
      timeoutMs: take<number>(VARIABLES.timeout),
      tls: {
        ...(ca === undefined ? {} : { ca }),
        ...(cert === undefined ? {} : { cert }),
        ...(key === undefined ? {} : { key }),
      },
    };
  };

  take<true>(VARIABLES.propagators);
  const resource = take<Pairs>(VARIABLES.resource);
  const maxQueuedSpans = take<number>(VARIABLES.maxQueued);
  const maxBatchSpans = take<number>(VARIABLES.maxBatch);
  if (maxBatchSpans > maxQueuedSpans && find(VARIABLES.maxBatch.names) !== undefined) {
    fail(VARIABLES.maxBatch.names, String(maxBatchSpans), `at most the ${maxQueuedSpans} of OTEL_BSP_MAX_QUEUE_SIZE`);
  }
  const tracing: TracingSettings = {
    trustParents,
    exporter: destination === 'console' ? { kind: 'console' } : otlp(),
    sampler: { name: take<(typeof SAMPLERS)[number]>(VARIABLES.sampler), ratio: take<number>(VARIABLES.ratio) },
    serviceName: take<string>(VARIABLES.service) || (resource['service.name'] ?? 'serpcache'),
    resource,
    batch: {
      intervalMs: take<number>(VARIABLES.scheduleDelay),
      exportTimeoutMs: take<number>(VARIABLES.exportTimeout),
      maxQueuedSpans,
      maxBatchSpans: Math.min(maxBatchSpans, maxQueuedSpans),
    },
  };
  return faults.length > 0 ? { faults } : { tracing, faults };
}

const MAX_TEXT = 8192;

function urlOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username + url.password + url.search + url.hash === '' ? url.href : undefined;
}

type Pairs = Readonly<Record<string, string>>;

/** `name=value,name=value` in the form of W3C baggage, without properties. */
function pairsOf(text: string, name: RegExp, value: RegExp): Pairs | undefined {
  const pairs: [string, string][] = [];
  for (const member of text.split(',').filter((part) => part.trim() !== '')) {
    const at = member.indexOf('=');
    const left = member.slice(0, Math.max(at, 0)).trim();
    const right = decoded(member.slice(at + 1).trim());
    if (right === undefined || !name.test(left) || !value.test(right)) return undefined;
    pairs.push([left, right]);
  }
  return Object.fromEntries(pairs);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
