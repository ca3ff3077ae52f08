import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
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
const MARKER = /^<!-- (\/?)finding: (\S+) -->$/gm;
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
  const [from, to] = between(text, name, page);
  return `${text.slice(0, from)}\n${markdown}${text.slice(to)}`;
}

export function sectionsOf(text: string): readonly string[] {
  return [...text.matchAll(MARKER)].flatMap(([, slash, name = '']) => (slash === '' ? [name] : []));
}

/**
 * Replaces the text between the markers of this section, its plots and its record. Nothing else is changed.
 * @param more makes further changes to the page, with the names of all its sections in their order.
 * @throws before anything is changed, when the markers are not one pair, when the record may not be published, or when a
 * file cannot be written.
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
  const names = sectionsOf(text);
  const shown = more(withSection(text, section, basename(page)), names);
  const [records, pictures] = [join(dirname(page), RECORDS), join(dirname(page), PLOTS)];
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
  for (const name of names) between(text, name, basename(page));
  return text;
}

/** The end of the first marker and the beginning of the second. */
function between(text: string, name: string, page: string): readonly [number, number] {
  const markers = [...text.matchAll(MARKER)];
  const own = markers.filter(([, , one]) => one === name);
  const [start, end] = own;
  const isPair = own.length === 2 && start?.[1] === '' && end?.[1] === '/';
  if (isPair && markers.indexOf(end) === markers.indexOf(start) + 1) return [start.index + start[0].length, end.index];
  throw new Error(
    `${page} needs one line "<!-- finding: ${name} -->", and one "<!-- /finding: ${name} -->" after it without a marker between`,
  );
}

/** Plots of this section: `batch-lua.svg`, unless there is a section called `batch-lua`. */
function plotsOf(folder: string, name: string, names: readonly string[]): readonly string[] {
  const isOf = (file: string, one: string): boolean => file === `${one}.svg` || file.startsWith(`${one}-`);
  const longer = names.filter((one) => one.startsWith(`${name}-`));
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files.filter((file) => isOf(file, name) && !longer.some((one) => isOf(file, one)));
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
 * Writes all of these files or none: each one to a temporary file beside it, then all are renamed.
 * @param files texts by path. @throws when one of them cannot be written; then all are unchanged.
 */
export function replaceFiles(files: ReadonlyMap<string, string>): void {
  const written: string[] = [];
  try {
    for (const [path, text] of files) {
      writeFileSync(`${path}.new`, text);
      written.push(path);
    }
  } catch (error) {
    for (const path of written) rmSync(`${path}.new`);
    throw error;
  }
  for (const path of written) renameSync(`${path}.new`, path);
}
