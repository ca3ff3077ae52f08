import Type from 'typebox';
import { choice, closed, duration, flag, fraction, host, integer, section, size, text } from '../schema/fields.ts';
import { GIB, KIB, MIB, MINUTE, SECOND } from '../schema/units.ts';
import { listenerTls } from './schema-connections.ts';

const port = (description: string, env: string, byDefault: number) =>
  integer(description, { minimum: 0, maximum: 65_535, default: byDefault, 'x-env': env });

export const publicListener = Type.Object(
  {
    host: host('Address the public listener binds.', { default: '127.0.0.1', 'x-env': 'HOST' }),
    port: port('Port of the public listener; 0 picks a free one.', 'PORT', 8080),
    // 256 four-byte characters are 3 KiB when percent-encoded. Filters get the same again. The sum stays below 8 KiB,
    // the usual limit of proxies.
    maxUrlBytes: size('Maximum length of a request target.', { default: '6KiB', min: 1 * KIB, max: 16 * KIB }),
    // 50 searches of /msearch, each with the longest query and a few KiB of filters. Reading 1 MiB blocks the event
    // loop for at most 7 ms, 4 MiB for 28 ms.
    maxBodyBytes: size('Maximum size of a request body.', { default: '256KiB', min: 1 * KIB, max: 1 * MIB }),
    maxConnections: integer('Maximum number of client connections; further ones are refused.', {
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
    }),
    // Each search holds a request, a timer and perhaps a slot in a queue, about 5 KB.
    maxInFlight: integer(
      'Maximum number of searches that wait for a store or an engine; further ones are shed. Pages in memory are still served.',
      { default: 4000, minimum: 1, maximum: 1_000_000 },
    ),
    maxLoopDelay: duration(
      'While the event loop is delayed by more than this, only pages in memory are served, as JSON.',
      { default: '250ms', min: 20, max: MINUTE },
    ),
    lane: choice(
      ['auto', 'off'],
      'Whether searches are read and answered before Node’s HTTP parser; off: the parser gets every connection.',
      { default: 'auto' },
    ),
    trustedProxies: Type.Array(
      text('An address or a network such as 10.0.0.0/8.', { maxLength: 64, 'x-allowed': 'an IP address or a CIDR' }),
      { default: [], maxItems: 64, description: 'Proxies whose X-Forwarded-For is trusted for the client’s address.' },
    ),
    clientHeader: Type.Optional(
      text(
        'Header that identifies a client, such as x-api-key; trusted from `trustedProxies` only. Without it, the address identifies a client.',
        {
          pattern: '^[A-Za-z][A-Za-z0-9-]{0,62}$',
          'x-allowed': 'a header name',
        },
      ),
    ),
    missBudget: Type.Optional(
      Type.Object(
        {
          perMinute: integer('Engine calls per minute that one client may cause on average.', {
            default: 600,
            minimum: 1,
            maximum: 1_000_000,
          }),
          burst: integer('Engine calls that one client may cause at once, after a time without any.', {
            default: 200,
            minimum: 1,
            maximum: 1_000_000,
          }),
          maxClients: integer('Maximum number of clients remembered; the least recently active one is forgotten.', {
            default: 10_000,
            minimum: 1,
            maximum: 1_000_000,
          }),
        },
        closed('Engine calls that one client may cause. Hits are free. Behind a proxy, set `trustedProxies` first.'),
      ),
    ),
    drain: duration('Time from SIGTERM in which requests in flight may finish before their connections are cut.', {
      default: '4s',
      min: 0,
      max: MINUTE,
    }),
  },
  section('The listener for clients.'),
);

/** The command in the text also runs on old versions of Node. */
export const TOKEN_ALLOWED =
  '20 to 512 printable ASCII characters without spaces, at least 8 different ones; this makes one: ' +
  `node -p "require('crypto').randomBytes(24).toString('base64url')"`;

export const adminListener = Type.Object(
  {
    host: host(
      'Address the admin listener binds. An address other than loopback requires a token, and should have `tls`.',
      { default: '127.0.0.1', 'x-env': 'ADMIN_HOST' },
    ),
    port: port('Port of the admin listener; 0 picks a free one.', 'ADMIN_PORT', 8081),
    token: Type.Optional(
      text(
        'Bearer token for everything except /metrics, /healthz, the console and the API description. Without it, changes get 403.',
        {
          minLength: 20,
          maxLength: 512,
          pattern: '^[!-~]+$',
          'x-allowed': TOKEN_ALLOWED,
          'x-env': 'ADMIN_TOKEN',
          'x-secret': true,
        },
      ),
    ),
    tls: Type.Optional(listenerTls),
    hosts: Type.Array(
      text('A host name without its port, such as serpcache.internal.', {
        maxLength: 253,
        pattern: '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$',
        'x-allowed': 'a host name',
      }),
      {
        default: [],
        maxItems: 64,
        description:
          'Names allowed in Host, in addition to addresses and localhost. Without a token, Host is checked on every route, `/metrics` included; with a token, only when names are given here.',
      },
    ),
  },
  section('The listener for operators.'),
);

export const log = Type.Object(
  {
    level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'Lowest level that is written.', {
      default: 'info',
      'x-env': 'LOG_LEVEL',
      'x-also': { warning: 'warn' },
    }),
    hitSample: fraction('Share of hits that get a log line; everything else always gets one.', {
      default: 0.01,
      minimum: 0,
      maximum: 1,
    }),
  },
  section('The log, on standard output.'),
);

export const memory = Type.Object(
  {
    maxBytes: size('Size of L1 for all domains of the process together.', {
      default: '256MiB',
      min: 1 * MIB,
      max: 64 * GIB,
    }),
  },
  section('The memory tier (L1).'),
);

export const compression = Type.Object(
  {
    coding: choice(['identity', 'gzip', 'zstd'], 'Coding of stored pages, also sent to clients that accept it.', {
      // Nearly every client accepts gzip, so that a stored page is sent unchanged.
      default: 'gzip',
    }),
    // Compressing a body that fits into one packet saves no time.
    minBytes: size('Smaller bodies are stored uncompressed.', { default: '1KiB', min: 0, max: 1 * MIB }),
  },
  section('Compression of stored pages.'),
);

const signingKey = (description: string, env: string) =>
  Type.Optional(
    text(description, {
      minLength: 32,
      maxLength: 512,
      pattern: '^[!-~]+$',
      'x-allowed': '32 to 512 printable ASCII characters without spaces; `openssl rand -hex 32` makes one',
      'x-env': env,
      'x-secret': true,
    }),
  );

export const signing = Type.Object(
  {
    key: signingKey(
      'Key that signs pages, control documents and reports in the stores; the same in every process. Without it, nothing is signed.',
      'SIGNING_KEY',
    ),
    previousKey: signingKey(
      'Key that only verifies. To replace a key: set the new key here in every process, then swap the two, then remove the old key when every page signed with it has expired.',
      'SIGNING_KEY_PREVIOUS',
    ),
    acceptUnsigned: flag(
      'Accepts values without a signature. To introduce a key: set `key` with `true` here in every process, wait until the pages stored before have expired, then set `false`.',
      { default: false },
    ),
  },
  section(
    'Signatures of stored values, so that a program with write access to a store cannot plant values that this service accepts. For shared stores.',
  ),
);

export const drills = Type.Object(
  {
    directory: text('Directory of journals and reports of drills; created at the first drill.', {
      default: 'data/drills',
    }),
    keep: integer('Number of reports kept; the oldest are removed.', { default: 200, minimum: 1, maximum: 10_000 }),
    lease: duration(
      'Lease of a drill: when its owner is silent for this time, every process ends the drill and restores the cache.',
      { default: '3s', min: 1 * SECOND, max: MINUTE },
    ),
  },
  section('Drills.'),
);

export const audit = Type.Object(
  {
    file: text('Append-only file with one line per change that an operator requested.', {
      default: 'data/audit.ndjson',
    }),
    maxBytes: size('Size at which the file is renamed, to `audit.ndjson.000001-…`, and a new one started.', {
      default: '16MiB',
      min: 64 * KIB,
      max: 1 * GIB,
    }),
    keep: integer('Number of renamed files kept; the oldest are removed.', { default: 16, minimum: 1, maximum: 1000 }),
  },
  section('The audit log.'),
);

export const doctorSection = Type.Object(
  {
    interval: duration(
      'Interval of the cheap checks inside the service; `0s` turns them off, and `serpcache doctor` still looks.',
      { default: '15s', min: 0, max: MINUTE },
    ),
    acknowledged: Type.Optional(
      text('YAML file of findings that are true and accepted: a list of `check`, `subject`, `reason` and `until`.', {
        maxLength: 4096,
      }),
    ),
  },
  section('The doctor, which looks at stores, engines, the host and serpcache itself and changes nothing.'),
);

export const tracing = Type.Object(
  {
    trustParents: choice(
      ['none', 'proxies', 'all'],
      'Requests whose `traceparent` is continued, with its sampling decision: those of `public.trustedProxies`, or all. The others begin a trace of their own, with a link to the one they name.',
      // Any client could have its requests traced otherwise, and write into the traces of others.
      { default: 'none' },
    ),
  },
  section('Tracing; the variables of OpenTelemetry turn it on.'),
);
