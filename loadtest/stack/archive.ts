import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A source of packages as the machine declares it. `withSuite` gives its text with another suite. */
interface Source {
  readonly format: 'sources' | 'list';
  readonly uri: string;
  readonly suites: readonly string[];
  readonly withSuite: (suite: string) => string;
}

/**
 * Writes a copy of the machine's own Debian source with the suite of backports under `folder`, beside links to all
 * its other sources.
 * @returns options that make apt-get read that instead, or a sentence saying why it cannot be done.
 */
export function withBackports(folder: string, apt = '/etc/apt', release = '/etc/os-release') {
  const codename = /^VERSION_CODENAME=["']?(\w+)/m.exec(readFileSync(release, 'utf8'))?.[1];
  if (codename === undefined) return `${release} has no VERSION_CODENAME`;
  const parts = join(apt, 'sources.list.d');
  const files = (existsSync(parts) ? readdirSync(parts) : []).filter((file) => /\.(list|sources)$/.test(file)).sort();
  const all = [join(apt, 'sources.list'), ...files.map((file) => join(parts, file))]
    .filter((file) => existsSync(file))
    .flatMap((file) => parseSources(readFileSync(file, 'utf8'), file.endsWith('.sources') ? 'sources' : 'list'));
  const own = all.filter((source) => source.suites.includes(codename));
  const debian = own.find((source) => /\/debian\/?$/.test(source.uri)) ?? own[0];
  if (debian === undefined) return `no source of ${codename} among the machine's apt sources`;

  const copy = join(folder, 'sources.list.d');
  mkdirSync(copy, { recursive: true });
  for (const file of files) symlinkSync(join(parts, file), join(copy, file));
  const suite = `${codename}-backports`;
  writeFileSync(join(copy, `serpcache-backports.${debian.format}`), debian.withSuite(suite));
  const options = ['-o', `Dir::Etc::sourceparts=${copy}`];
  return {
    /** Packages that the release also has still come from the release. */
    options,
    /** Every package that backports have comes from there, new libraries included: only for parts that need it. */
    preferred: [...options, '-o', `APT::Default-Release=${suite}`],
  };
}

/** The version that `apt-cache policy <package>` says would be installed. */
export function candidateIn(policy: string): string | undefined {
  const [, version] = /^ +Candidate: (\S+)/m.exec(policy) ?? [];
  return version === '(none)' ? undefined : version;
}

/** Reads both formats of apt. Only enabled sources of binary packages with the component `main` are returned. */
export function parseSources(text: string, format: Source['format']): Source[] {
  return format === 'sources' ? text.split(/\n[ \t]*\n/).flatMap(parseStanza) : text.split('\n').flatMap(parseLine);
}

function parseStanza(text: string): Source[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const words = (name: string): string[] => {
    const start = lines.findIndex((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    if (start === -1) return [];
    const more = lines.slice(start + 1).findIndex((line) => !/^[ \t]/.test(line));
    const value = lines.slice(start, more === -1 ? undefined : start + 1 + more).join(' ');
    return value
      .slice(name.length + 1)
      .split(/\s+/)
      .filter(Boolean);
  };
  const [uri] = words('URIs');
  if (uri === undefined || !words('Types').includes('deb') || !words('Components').includes('main')) return [];
  if (/^(no|false|0|off|disable)$/i.test(words('Enabled')[0] ?? 'yes')) return [];
  // A list of suites may continue on indented lines, which are dropped too.
  const withSuite = (suite: string): string => {
    let inSuites = false;
    const kept = lines.filter((line) => {
      inSuites = /^suites:/i.test(line) || (inSuites && /^[ \t]/.test(line));
      return !inSuites;
    });
    return `${kept.join('\n')}\nSuites: ${suite}\n`;
  };
  return [{ format: 'sources', uri, suites: words('Suites'), withSuite }];
}

function parseLine(text: string): Source[] {
  const [, head, uri, suite, components] = /^\s*(deb(?:\s+\[[^\]]*\])?)\s+(\S+)\s+(\S+)\s+([^#]*)/.exec(text) ?? [];
  if (head === undefined || uri === undefined || suite === undefined || components === undefined) return [];
  if (!components.split(/\s+/).includes('main')) return [];
  const withSuite = (other: string): string => `${head} ${uri} ${other} ${components.trim()}\n`;
  return [{ format: 'list', uri, suites: [suite], withSuite }];
}
