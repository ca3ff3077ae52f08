import { REQUEST_PARAMETERS } from '../search/domain.ts';
import type { Path, RawFault } from './faults.ts';
import { repeats } from './repeats.ts';
import type { DomainConfig, Draft } from './schema.ts';
import { formatDuration, formatHostPort, formatSize } from './units.ts';

type Report = (path: Path, value: string, allowed: string) => void;
type DraftDomain = Draft<DomainConfig>;

/** Names with a meaning of their own in a request or a document. */
export const RESERVED_ATTRIBUTES: readonly string[] = [
  ...REQUEST_PARAMETERS,
  'relevance',
  'id',
  'title',
  'description',
  // On every JavaScript object already: a table by attribute name would find something that is not there.
  'constructor',
];
const RESERVED_CONTEXT: readonly string[] = [...REQUEST_PARAMETERS, 'constructor'];

/** Faults between the values of one domain. */
export function checkDomain(name: string, domain: DraftDomain): readonly RawFault[] {
  const faults: RawFault[] = [];
  const report: Report = (path, value, allowed) => {
    faults.push({ path: ['domains', name, ...path], value, allowed });
  };
  if (name === 'constructor') report([], name, 'another name: this one is reserved');
  checkSizes(domain, report);
  if (domain.engine !== undefined) checkEngine(domain.engine, report);
  const deadline = domain.engine?.deadline;
  if (domain.patience !== undefined && deadline !== undefined && domain.patience < deadline) {
    report(['patience'], formatDuration(domain.patience), `at least engine.deadline (${formatDuration(deadline)})`);
  }
  for (const [attribute, declared] of Object.entries(domain.attributes ?? {})) {
    if (declared?.currency !== undefined && (declared.type === 'string' || declared.type === 'date')) {
      report(['attributes', attribute, 'currency'], declared.currency, 'a currency with type integer or number only');
    }
    if (!RESERVED_ATTRIBUTES.includes(attribute)) continue;
    report(['attributes', attribute], attribute, `any name but ${RESERVED_ATTRIBUTES.join(', ')}`);
  }
  checkContext(domain.context ?? {}, report);
  return faults;
}

function checkSizes({ memory, maxEntryBytes }: DraftDomain, report: Report): void {
  const { maxBytes, emptyMaxBytes } = memory ?? {};
  if (maxBytes === undefined) return;
  const bound = `memory.maxBytes (${formatSize(maxBytes)})`;
  if (emptyMaxBytes !== undefined && emptyMaxBytes >= maxBytes) {
    report(['memory', 'emptyMaxBytes'], formatSize(emptyMaxBytes), `less than ${bound}`);
  }
  if (maxEntryBytes !== undefined && maxEntryBytes > maxBytes) {
    report(['maxEntryBytes'], formatSize(maxEntryBytes), `at most ${bound}`);
  }
}

function checkEngine(engine: NonNullable<DraftDomain['engine']>, report: Report): void {
  const { deadline, hardDeadline, maxConcurrent } = engine;
  if (deadline !== undefined && hardDeadline !== undefined && deadline > hardDeadline) {
    report(['engine', 'deadline'], formatDuration(deadline), `at most hardDeadline (${formatDuration(hardDeadline)})`);
  }
  if (engine.kind !== 'sqlite') {
    const names = [{ host: engine.host, port: engine.port }, ...(engine.mirrors ?? [])].map((each) =>
      each?.host === undefined || each.port === undefined
        ? undefined
        : formatHostPort({ host: each.host, port: each.port }),
    );
    for (const index of repeats(names)) {
      report(
        ['engine', 'mirrors', index - 1],
        JSON.stringify(names[index]),
        'each server once, the first one included',
      );
    }
  }
  if (engine.kind !== 'sqlite' || maxConcurrent === undefined || engine.workers === undefined) return;
  if (maxConcurrent > engine.workers) {
    const why = 'more would wait inside the engine, where nothing sheds them';
    report(['engine', 'maxConcurrent'], String(maxConcurrent), `at most workers (${engine.workers}): ${why}`);
  }
}

function checkContext(context: NonNullable<DraftDomain['context']>, report: Report): void {
  for (const [name, parameter] of Object.entries(context)) {
    if (RESERVED_CONTEXT.includes(name)) {
      report(['context', name], name, `any name but ${RESERVED_CONTEXT.join(', ')}`);
    }
    const values = parameter?.values ?? [];
    for (const [index, value] of values.entries()) {
      if (value === undefined || value === value.trim()) continue;
      report(
        ['context', name, 'values', index],
        JSON.stringify(value),
        'a text that neither starts nor ends with a space',
      );
    }
    for (const index of repeats(values)) {
      report(['context', name, 'values', index], JSON.stringify(values[index]), 'each value once');
    }
  }
}
