import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
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
import { runSection } from '../loadtest/report/section.ts';
import type { ThinnedRun } from '../loadtest/report/thin-run.ts';

const root = join(import.meta.dirname, '..');
const tracked = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: root, exclude: ['**/node_modules', 'data', 'loadtest/results'] })
    .filter((file) => !/(?:^|\/)node_modules\//.test(file))
    .sort();
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const pages = tracked('**/*.md');
/** Its tables are made of committed.json; test/loadtest/bench/committed.test.ts compares them. */
const BENCH = 'loadtest/bench/README.md';
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
  assert.deepEqual(tracked(`**/${RECORDS}/*.json`), all.sort(), 'records without a page');
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
