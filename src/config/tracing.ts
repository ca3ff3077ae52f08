import { HIDDEN, MISSING, showValue } from '../schema/faults.ts';
import { MINUTE } from '../schema/units.ts';
import type { Environment } from './document.ts';
import type { ConfigFault } from './faults.ts';
import type { Config } from './schema.ts';
import { type ReadFile, readTlsFiles } from './tls.ts';

/** The values of a variable that are allowed. `read` gives undefined for any other. */
interface Form<Value> {
  readonly allowed: string;
  readonly read: (text: string) => Value | undefined;
}

/** A variable of OpenTelemetry. An empty one counts as unset. */
interface TracingVariable<Value> extends Form<Value> {
  /** The first that is set is read: the variable of traces stands before the variable of all signals. */
  readonly names: readonly string[];
  readonly about: string;
  readonly byDefault: Value;
  readonly secret?: true;
}

/** A value that a package of OpenTelemetry reads. It is checked, because a package ignores what it does not understand. */
const checked = (allowed: string, isAllowed: (text: string) => boolean = () => true): Form<string> => ({
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

const variable = <Value>(name: string, byDefault: Value, about: string, form: Form<Value>): TracingVariable<Value> => ({
  names: [name],
  about,
  byDefault,
  ...form,
});

const exporter = <Value>(name: string, byDefault: Value, about: string, form: Form<Value>): TracingVariable<Value> => ({
  ...variable(name, byDefault, about, form),
  names: [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`],
});

const ROOTS = ['always_on', 'always_off', 'traceidratio'] as const;
const SAMPLERS = [...ROOTS, ...ROOTS.map((root) => `parentbased_${root}` as const)];
type SamplerName = (typeof SAMPLERS)[number];
const PROPAGATORS = ['tracecontext', 'baggage'];
const MAX_QUEUED = 65_536;
const MAX_MS = 10 * MINUTE;
/** The package drops all attributes when a name or a value is longer. */
const MAX_ATTRIBUTE_LENGTH = 255;
const ENDPOINT =
  'an http or https URL without password, query and fragment; OTEL_EXPORTER_OTLP_HEADERS take credentials';
const PAIRS = 'name=value,name=value, the values percent-encoded';
const PEM_FILE = checked('the path of a PEM file');

const VARIABLES = {
  disabled: variable('OTEL_SDK_DISABLED', false, 'Turns tracing off.', {
    allowed: '`true`; anything else is false',
    read: (text) => text.toLowerCase() === 'true',
  }),
  exporter: variable<'otlp' | 'console' | 'none'>(
    'OTEL_TRACES_EXPORTER',
    'otlp',
    'Destination of spans. Tracing is off unless this or an endpoint is set.',
    oneOf(['otlp', 'console', 'none']),
  ),
  endpoint: variable(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    '',
    'URL to which spans are sent, as it is.',
    checked(ENDPOINT, isEndpoint),
  ),
  base: variable(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'http://localhost:4318',
    'URL of a collector; spans are sent to `v1/traces` below it.',
    checked(ENDPOINT, (text) => isEndpoint(`${text}/v1/traces`)),
  ),
  protocol: exporter(
    'PROTOCOL',
    'http/protobuf',
    'Protocol of the collector.',
    oneOf(['http/protobuf'], 'http/protobuf, which collectors accept on port 4318'),
  ),
  headers: {
    ...exporter('HEADERS', '', 'Fields of every request to the collector.', checked(PAIRS, isHeaders)),
    secret: true as const,
  },
  // The exporter reads it too, but with regard to case.
  compression: exporter<'gzip' | 'none'>(
    'COMPRESSION',
    'none',
    'Coding of requests to the collector.',
    oneOf(['gzip', 'none']),
  ),
  timeout: exporter('TIMEOUT', 10_000, 'Time for one batch, retries included, in milliseconds.', integer(MAX_MS)),
  // The TLS files are read here: their agent is ours.
  ca: exporter('CERTIFICATE', '', 'Authority that signed the certificate of the collector.', PEM_FILE),
  cert: exporter('CLIENT_CERTIFICATE', '', 'Certificate shown to the collector.', PEM_FILE),
  key: exporter('CLIENT_KEY', '', 'Private key of that certificate.', PEM_FILE),
  sampler: variable<SamplerName>(
    'OTEL_TRACES_SAMPLER',
    'parentbased_always_on',
    'Decides which requests are traced.',
    oneOf(SAMPLERS),
  ),
  ratio: variable('OTEL_TRACES_SAMPLER_ARG', 1, 'Share of traced requests, for the samplers with `traceidratio`.', {
    allowed: 'a number from 0 to 1',
    read: (text) => (/^[0-9.]+(e-?[0-9]+)?$/i.test(text) && Number(text) <= 1 ? Number(text) : undefined),
  }),
  propagators: variable(
    'OTEL_PROPAGATORS',
    '',
    'Form in which a context is read and sent along.',
    checked('tracecontext, with or without baggage (which is not read)', isPropagators),
  ),
  // The resources package reads these two.
  service: variable('OTEL_SERVICE_NAME', '', 'Value of `service.name`.', checked('a text')),
  resource: variable('OTEL_RESOURCE_ATTRIBUTES', '', 'Attributes of this process.', checked(PAIRS, isAttributes)),
  scheduleDelay: variable('OTEL_BSP_SCHEDULE_DELAY', 5000, 'Interval of batches, in milliseconds.', integer(MAX_MS)),
  exportTimeout: variable(
    'OTEL_BSP_EXPORT_TIMEOUT',
    30_000,
    'Time after which the next batch no longer waits for the last one, in milliseconds.',
    integer(MAX_MS),
  ),
  maxQueued: variable(
    'OTEL_BSP_MAX_QUEUE_SIZE',
    2048,
    'Maximum number of spans that wait; further ones are dropped and counted.',
    integer(MAX_QUEUED),
  ),
  maxBatch: variable(
    'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    512,
    'Maximum number of spans in a batch; at most the queue.',
    integer(MAX_QUEUED),
  ),
};

/** A row for every variable, for the reference page. */
export const TRACING_VARIABLES: readonly Pick<TracingVariable<unknown>, 'names' | 'allowed' | 'about'>[] =
  Object.values(VARIABLES);

/** The exporter and the resource read their variables of OpenTelemetry themselves, which were checked before. */
export type TracingSettings = NonNullable<ReturnType<typeof readTracing>['tracing']>;

/** While tracing is off, the other variables are not read, because they may be meant for another program. */
export function readTracing(
  env: Environment,
  trustParents: Config['tracing']['trustParents'],
  { readFile, cwd }: { readonly readFile: ReadFile; readonly cwd: string },
) {
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
  if (!isNamed || take(VARIABLES.disabled)) return { tracing: undefined, faults };
  const destination = take(destinations);
  if (destination === 'none') return { tracing: undefined, faults };

  const otlp = () => {
    take(VARIABLES.protocol);
    take(VARIABLES.timeout);
    const files = { ca: take(ca) || undefined, cert: take(cert) || undefined, key: take(key) || undefined };
    const tls = readTlsFiles(files, { readFile, cwd }, (member, allowed) => {
      fail(VARIABLES[member].names, showValue(files[member]), allowed);
    });
    const missing = find(cert.names) === undefined ? cert : key;
    if (find(missing.names) === undefined && find([...cert.names, ...key.names]) !== undefined) {
      fail(missing.names, MISSING, 'the certificate and its key together');
    }
    const isExact = find(endpoint.names) !== undefined;
    const sent = headers.names.map((name) => take({ ...headers, names: [name] }));
    return {
      kind: 'otlp' as const,
      /** Where the exporter sends spans. */
      url: isExact ? take(endpoint) : `${take(base).replace(/\/$/, '')}/v1/traces`,
      /** They may hold credentials. */
      sendsHeaders: sent.some((text) => text !== ''),
      compression: take(VARIABLES.compression),
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
  const tracing = {
    trustParents,
    exporter: destination === 'console' ? { kind: destination } : otlp(),
    sampler: { name: take(VARIABLES.sampler), ratio: take(VARIABLES.ratio) },
    batch: {
      intervalMs: take(VARIABLES.scheduleDelay),
      exportTimeoutMs: take(VARIABLES.exportTimeout),
      maxQueuedSpans,
      maxBatchSpans: Math.min(maxBatchSpans, maxQueuedSpans),
    },
  };
  return { tracing: faults.length > 0 ? undefined : tracing, faults };
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
