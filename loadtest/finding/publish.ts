import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { FindingRecord } from './finding.ts';
import { findingMarkdown } from './finding-markdown.ts';
import { overviewOf, withOverview } from './overview.ts';
import { drawnCharts } from './plot-files.ts';
import { replaceFiles } from './replace-files.ts';

/** On a line of its own; anywhere else it is text. */
const MARKER = /^<!-- (\/?)finding: (\S+) -->[ \t]*\r?$/gm;

/**
 * Replaces what stands between the markers of this finding in a page, and its plots; all else stays as it is.
 * @throws before anything is changed, when the markers are missing, more than one pair, in the wrong order, or around
 * those of another finding, when the finding was measured for less time than it should be, or when a file cannot be written.
 */
export function publishFinding(record: FindingRecord, page: string, plotsFolder: string): void {
  const { name } = record.finding;
  if (/ --seconds\b/.test(record.command)) {
    throw new Error(
      `${name} was measured with "${record.command}": a page shows rows measured as long as they should be`,
    );
  }
  const text = readFileSync(page, 'utf8');
  const markers = markersOf(text);
  const [from, to] = between(markers, name, basename(page));
  const others = markers.map((marker) => marker.name).filter((other) => other !== name);
  const drawn = drawnCharts(record.finding);
  for (const file of drawn.keys()) {
    const owner = ownerOf(file, [name, ...others]);
    if (owner !== name) throw new Error(`${file} would be a plot of ${name} and of ${owner}: rename the chart`);
  }
  const section = findingMarkdown(record, relative(dirname(page), plotsFolder).split(sep).join('/'));
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const replaced = `${text.slice(0, from)}${eol}${section.replaceAll('\n', eol)}${text.slice(to)}`;
  const names = markers.filter(({ isEnd }) => !isEnd).map((marker) => marker.name);
  const shown = withOverview(replaced, record, names);
  mkdirSync(plotsFolder, { recursive: true });
  const plots = Array.from(drawn, ([file, svg]) => [join(plotsFolder, file), svg] as const);
  // One without the other would show old words beside new plots.
  replaceFiles(new Map([[page, shown], ...plots]));
  for (const file of plotsOf(plotsFolder, name, others)) {
    if (!drawn.has(file)) rmSync(join(plotsFolder, file));
  }
}

/** For who is about to measure for minutes. @throws when a finding of one of these names could not be published there. */
export function checkPage(page: string, names: readonly string[]): void {
  const text = readFileSync(page, 'utf8');
  accessSync(page, constants.W_OK);
  for (const name of names) between(markersOf(text), name, basename(page));
  overviewOf(text);
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

/** Files of this finding: `batch-lua.svg`, but not those of a finding called `batch-lua`. */
function plotsOf(folder: string, name: string, others: readonly string[]): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((file) => ownerOf(file, [name, ...others]) === name);
}

/** The finding with the longest name that a file begins with. */
function ownerOf(file: string, names: readonly string[]): string | undefined {
  const own = names.filter((name) => file === `${name}.svg` || (file.startsWith(`${name}-`) && file.endsWith('.svg')));
  return own.toSorted((a, b) => b.length - a.length)[0];
}
