import { HIDDEN, MISSING, showValue } from '../schema/faults.ts';
import { MINUTE } from '../schema/units.ts';
import type { Environment } from './document.ts';
import type { ConfigFault } from './faults.ts';
import type { Config } from './schema.ts';
import type { SamplerName, TracingSettings } from './settings.ts';
import { fit, type ReadFile, readPem } from './tls.ts';

/** A variable of OpenTelemetry. An empty one counts as unset. */
interface TracingVariable<Value> {
  /** The first that is set is read: the variable of traces stands before the variable of all signals. */
  readonly names: readonly string[];
  readonly about: string;
  readonly byDefault: Value;
  readonly allowed: string;
  /** Undefined for a value that is not allowed. */
  readonly read: (text: string) => Value | undefined;
  readonly secret?: true;
}

type Form<Value> = Pick<TracingVariable<Value>, 'allowed' | 'read'>;

/** A value that a package of OpenTelemetry reads. It is checked, because a package ignores what it does not understand. */
const checked = (allowed: string, isAllowed: (text: string) => boolean): Form<string> => ({
  allowed,
  read: (text) => (isAllowed(text) ? text : undefined),
});

/** The specification compares words without regard to case. */
const oneOf = <const Word extends string>(words: readonly Word[], allowed = words.join(', ')): Form<Word> => ({
  allowed,
  read: (text) => words.find((word) => word === text.toLowerCase()),
});

const integer = (maximum: number): Form<number> => ({
  allowed: `an integer from 1 to ${maximum}`,
  read: (text) =>
    /^[0-9]{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= maximum ? Number(text) : undefined,
});

const exporter = <Value>(name: string, about: string, byDefault: Value, form: Form<Value>): TracingVariable<Value> => ({
  names: [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`],
  about,
  byDefault,
  ...form,
});

const pemFile = (name: string, about: string) =>
  exporter(
    name,
    about,
    '',
    checked('the path of a PEM file', () => true),
  );

const batch = (name: string, about: string, byDefault: number, maximum: number): TracingVariable<number> => ({
  names: [`OTEL_BSP_${name}`],
  about,
  byDefault,
  ...integer(maximum),
});

const SAMPLERS: readonly SamplerName[] = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];
const PROPAGATORS = ['tracecontext', 'baggage'];
const MAX_QUEUED = 65_536;
const MAX_MS = 10 * MINUTE;
/** The package drops all attributes when a name or a value is longer. */
const MAX_ATTRIBUTE_LENGTH = 255;
const ENDPOINT =
  'an http or https URL without password, query and fragment; OTEL_EXPORTER_OTLP_HEADERS take credentials';
const PAIRS = 'name=value,name=value, the values percent-encoded';

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
    about: 'Destination of spans. Tracing is off unless this or an endpoint is set.',
    byDefault: 'otlp',
    ...oneOf(['otlp', 'console', 'none']),
  },
  endpoint: {
    names: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    about: 'URL to which spans are sent, as it is.',
    byDefault: '',
    ...checked(ENDPOINT, isEndpoint),
  },
  base: {
    names: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    about: 'URL of a collector; spans are sent to `v1/traces` below it.',
    byDefault: 'http://localhost:4318',
    ...checked(ENDPOINT, (text) => isEndpoint(`${text}/v1/traces`)),
  },
  protocol: exporter(
    'PROTOCOL',
    'Protocol of the collector.',
    'http/protobuf',
    oneOf(['http/protobuf'], 'http/protobuf, which collectors accept on port 4318'),
  ),
  headers: {
    ...exporter('HEADERS', 'Fields of every request to the collector.', '', checked(PAIRS, isHeaders)),
    secret: true,
  },
  // The exporter reads it too, but with regard to case.
  compression: exporter('COMPRESSION', 'Coding of requests to the collector.', 'none', oneOf(['gzip', 'none'])),
  timeout: exporter('TIMEOUT', 'Time for one batch, retries included, in milliseconds.', 10_000, integer(MAX_MS)),
  // The TLS files are read here: their agent is ours.
  ca: pemFile('CERTIFICATE', 'Authority that signed the certificate of the collector.'),
  cert: pemFile('CLIENT_CERTIFICATE', 'Certificate shown to the collector.'),
  key: pemFile('CLIENT_KEY', 'Private key of that certificate.'),
  sampler: {
    names: ['OTEL_TRACES_SAMPLER'],
    about: 'Decides which requests are traced.',
    byDefault: 'parentbased_always_on',
    ...oneOf(SAMPLERS),
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
    about: 'Form in which a context is read and sent along.',
    byDefault: '',
    ...checked('tracecontext, with or without baggage (which is not read)', isPropagators),
  },
  // The resources package reads these two.
  service: {
    names: ['OTEL_SERVICE_NAME'],
    about: 'Value of `service.name`.',
    byDefault: '',
    ...checked('a text', () => true),
  },
  resource: {
    names: ['OTEL_RESOURCE_ATTRIBUTES'],
    about: 'Attributes of this process.',
    byDefault: '',
    ...checked(PAIRS, isAttributes),
  },
  scheduleDelay: batch('SCHEDULE_DELAY', 'Interval of batches, in milliseconds.', 5000, MAX_MS),
  exportTimeout: batch(
    'EXPORT_TIMEOUT',
    'Time after which the next batch no longer waits for the last one, in milliseconds.',
    30_000,
    MAX_MS,
  ),
  maxQueued: batch(
    'MAX_QUEUE_SIZE',
    'Maximum number of spans that wait; further ones are dropped and counted.',
    2048,
    MAX_QUEUED,
  ),
  maxBatch: batch('MAX_EXPORT_BATCH_SIZE', 'Maximum number of spans in a batch; at most the queue.', 512, MAX_QUEUED),
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
    if (name === undefined) return byDefault;
    const text = (env[name] ?? '').trim();
    const value = text.length > MAX_TEXT ? undefined : read(text);
    if (value === undefined) fail(names, secret ? HIDDEN : showValue(text), allowed);
    return value ?? byDefault;
  };

  const { exporter: destinations, endpoint, base, headers, ca, cert, key } = VARIABLES;
  const isNamed = [destinations, endpoint, base].some(({ names }) => find(names) !== undefined);
  if (!isNamed || take(VARIABLES.disabled)) return { faults };
  const destination = take<'otlp' | 'console' | 'none'>(destinations);
  if (destination === 'none') return { faults };

  const pemOf = (file: TracingVariable<string>): string | undefined => {
    const path = take(file);
    if (path === '') return undefined;
    const pem = readPem(path, readFile, cwd);
    if (pem.text === undefined) fail(file.names, showValue(path), pem.allowed);
    return pem.text;
  };
  const otlp = (): TracingSettings['exporter'] => {
    take(VARIABLES.protocol);
    take(VARIABLES.timeout);
    const tls = { ca: pemOf(ca), cert: pemOf(cert), key: pemOf(key) };
    const missing = find(cert.names) === undefined ? cert : key;
    if (find(missing.names) === undefined && find([...cert.names, ...key.names]) !== undefined) {
      fail(missing.names, MISSING, 'the certificate and its key together');
    }
    if (tls.cert !== undefined && tls.key !== undefined && !fit(tls.cert, tls.key)) {
      fail(key.names, '(not its key)', 'the private key of the certificate, without a passphrase');
    }
    const isExact = find(endpoint.names) !== undefined;
    const sent = headers.names.map((name) => take<string>({ ...headers, names: [name] }));
    return {
      kind: 'otlp',
      url: isExact ? take<string>(endpoint) : `${take<string>(base).replace(/\/$/, '')}/v1/traces`,
      sendsHeaders: sent.some((text) => text !== ''),
      compression: take<'gzip' | 'none'>(VARIABLES.compression),
      tls,
    };
  };

  take(VARIABLES.propagators);
  take(VARIABLES.resource);
  const maxQueuedSpans = take(VARIABLES.maxQueued);
  const maxBatchSpans = take(VARIABLES.maxBatch);
  if (maxBatchSpans > maxQueuedSpans && find(VARIABLES.maxBatch.names) !== undefined) {
    const allowed = `at most the ${maxQueuedSpans} of OTEL_BSP_MAX_QUEUE_SIZE`;
    fail(VARIABLES.maxBatch.names, String(maxBatchSpans), allowed);
  }
  const tracing: TracingSettings = {
    trustParents,
    exporter: destination === 'console' ? { kind: 'console' } : otlp(),
    sampler: { name: take<SamplerName>(VARIABLES.sampler), ratio: take(VARIABLES.ratio) },
    batch: {
      intervalMs: take(VARIABLES.scheduleDelay),
      exportTimeoutMs: take(VARIABLES.exportTimeout),
      maxQueuedSpans,
      maxBatchSpans: Math.min(maxBatchSpans, maxQueuedSpans),
    },
  };
  return faults.length > 0 ? { faults } : { tracing, faults };
}

const MAX_TEXT = 8192;

function isEndpoint(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username + url.password + url.search + url.hash === '';
}

/** Whether each part of the text is an allowed pair, in the form of W3C baggage without properties. */
function arePairs(text: string, isAllowed: (name: string, value: string) => boolean): boolean {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  return parts.every((part) => {
    const at = part.indexOf('=');
    return at > 0 && isAllowed(part.slice(0, at).trim(), part.slice(at + 1).trim());
  });
}

function isHeaders(text: string): boolean {
  return arePairs(text, (name, value) => {
    // The exporter cuts a value at a semicolon.
    const plain = value.includes(';') ? undefined : decoded(value);
    return plain !== undefined && /^[\t -~]*$/.test(plain) && /^[A-Za-z0-9!#$&'*+.^_`|~-]+$/.test(name);
  });
}

function isAttributes(text: string): boolean {
  return arePairs(text, (name, value) => {
    const plain = value.includes('=') ? undefined : decoded(value);
    if (plain === undefined || plain.length > MAX_ATTRIBUTE_LENGTH) return false;
    return /^[!-~]+$/.test(name) && name.length <= MAX_ATTRIBUTE_LENGTH;
  });
}

function isPropagators(text: string): boolean {
  const words = text.split(',').map((word) => word.trim().toLowerCase());
  return words.includes('tracecontext') && words.every((word) => PROPAGATORS.includes(word));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
