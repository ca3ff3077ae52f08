import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import pino from 'pino';
import { type Audit, type AuditOptions, createAudit, type RecordedEntry } from '../../../src/operations/audit/audit.ts';

export const RETRY_MS = 20;
/** More than most tests write. */
export const UNROTATED = { maxBytes: 2 ** 30, keep: 3 };

interface Harness {
  readonly audit: Audit;
  readonly file: string;
  readonly directory: string;
  readonly lines: Record<string, unknown>[];
  readonly written: () => Record<string, unknown>[];
}

export function createHarness(context: TestContext, options: Partial<AuditOptions> = {}): Harness {
  const directory = mkdtempSync(join(tmpdir(), 'serpcache-audit-'));
  const file = options.file ?? join(directory, 'kept', 'audit.ndjson');
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  let now = 1000;
  const clock = { wallMs: () => (now += 1) };
  const audit = createAudit({ file, log, clock, retryMs: RETRY_MS, ...UNROTATED, ...options });
  context.after(async () => {
    await audit.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const written = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { audit, file, directory, lines, written };
}

export async function newest(audit: Audit, limit: number): Promise<readonly RecordedEntry[]> {
  return (await audit.page({ limit }))?.entries ?? [];
}

export const entry = (action: string) => ({ action, by: 'max from 127.0.0.1', result: 'done' });
