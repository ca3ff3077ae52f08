import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** An empty folder, removed with all that is in it when the test ends. */
export function temporaryFolder(t: Pick<TestContext, 'after'>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'serpcache-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
