import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { drawnCharts } from './chart.ts';
import { type FindingRecord, PLOTS, RECORDS } from './finding.ts';
import { findingMarkdown, overviewOf, withOverview } from './markdown.ts';

/** A record is read by people and is part of every clone. */
export const MAX_RECORD_BYTES = 200_000;

/** One part of a page that is rendered from a record, and stands between the markers of its name. */
export interface Section {
  readonly name: string;
  /** Text of `<name>.json` beside the page. */
  readonly record: string;
  readonly markdown: string;
  /** By the file's name: `<name>.svg` or `<name>-<id>.svg`. */
  readonly plots: ReadonlyMap<string, string>;
}

/** A marker stands on a line of its own; elsewhere it is text. */
const MARKER = /^<!-- (\/?)finding: (\S+) -->[ \t]*\r?$/gm;
/** Folders that only one machine has. `/path/…` stands for the reader's own. */
const MACHINE_PATH = /(?<![\w./:-])\/(?:home|root|work|tmp|Users|private|mnt|srv|opt|var)\/[^\s'"]*/;

/**
 * The record as text: a value that fits into a line, and each list of values, has one line, so that a diff shows the changed
 * values.
 */
export function recordText(record: object): string {
  const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null;
  const written = (value: unknown, indent: string): string => {
    const line = JSON.stringify(value) ?? 'null';
    const isList = Array.isArray(value) && value.every((one) => isLeaf(one) && String(one).length <= 40);
    if (isLeaf(value) || isList || indent.length + line.length <= 118) return line;
    const inner = `${indent}  `;
    const items = Array.isArray(value)
      ? value.map((one) => written(one, inner))
      : Object.entries(value as object)
          .filter(([, one]) => one !== undefined)
          .map(([name, one]) => `${JSON.stringify(name)}: ${written(one, inner)}`);
    const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
    return `${open}\n${items.map((item) => `${inner}${item}`).join(',\n')}\n${indent}${close}`;
  };
  return `${written(record, '')}\n`;
}

/** In a JSON list, null stands for a value that was not measured. @throws SyntaxError */
export function parseRecord(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) =>
    Array.isArray(value) ? value.map((one: unknown) => (one === null ? undefined : one)) : value,
  );
}

/** Why a record may not be published, in one sentence; undefined: it may. */
export function recordFault(text: string): string | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_RECORD_BYTES) return `the record has ${bytes} bytes, more than ${MAX_RECORD_BYTES}`;
  const [path] = MACHINE_PATH.exec(text) ?? [];
  return path === undefined ? undefined : `the record names ${path}, which only one machine has`;
}

/** The page with this section between its markers. @throws as `publishSection` does. */
export function withSection(
  text: string,
  { name, markdown }: Pick<Section, 'name' | 'markdown'>,
  page: string,
): string {
  const [from, to] = between(markersOf(text), name, page);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return `${text.slice(0, from)}${eol}${markdown.replaceAll('\n', eol)}${text.slice(to)}`;
}

/** Names of all sections of a page, in their order. */
export function sectionsOf(text: string): readonly string[] {
  return markersOf(text)
    .filter(({ isEnd }) => !isEnd)
    .map(({ name }) => name);
}

/**
 * Replaces the text between the markers of this section in a page, its plots and its record; the rest stays as it is.
 * @param more further changes of the page, with the names of all its sections in their order.
 * @throws before anything is changed, when the markers are missing, more than one pair, in the wrong order, or around
 * those of another section, when the record may not be published, or when a file cannot be written.
 */
export function publishSection(
  section: Section,
  page: string,
  more: (text: string, names: readonly string[]) => string = (text) => text,
): void {
  const { name, record, plots } = section;
  const fault = recordFault(record);
  if (fault !== undefined) throw new Error(`${name}: ${fault}`);
  const text = readFileSync(page, 'utf8');
  const replaced = withSection(text, section, basename(page));
  const names = sectionsOf(text);
  for (const file of plots.keys()) {
    const owner = ownerOf(file, [name, ...names]);
    if (owner !== name) throw new Error(`${file} would be a plot of ${name} and of ${owner}: rename the chart`);
  }
  const shown = more(replaced, names);
  const [records, pictures] = [RECORDS, PLOTS].map((folder) => join(dirname(page), folder)) as [string, string];
  mkdirSync(records, { recursive: true });
  if (plots.size > 0) mkdirSync(pictures, { recursive: true });
  // Partial changes would show old text beside new plots.
  replaceFiles(
    new Map([
      [page, shown],
      [join(records, `${name}.json`), record],
      ...Array.from(plots, ([file, svg]) => [join(pictures, file), svg] as const),
    ]),
  );
  for (const file of plotsOf(pictures, name, names)) if (!plots.has(file)) rmSync(join(pictures, file));
}

/** Called before minutes of measuring. @throws when a section of one of these names could not be published. */
export function checkSections(page: string, names: readonly string[]): string {
  const text = readFileSync(page, 'utf8');
  accessSync(page, constants.W_OK);
  for (const name of names) between(markersOf(text), name, basename(page));
  return text;
}

interface Marker {
  readonly name: string;
  readonly isEnd: boolean;
  readonly from: number;
  readonly to: number;
}

function markersOf(text: string): readonly Marker[] {
  return [...text.matchAll(MARKER)].map(({ 0: all, 1: slash, 2: name = '', index }) => ({
    ...{ name, isEnd: slash === '/' },
    ...{ from: index, to: index + all.trimEnd().length },
  }));
}

/** From the end of the first marker to the beginning of the second. */
function between(markers: readonly Marker[], name: string, page: string): readonly [number, number] {
  const own = markers.filter((marker) => marker.name === name);
  for (const isEnd of [false, true]) {
    const count = own.filter((marker) => marker.isEnd === isEnd).length;
    const wanted = `a line "<!-- ${isEnd ? '/' : ''}finding: ${name} -->"`;
    if (count === 0) throw new Error(`${page} lacks ${wanted}`);
    if (count > 1) throw new Error(`${page} has ${wanted} ${count} times; one is allowed`);
  }
  const [start, end] = own;
  if (start === undefined || end === undefined || start.isEnd) {
    throw new Error(`${page} has the end of finding ${name} before its beginning`);
  }
  const inside = markers.find(({ from }) => from > start.from && from < end.from);
  if (inside !== undefined) throw new Error(`${page} has a marker of finding ${inside.name} within finding ${name}`);
  return [start.to, end.from];
}

/** Files of this section: `batch-lua.svg`, but not those of a section called `batch-lua`. */
function plotsOf(folder: string, name: string, others: readonly string[]): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((file) => ownerOf(file, [name, ...others]) === name);
}

/** The section with the longest name that a file begins with. */
function ownerOf(file: string, names: readonly string[]): string | undefined {
  const own = names.filter((name) => file === `${name}.svg` || (file.startsWith(`${name}-`) && file.endsWith('.svg')));
  return own.toSorted((a, b) => b.length - a.length)[0];
}

/** The section of a page for a finding. It is rendered from the text of the record, as a reader of the record can do. */
export function findingSection(record: string): Section {
  const read = parseRecord(record) as FindingRecord;
  return { name: read.finding.name, record, markdown: findingMarkdown(read), plots: drawnCharts(read.finding) };
}

/**
 * Writes a finding into its page, with its plots and its record beside it. @throws as `publishSection` does, and when the
 * finding was measured for less time than it should be or the commit of the measured code is unknown.
 */
export function publishFinding(record: FindingRecord, page: string): void {
  const { name } = record.finding;
  if (/ --seconds\b/.test(record.command)) {
    throw new Error(
      `${name} was measured with "${record.command}": a page shows rows measured as long as they should be`,
    );
  }
  if (record.commit === undefined) throw new Error(`${name} does not say which commit was measured`);
  publishSection(findingSection(recordText(record)), page, (text, names) => withOverview(text, record, names));
}

/** Called before minutes of measuring. @throws when a finding of one of these names could not be published there. */
export function checkPage(page: string, names: readonly string[]): void {
  overviewOf(checkSections(page, names));
}

/**
 * Writes all of these files or none: each one beside its target first, then all are renamed. @param files texts by
 * path. @throws when one of them cannot be written; then all files are unchanged.
 */
export function replaceFiles(files: ReadonlyMap<string, string>): void {
  const moves = Array.from(files, ([path, text]) => {
    // Writes the target of a link, not the link.
    const to = existsSync(path) ? realpathSync(path) : path;
    return { to, beside: `${to}.new`, text };
  });
  // A rename would replace a read-only file as well, against its owner's will.
  for (const { to } of moves) {
    if (!existsSync(to)) continue;
    // A device would be replaced by a file of its name.
    if (!isFile(to)) throw new Error(`${to} is no file`);
    accessSync(to, constants.W_OK);
  }
  const written: string[] = [];
  try {
    for (const { to, beside, text } of moves) {
      written.push(beside);
      writeFileSync(beside, text, existsSync(to) ? { mode: statSync(to).mode } : {});
    }
  } catch (error) {
    for (const beside of written) if (isFile(beside)) rmSync(beside);
    throw error;
  }
  for (const { to, beside } of moves) renameSync(beside, to);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
