import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../src/commands/arguments.ts';

/** The version stands in package.json. These files repeat it for the programs that read them, and a release rewrites all. */

interface VersionedFile {
  /** Relative to the project. */
  readonly file: string;
  /** Each place of the version in the file; the version itself is the second group. */
  readonly places: readonly RegExp[];
}

/** The file of the package, where it is made and where it is used. */
const PACKAGES = [
  /(data\/package\/serpcache-)(\d+\.\d+\.\d+)(\.tgz)/,
  /(--package \.\/serpcache-)(\d+\.\d+\.\d+)(\.tgz)/,
];

const FILES: readonly VersionedFile[] = [
  { file: 'package.json', places: [/^( {2}"version": ")([^"]+)(")/m] },
  {
    file: 'package-lock.json',
    places: [/^( {2}"version": ")([^"]+)(")/m, /^( {4}"": \{\n {6}"name": "serpcache",\n {6}"version": ")([^"]+)(")/m],
  },
  {
    file: join('deploy', 'helm', 'serpcache', 'Chart.yaml'),
    places: [/^(version: )(\S+)()$/m, /^(appVersion: ")([^"]+)(")$/m],
  },
  { file: 'README.md', places: [/^(Version )(\d+\.\d+\.\d+)(:)/m, ...PACKAGES] },
  { file: 'README.ru.md', places: [/^(Версия )(\d+\.\d+\.\d+)(:)/m, ...PACKAGES] },
];
export const CHANGELOG = 'CHANGELOG.md';

const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const STEPS: readonly string[] = ['major', 'minor', 'patch'];

/**
 * @param wanted `major`, `minor`, `patch`, or a version such as 1.4.0.
 * @throws when it is none of these, or not newer than the current one.
 */
export function nextVersion(current: string, wanted: string): string {
  const now = numbersOf(current);
  if (now === undefined) throw new Error(`package.json has version ${current}, not one such as 1.4.0`);
  const step = STEPS.indexOf(wanted);
  const next =
    step < 0 ? numbersOf(wanted) : now.map((number, at) => (at < step ? number : at === step ? number + 1 : 0));
  if (next === undefined)
    throw new UsageError(`a release is ${STEPS.join(', ')} or a version such as 1.4.0, not "${wanted}"`);
  const at = next.findIndex((number, index) => number !== now[index]);
  if (at < 0 || (next[at] ?? 0) < (now[at] ?? 0)) throw new UsageError(`${wanted} is not newer than ${current}`);
  return next.join('.');
}

function numbersOf(version: string): readonly number[] | undefined {
  return VERSION.exec(version)?.slice(1).map(Number);
}

/** Every version that the project's files state, each with its file. */
export function statedVersions(root: string): readonly { readonly file: string; readonly version: string }[] {
  return FILES.flatMap(({ file, places }) => {
    const text = readFileSync(join(root, file), 'utf8');
    return places.map((place) => ({ file, version: place.exec(text)?.[2] ?? 'none' }));
  });
}

/** The files with another version. @throws when a file has no place for it. */
export function withVersion(
  root: string,
  version: string,
): readonly { readonly file: string; readonly text: string }[] {
  return FILES.map(({ file, places }) => {
    const before = readFileSync(join(root, file), 'utf8');
    const text = places.reduce((changed, place) => {
      if (!place.test(changed)) throw new Error(`${file}: the version is not where it was expected: ${place.source}`);
      return changed.replace(place, (_, head: string, _old: string, tail: string) => `${head}${version}${tail}`);
    }, before);
    return { file, text };
  });
}

interface ReleasedChanges {
  /** The whole file, with an empty section for what comes next. */
  readonly text: string;
  /** The section of the release, without its heading. */
  readonly section: string;
}

/** @throws when nothing stands under [Unreleased], or the version has a section already. */
export function releasedChanges(changelog: string, version: string, date: string): ReleasedChanges {
  const heading = '## [Unreleased]\n';
  const start = changelog.indexOf(heading);
  if (start < 0) throw new Error(`${CHANGELOG} has no section [Unreleased]`);
  if (changelog.includes(`\n## [${version}]`)) throw new Error(`${CHANGELOG} has a section [${version}] already`);
  const from = start + heading.length;
  const next = changelog.indexOf('\n## ', from);
  const end = next < 0 ? changelog.length : next + 1;
  const section = changelog.slice(from, end).trim();
  if (!/^- /m.test(section)) throw new Error(`nothing stands under [Unreleased] of ${CHANGELOG}`);
  const head = `${changelog.slice(0, from)}\n## [${version}] - ${date}\n\n${section}\n`;
  return { text: next < 0 ? head : `${head}\n${changelog.slice(end)}`, section };
}
