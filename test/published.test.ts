import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { isBounded } from '../loadtest/labs/kit/claims.ts';
import { type FindingRecord, PLOTS, RECORDS } from '../loadtest/labs/kit/finding.ts';
import { overviewOf, withOverview } from '../loadtest/labs/kit/markdown.ts';
import {
  findingSection,
  parseRecord,
  recordFault,
  type Section,
  sectionsOf,
  withSection,
} from '../loadtest/labs/kit/publish.ts';
import { prose } from '../loadtest/labs/kit/text.ts';
import { runSection } from '../loadtest/report/section.ts';
import type { ThinnedRun } from '../loadtest/report/thin-run.ts';

const root = join(import.meta.dirname, '..');
const tracked = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: root, exclude: ['**/node_modules', 'data', 'loadtest/results'] })
    .filter((file) => !/(?:^|\/)node_modules\//.test(file))
    .sort();
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const pages = tracked('**/*.md');
/** Its tables are made of one record of all benches; test/loadtest/bench/committed.test.ts compares them. */
const BENCH = 'loadtest/bench/README.md';
const BENCH_RECORD = 'loadtest/bench/records/committed.json';
const published = pages.filter((page) => page !== BENCH && sectionsOf(read(page)).length > 0);

interface Published {
  readonly file: string;
  readonly text: string;
  readonly record: FindingRecord | ThinnedRun;
  readonly section: Section;
}

function recordsOf(page: string): readonly Published[] {
  return tracked(join(dirname(page), RECORDS, '*.json')).map((file) => {
    const text = read(file);
    const record = parseRecord(text) as FindingRecord | ThinnedRun;
    return { file, text, record, section: 'run' in record ? runSection(text) : findingSection(text) };
  });
}

test('a page has a section for each record beside it, and a record for each section', () => {
  const all = published.flatMap((page) => recordsOf(page).map(({ file }) => file));
  const known = [...all, BENCH_RECORD].sort();
  assert.deepEqual(tracked(`**/${RECORDS}/*.json`), known, 'records without a page');
  for (const page of published) {
    const own = recordsOf(page);
    const names = own.map(({ section }) => section.name);
    assert.deepEqual(names.toSorted(), [...sectionsOf(read(page))].sort(), page);
    assert.deepEqual(
      names,
      own.map(({ file }) => basename(file, '.json')),
    );
  }
});

for (const page of published) {
  test(`${page}: each section is what its record renders to, byte for byte`, () => {
    const text = read(page);
    for (const { section } of recordsOf(page)) assert.ok(withSection(text, section, page) === text, section.name);
  });

  test(`${page}: no section leaves a claim that decides out`, () => {
    for (const { record, section } of recordsOf(page))
      if ('finding' in record)
        for (const { text } of record.finding.claims.filter(isBounded))
          assert.ok(section.markdown.includes(prose(text)), `${section.name}: ${text}`);
  });

  test(`${page}: the plots are those of its records, byte for byte, and there are no others`, () => {
    const folder = join(root, dirname(page), PLOTS);
    const drawn = new Map(recordsOf(page).flatMap(({ section }) => [...section.plots]));
    assert.deepEqual(existsSync(folder) ? readdirSync(folder).sort() : [], [...drawn.keys()].sort());
    for (const [file, svg] of drawn) assert.ok(readFileSync(join(folder, file), 'utf8') === svg, file);
  });

  test(`${page}: the overview is made of its records`, () => {
    const text = read(page);
    const place = overviewOf(text);
    if (place === undefined) return;
    const empty = `${text.slice(0, text.indexOf('\n', place.from) + 1)}${text.slice(place.to)}`;
    const records = recordsOf(page).map(({ record }) => record as FindingRecord);
    const names = sectionsOf(text);
    assert.equal(
      records.reduce((shown, record) => withOverview(shown, record, names), empty),
      text,
    );
  });
}

const MACHINE = /^\d+ (?:shared )?cores?, \d+ GiB, [A-Z]\w+ \d+\.\d+(?:, \w+)?(?:, [\w+ -]+ \S+)*$/;
/** Addresses that name no machine: loopback, and those that network namespaces and documentation use. */
const ANYBODYS = /^(?:127\.|0\.0\.0\.0|10\.|192\.0\.2\.|198\.(?:18|19|51\.100)\.|203\.0\.113\.)/;

test('a record says command, commit, time and machine, and names no host and no path of the machine', () => {
  for (const { file, text, record } of published.flatMap(recordsOf)) {
    assert.equal(recordFault(text), undefined, file);
    assert.equal(record.version, 'run' in record ? 1 : 2, file);
    assert.match(record.command, /^(?:npm run|node) \S/, file);
    assert.match(record.commit ?? '', /^[0-9a-f]{7,40}(?:-dirty)?$/, file);
    assert.match(record.startedAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/, file);
    assert.match(record.machine, MACHINE, file);
    const addresses = [...text.matchAll(/(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g)].map(([address]) => address);
    assert.deepEqual(
      addresses.filter((address) => !ANYBODYS.test(address)),
      [],
      file,
    );
    const hosts = [...text.matchAll(/https?:\/\/([^\s/:"'\\]+)/g)].map(([, host = '']) => host);
    assert.deepEqual(
      hosts.filter((host) => host !== 'localhost' && !ANYBODYS.test(host)),
      [],
      file,
    );
  }
});

const PICTURES = '.github/pictures';
const MAX_PICTURE_BYTES = 150_000;

/** Width and height of a WebP file, with or without a colour profile. */
function sizeOf(file: string): readonly [number, number] {
  const bytes = readFileSync(join(root, PICTURES, file));
  assert.ok(bytes.length <= MAX_PICTURE_BYTES, `${file} has ${bytes.length} bytes`);
  const format = bytes.toString('latin1', 8, 16);
  if (format === 'WEBPVP8X') return [1 + bytes.readUIntLE(24, 3), 1 + bytes.readUIntLE(27, 3)];
  assert.equal(format, 'WEBPVP8 ', file);
  return [bytes.readUInt16LE(26), bytes.readUInt16LE(28)];
}

test('each picture of README.md is there, light and dark in one size, and small: npm run pictures takes them', () => {
  const names = ['console', 'report', 'search'];
  assert.deepEqual(
    readdirSync(join(root, PICTURES)).sort(),
    names.flatMap((name) => [`${name}-dark.webp`, `${name}-light.webp`]),
  );
  for (const name of names) assert.deepEqual(sizeOf(`${name}-dark.webp`), sizeOf(`${name}-light.webp`), name);
});
