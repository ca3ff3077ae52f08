import { type Fault, formatPath, HIDDEN, MISSING, type Path, showValue } from '../schema/faults.ts';
import {
  type Address,
  formatAddress,
  formatDuration,
  formatSize,
  HOST_PORT_PATTERN,
  type HostPort,
  isLoopback,
  isNetwork,
  parseHostPort,
} from '../schema/units.ts';
import { REQUEST_PARAMETERS } from '../search/domain.ts';
import { type Config, type DomainConfig, type Draft, type NamedStore, namedStores } from './schema.ts';
import { TOKEN_ALLOWED } from './schema-process.ts';
import type { NatMap } from './settings.ts';
import { CONFIGURED, nodeName } from './store-identity.ts';
import { checkTls, type ReportFault } from './tls.ts';

type DraftDomain = Draft<DomainConfig>;

/**
 * Faults between values that are each allowed. A faulty value is undefined here and is reported once, by `readTree`.
 */
export function crossCheck(config: Draft<Config>): readonly Fault[] {
  const faults: Fault[] = [];
  const report: ReportFault = (path, value, allowed) => {
    faults.push({ path, value, allowed });
  };
  const below =
    (...base: Path): ReportFault =>
    (path, ...fault) =>
      report([...base, ...path], ...fault);
  checkListeners(config, report);
  checkProxies(config, report);
  checkMemory(config, report);
  checkSigning(config.signing ?? {}, below('signing'));
  for (const { path, store } of namedStores(config)) checkStore(store, below(...path));
  checkTls(config, report);
  findSharedStores(config, report);
  for (const [name, domain] of Object.entries(config.domains ?? {})) {
    if (domain !== undefined) checkDomain(name, domain, config.control?.kind !== 'none', below('domains', name));
  }
  return faults;
}

function checkListeners({ public: open, admin }: Draft<Config>, report: ReportFault): void {
  const { token, host } = admin ?? {};
  if (token !== undefined && new Set(token).size < MIN_DISTINCT) report(['admin', 'token'], HIDDEN, TOKEN_ALLOWED);
  if (host !== undefined && token === undefined && !isLoopback(host)) {
    const allowed = `a token, as admin.host ${JSON.stringify(host)} is not a loopback address`;
    report(['admin', 'token'], MISSING, allowed);
  }
  if (open?.port !== undefined && open.port !== 0 && open.port === admin?.port && overlaps(open.host, host)) {
    report(['admin', 'port'], String(admin.port), 'another port than public.port');
  }
}

/** A token with fewer different characters is a short word that was repeated until it was long enough. */
const MIN_DISTINCT = 8;

function checkProxies({ public: open, tracing }: Draft<Config>, report: ReportFault): void {
  for (const [index, network] of (open?.trustedProxies ?? []).entries()) {
    if (network === undefined || isNetwork(network)) continue;
    const allowed = 'an IP address or a network, such as 10.0.0.0/8 or fd00::/8';
    report(['public', 'trustedProxies', index], showValue(network), allowed);
  }
  if (open?.trustedProxies?.length !== 0) return;
  // A client that picks its own id gets unlimited miss budgets.
  if (open.clientHeader !== undefined) {
    const allowed = 'nothing without trustedProxies: any client can send the header';
    report(['public', 'clientHeader'], showValue(open.clientHeader), allowed);
  }
  if (tracing?.trustParents === 'proxies') {
    const allowed = 'none or all, without public.trustedProxies: no request would be continued';
    report(['tracing', 'trustParents'], '"proxies"', allowed);
  }
}

function checkMemory({ memory, domains }: Draft<Config>, report: ReportFault): void {
  const total = memory?.maxBytes;
  const asked = Object.values(domains ?? {}).map((domain) => domain?.memory?.maxBytes);
  if (total === undefined || asked.length === 0) return;
  const { fits, taken, unset } = shareMemory(total, asked);
  if (fits) return;
  const rest = unset === 0 ? '' : `, and ${formatSize(MIN_SHARE_BYTES)} for each of the ${unset} others`;
  const needed = formatSize(taken + unset * MIN_SHARE_BYTES);
  const allowed = `at least ${needed}: the domains ask for ${formatSize(taken)}${rest}`;
  report(['memory', 'maxBytes'], formatSize(total), allowed);
}

function checkSigning(
  { key, previousKey, acceptUnsigned }: NonNullable<Draft<Config>['signing']>,
  report: ReportFault,
): void {
  if (key !== undefined) {
    if (key === previousKey) report(['previousKey'], HIDDEN, 'another key than signing.key');
    return;
  }
  if (previousKey !== undefined) report(['previousKey'], HIDDEN, 'nothing without signing.key');
  if (acceptUnsigned === true) report(['acceptUnsigned'], 'true', 'nothing without signing.key');
}

/** Whether two listeners on one port would conflict. */
function overlaps(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  const isWildcard = (address: string): boolean => address === '0.0.0.0' || address === '::';
  return (
    a === b ||
    isWildcard(a) ||
    isWildcard(b) ||
    (a === 'localhost' && isLoopback(b)) ||
    (b === 'localhost' && isLoopback(a))
  );
}

/** Names that no attribute may have, because a request or a document uses them already. */
export const RESERVED_ATTRIBUTES: readonly string[] = [
  ...REQUEST_PARAMETERS,
  'relevance',
  'id',
  'title',
  'description',
  // Every JavaScript object has this member, so a table by attribute name would find it.
  'constructor',
];
const RESERVED_CONTEXT: readonly string[] = [...REQUEST_PARAMETERS, 'constructor'];

/** Faults between the values of one domain. */
function checkDomain(name: string, domain: DraftDomain, hasControl: boolean, report: ReportFault): void {
  if (name === 'constructor') report([], name, 'another name: this one is reserved');
  checkSizes(domain, report);
  if (domain.engine !== undefined) checkEngine(domain.engine, report);
  const deadline = bound('engine.deadline', domain.engine?.deadlineMs, formatDuration);
  checkBound(report, ['patience'], domain.patienceMs, 'at least', deadline);
  checkAttributes(domain, report);
  checkContext(domain.context ?? {}, report);
  checkCandidates(domain, report);
  const { stream } = domain.changes ?? {};
  const hasStore = domain.store?.kind !== 'none';
  if (stream !== undefined && !hasStore && (stream.from === 'store' || !hasControl)) {
    report(
      ['changes', 'stream', 'from'],
      showValue(stream.from),
      'a stream needs the control store, or a store of the domain',
    );
  }
  if (stream?.key?.startsWith('sc1:') === true) {
    const allowed = 'a name that does not begin with sc1:, as those of serpcache do: the feed would feed itself';
    report(['changes', 'stream', 'key'], showValue(stream.key), allowed);
  }
}

function checkAttributes({ attributes = {}, catalogue, engine }: DraftDomain, report: ReportFault): void {
  for (const [name, declared] of Object.entries(attributes)) {
    const { type, search, multiple, sort, separator, currency, format } = declared ?? {};
    const fault = (member: string, value: string, allowed: string): void =>
      report(['attributes', name, member], value, allowed);
    if (RESERVED_ATTRIBUTES.includes(name)) {
      report(['attributes', name], name, `any name but ${RESERVED_ATTRIBUTES.join(', ')}`);
    }
    if (currency !== undefined && (type === 'string' || type === 'date')) {
      fault('currency', currency, 'a currency with type integer or number only');
    }
    if (search === true && type !== 'string') fault('search', 'true', 'false, or type string: words are searched');
    if (format !== undefined && (type === 'string' || (type === 'date') !== format.includes('Y'))) {
      fault('format', format, 'one of digits with type integer or number, one of days with type date');
    }
    if (multiple === true && sort === true) {
      fault('sort', 'true', 'false with multiple: a document with several values has no one place in an order');
    }
    if (multiple === true && type === 'number' && engine?.kind !== undefined && engine.kind !== 'sqlite') {
      fault('type', '"number"', `string, integer or date: engine ${engine.kind} has no lists of fractions`);
    }
    if (multiple !== true && separator !== undefined) {
      fault('separator', JSON.stringify(separator), 'nothing without multiple: true');
    }
  }
  const fields = ['id', 'title', 'description', ...Object.keys(attributes)];
  const columns = Object.values(catalogue?.columns ?? {});
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice !== undefined) report(['catalogue', 'columns'], twice, 'each column for one field');
  for (const field of [...Object.keys(catalogue?.columns ?? {}), ...(catalogue?.raw ?? [])]) {
    if (field !== undefined && !fields.includes(field)) report(['catalogue'], field, `one of ${fields.join(', ')}`);
  }
}

function checkSizes({ memory, maxEntryBytes }: DraftDomain, report: ReportFault): void {
  const size = bound('memory.maxBytes', memory?.maxBytes, formatSize);
  checkBound(report, ['memory', 'emptyMaxBytes'], memory?.emptyMaxBytes, 'less than', size);
  checkBound(report, ['maxEntryBytes'], maxEntryBytes, 'at most', size);
}

/** A setting by which another one is bounded. */
const bound = (name: string, value: number | undefined, format: (value: number) => string) => ({ name, value, format });

function checkBound(
  report: ReportFault,
  path: Path,
  given: number | undefined,
  relation: 'at least' | 'at most' | 'less than',
  { name, value, format }: ReturnType<typeof bound>,
): void {
  if (given === undefined || value === undefined) return;
  const isRight = { 'at least': given >= value, 'at most': given <= value, 'less than': given < value }[relation];
  if (!isRight) report(path, format(given), `${relation} ${name} (${format(value)})`);
}

function checkEngine(engine: NonNullable<DraftDomain['engine']>, report: ReportFault): void {
  const { deadlineMs, hardDeadlineMs, maxConcurrent } = engine;
  const hardDeadline = bound('hardDeadline', hardDeadlineMs, formatDuration);
  checkBound(report, ['engine', 'deadline'], deadlineMs, 'at most', hardDeadline);
  if (engine.kind !== 'sqlite') {
    const names = [{ host: engine.host, port: engine.port }, ...(engine.mirrors ?? [])].map(shownAddress);
    for (const index of repeats(names)) {
      const allowed = 'each server once, the first one included';
      report(['engine', 'mirrors', index - 1], JSON.stringify(names[index]), allowed);
    }
  }
  if (engine.kind !== 'sqlite' || maxConcurrent === undefined || engine.workers === undefined) return;
  if (maxConcurrent > engine.workers) {
    const why = 'more would wait inside the engine, where nothing sheds them';
    report(['engine', 'maxConcurrent'], String(maxConcurrent), `at most workers (${engine.workers}): ${why}`);
  }
}

function checkContext(context: NonNullable<DraftDomain['context']>, report: ReportFault): void {
  for (const [name, parameter] of Object.entries(context)) {
    if (RESERVED_CONTEXT.includes(name)) {
      report(['context', name], name, `any name but ${RESERVED_CONTEXT.join(', ')}`);
    }
    const values = parameter?.values ?? [];
    for (const [index, value] of values.entries()) {
      if (value === undefined || value === value.trim()) continue;
      const allowed = 'a text that neither starts nor ends with a space';
      report(['context', name, 'values', index], JSON.stringify(value), allowed);
    }
    for (const index of repeats(values)) {
      report(['context', name, 'values', index], JSON.stringify(values[index]), 'each value once');
    }
  }
}

function checkCandidates({ store, candidates }: DraftDomain, report: ReportFault): void {
  const names = Object.keys(candidates ?? {});
  if (store?.kind === 'none' && names.length > 0) {
    report(['candidates'], names.join(', '), 'nothing without a store: a candidate is compared with it');
  }
  if (names.includes(CONFIGURED)) {
    report(['candidates', CONFIGURED], CONFIGURED, `any name but ${CONFIGURED}, the name of the configured store`);
  }
}

/** Faults between the values of one store. */
function checkStore(store: NamedStore['store'], report: ReportFault): void {
  const { deadlineMs, socketTimeoutMs, batchSize, maxOutstanding, dedicated, shared } = store;
  checkBound(report, ['deadline'], deadlineMs, 'less than', bound('socketTimeout', socketTimeoutMs, formatDuration));
  checkBound(report, ['batchSize'], batchSize, 'at most', bound('maxOutstanding', maxOutstanding, String));
  if (dedicated === true && shared === true) {
    report(['dedicated'], 'true', 'false where shared is true: emptying a node would take the other domain along');
  }
  const list = store.kind === 'sentinel' ? 'sentinels' : 'nodes';
  const nodes = (store.kind === 'sentinel' ? store.sentinels : store.nodes) ?? [];
  const names = nodes.map(shownAddress);
  for (const index of repeats(names)) report([list, index], JSON.stringify(names[index]), 'each node once');
  if (store.tls !== undefined && names[0]?.startsWith('unix:')) {
    report(['tls'], 'a section', 'nothing with a Unix socket: Redis speaks TLS on its TLS port only');
  }
  if (store.kind !== 'standalone') checkNatMap(store.natMap ?? {}, report);
}

function checkNatMap(natMap: NonNullable<Draft<NatMap>>, report: ReportFault): void {
  const announced = Object.keys(natMap);
  const names = announced.map((text) => shownAddress(parseHostPort(text))?.toLowerCase());
  for (const [index, text] of announced.entries()) {
    // A name that is no host:port at all is reported by `readTree`.
    if (names[index] === undefined && HOST_PORT.test(text)) {
      report(['natMap', text], JSON.stringify(text), 'a port from 1 to 65535');
    }
  }
  for (const index of repeats(names)) {
    report(['natMap', announced[index] ?? ''], JSON.stringify(announced[index]), 'each announced address once');
  }
}

const HOST_PORT = new RegExp(HOST_PORT_PATTERN);

/** Undefined for a faulty one, which is reported by itself. */
function addressOf(node: Draft<Address> | undefined): Address | undefined {
  if (node === undefined) return undefined;
  if ('path' in node) return node.path === undefined ? undefined : { path: node.path };
  const { host, port } = node as Draft<HostPort>;
  return host === undefined || port === undefined ? undefined : { host, port };
}

function shownAddress(node: Draft<Address> | undefined): string | undefined {
  const address = addressOf(node);
  return address && formatAddress(address);
}

type Claim = NamedStore & { readonly names: readonly string[] };

/**
 * Two users of one store fail together and evict each other's entries, so sharing must be explicit: every setting that
 * names a store and database that another one names too must set `shared: true`. A candidate of a domain is never another
 * store of that domain: a store that is compared with itself always agrees.
 */
function findSharedStores(config: Draft<Config>, report: ReportFault): void {
  const claims = namedStores(config).map((named) => ({ ...named, names: namesOf(named.store) }));
  for (const claim of claims) {
    const { path, names, candidate, owner, store } = claim;
    const commonWith = (other: Claim): string => other.names.find((name) => names.includes(name)) ?? '';
    const equal = claims.filter((other) => other !== claim && commonWith(other) !== '');
    const siblings = equal.filter(
      (other) => path[0] === 'domains' && other.path[0] === 'domains' && other.owner === owner,
    );
    const sibling = candidate ? siblings[0] : undefined;
    const other = store.shared === true ? undefined : equal.find((each) => !siblings.includes(each));
    if (sibling !== undefined) {
      report(path, commonWith(sibling), `another store or database than ${formatPath(sibling.path)}`);
    } else if (other !== undefined) {
      const allowed = `a store or database of its own, or shared: true wherever it is named (${other.owner} names it too)`;
      report(path, commonWith(other), allowed);
    }
  }
}

function namesOf(store: NamedStore['store']): readonly string[] {
  const database = store.kind === 'cluster' ? 0 : store.database;
  if (database === undefined) return [];
  if (store.kind !== 'sentinel') return addresses(store.nodes).map((at) => `${at}, database ${database}`);
  const { master, sentinels } = store;
  if (master === undefined) return [];
  return addresses(sentinels).map((at) => `master ${master} of ${at}, database ${database}`);
}

function addresses(nodes: readonly (Draft<Address> | undefined)[] | undefined): readonly string[] {
  return (nodes ?? []).flatMap((node) => {
    const address = addressOf(node);
    return address === undefined ? [] : nodeName(address);
  });
}

/** Minimum L1 of a domain. */
const MIN_SHARE_BYTES = 2 ** 20;

/** Each domain's share of `memory.maxBytes`: its own setting, or an equal share of what the others leave. */
export function shareMemory(totalBytes: number, asked: readonly (number | undefined)[]) {
  const taken = asked.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  const unset = asked.filter((bytes) => bytes === undefined).length;
  const equal = unset === 0 ? 0 : Math.floor((totalBytes - taken) / unset);
  const fits = taken <= totalBytes && (unset === 0 || equal >= MIN_SHARE_BYTES);
  return { fits, taken, unset, shares: asked.map((bytes) => bytes ?? equal) };
}

/** The default share for pages without results: a sixteenth, which takes little from pages with results. */
export function emptyShare(maxBytes: number): number {
  return Math.floor(maxBytes / 16);
}

/** Positions of items that occur earlier in the list. Faulty items (undefined) repeat nothing. */
function repeats(items: readonly (string | undefined)[]): readonly number[] {
  return items.flatMap((item, index) => (item !== undefined && items.indexOf(item) < index ? [index] : []));
}
