import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Check } from '../operations/doctor/check.ts';
import { createJudge, diagnose } from '../operations/doctor/judge.ts';
import { redacted, textWithoutQuotes } from '../operations/doctor/redact.ts';
import type { Report } from '../operations/doctor/report.ts';
import { projectVersion, UsageError } from './arguments.ts';
import type { Look } from './doctor-look.ts';
import { examinationText } from './doctor-text.ts';
import { printable } from './terminal.ts';

const FOLDER = 'serpcache-doctor';
const BLOCK = 512;

/** @throws UsageError when the file exists: an older bundle may already be in a ticket */
export function checkBundle(file: string): void {
  if (!/\.(tar\.gz|tgz)$/.test(file))
    throw new UsageError(`--bundle takes a name that ends with .tar.gz, not "${file}"`);
  if (existsSync(file)) throw new UsageError(`--bundle: ${file} exists, and is not overwritten`);
}

/**
 * Writes one examination for a ticket. Its report is made again from the redacted snapshots, so that no name of a key comes
 * in through the evidence. The file is whole or not there.
 */
export function writeBundle(file: string, look: Look, checks: readonly Check[]): void {
  const content = bundleOf(look, checks);
  const draft = `${file}.${randomUUID().slice(0, 8)}`;
  try {
    writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true });
    checkBundle(file);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function bundleOf({ report, snapshots = [], acknowledgements }: Look, checks: readonly Check[]): Buffer {
  const shown = redacted(snapshots);
  const judged = diagnose(shown, { acknowledgements, tookMs: report.tookMs, judge: createJudge(checks) });
  const safe: Report = { ...judged, remarks: report.remarks.map(textWithoutQuotes) };
  const seconds = Math.floor(report.atMs / 1000);
  const files = [
    ['README.txt', README.replace('VERSION', projectVersion())],
    ['report.txt', `${printable(examinationText(safe))}\n`],
    ['report.json', `${JSON.stringify(safe, undefined, 2)}\n`],
    ['snapshots.json', `${JSON.stringify(shown, undefined, 1)}\n`],
  ] as const;
  const members = files.flatMap(([name, text]) => member(`${FOLDER}/${name}`, Buffer.from(text), seconds));
  return gzipSync(Buffer.concat([...members, Buffer.alloc(2 * BLOCK)]));
}

/** One file of a ustar archive (POSIX.1-1988): a header block, then the content in whole blocks. */
function member(name: string, content: Buffer, modifiedSeconds: number): readonly Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void =>
    void header.write(value.toString(8).padStart(length - 1, '0'), at, 'latin1');
  header.write(name, 0, 100, 'latin1');
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(modifiedSeconds, 136, 12);
  header.write('0', 156, 'latin1');
  header.write('ustar\0' + '00', 257, 'latin1');
  // The checksum counts its own field as spaces.
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}

const README = `An examination by serpcache doctor, version VERSION.

report.txt      the findings, for reading
report.json     the same for programs
snapshots.json  the figures from which the report was made: four snapshots in their order

Removed, or never collected:
- passwords, tokens and other secrets of configurations, of serpcache and of the servers
- texts of queries, and arguments of commands: the slow log has names of commands only
- names of keys that serpcache did not make: each is key- with 8 digits of its SHA-256, the same name always the same
- arguments of processes, and paths
- quotations of more than 24 characters, and what follows "with args beginning with:", in the words of servers

Kept: addresses and names of hosts, names of domains, indexes and interfaces, addresses and names of client connections,
names and figures of configuration directives, the reasons of acknowledgements.
`;
