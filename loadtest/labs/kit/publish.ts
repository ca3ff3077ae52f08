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
import { findingMarkdown, overviewOf, shownOnPage, withOverview } from './markdown.ts';

/** Limited, because people read records and every clone contains them. */
export const MAX_RECORD_BYTES = 200_000;

/** A part of a page that is rendered from a record, between the markers of its name. */
export interface Section {
  readonly name: string;
  /** The text of `<name>.json` beside the page. */
  readonly record: string;
  readonly markdown: string;
  /** SVG by file name: `<name>.svg` or `<name>-<id>.svg`. */
  readonly plots: ReadonlyMap<string, string>;
}

/** A marker must be a line of its own. */
const MARKER = /^<!-- (\/?)finding: (\S+) -->[ \t]*\r?$/gm;
/** Paths that exist on one machine only. Commands for readers use `/path/…`. */
const MACHINE_PATH = /(?<![\w./:-])\/(?:home|root|work|tmp|Users|private|mnt|srv|opt|var)\/[^\s'"]*/;

/**
 * The record as text. A list of short values, and everything that fits into a line, is written in one line, so that a diff
 * shows only the changed lines.
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

/** JSON has null for the values of a list that were not measured; they become undefined. @throws SyntaxError */
export function parseRecord(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) =>
    Array.isArray(value) ? value.map((one: unknown) => (one === null ? undefined : one)) : value,
  );
}

/** Why a record may not be published, as a sentence; undefined when it may. */
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
 * Replaces the text between the markers of this section, its plots and its record. Nothing else is changed.
 * @param more makes further changes to the page, with the names of all its sections in their order.
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
  // All or none: otherwise an old text could be shown beside new plots.
  replaceFiles(
    new Map([
      [page, shown],
      [join(records, `${name}.json`), record],
      ...Array.from(plots, ([file, svg]) => [join(pictures, file), svg] as const),
    ]),
  );
  for (const file of plotsOf(pictures, name, names)) if (!plots.has(file)) rmSync(join(pictures, file));
}

/** A check before minutes of measurement. @throws when a section with one of these names could not be published. */
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
    name,
    isEnd: slash === '/',
    from: index,
    to: index + all.trimEnd().length,
  }));
}

/** The end of the first marker and the beginning of the second. */
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

/** Plots of this section: `batch-lua.svg`, unless there is a section called `batch-lua`. */
function plotsOf(folder: string, name: string, others: readonly string[]): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((file) => ownerOf(file, [name, ...others]) === name);
}

/** The section with the longest name that the file name begins with. */
function ownerOf(file: string, names: readonly string[]): string | undefined {
  const own = names.filter((name) => file === `${name}.svg` || (file.startsWith(`${name}-`) && file.endsWith('.svg')));
  return own.toSorted((a, b) => b.length - a.length)[0];
}

/** The section of a page for a finding, rendered only from the text of its record. */
export function findingSection(record: string): Section {
  const read = parseRecord(record) as FindingRecord;
  return { name: read.finding.name, record, markdown: findingMarkdown(read), plots: drawnCharts(shownOnPage(read)) };
}

/**
 * Writes a finding into its page, and its plots and its record beside it. @throws as `publishSection`, and when the rows
 * were measured for a shortened time or the commit of the measured code is unknown.
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

/** A check before minutes of measurement. @throws when a finding with one of these names could not be published. */
export function checkPage(page: string, names: readonly string[]): void {
  overviewOf(checkSections(page, names));
}

/**
 * Writes all of these files or none: each one to a temporary file in its folder, then all are renamed.
 * @param files texts by path. @throws when one of them cannot be written; then all are unchanged.
 */
export function replaceFiles(files: ReadonlyMap<string, string>): void {
  const moves = Array.from(files, ([path, text]) => {
    // The target of a link is written, not the link.
    const to = existsSync(path) ? realpathSync(path) : path;
    return { to, beside: `${to}.new`, text };
  });
  // Renaming would also replace a read-only file, against the intention of its owner.
  for (const { to } of moves) {
    if (!existsSync(to)) continue;
    // Renaming would replace a device by a file.
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
